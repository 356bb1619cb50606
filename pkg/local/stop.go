package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Delete ends the job and removes it from this machine; what it left in its store
// stays. The runner gets SIGTERM and the time of grace to save what there is,
// then its whole session SIGKILL; without grace at once. A job that is not here
// is no error, one that runs on another machine is. With an error of ctx the job may continue.
// o.Ending, which may be nil, records the end of a job that was told to end, in place of a
// record that says no more.
func (m *Machine) Delete(ctx context.Context, h api.Handle, o api.DeleteOptions) error {
	r, err := m.read(h.JobID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := m.stop(ctx, r, o.Grace, o.Ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("stopping local job %s: %w", r.ID, err)
	}
	return nil
}

// Inspect knows no more of a job than its status.
func (m *Machine) Inspect(context.Context, api.Handle, bool) (api.WorkloadDetail, error) {
	return api.WorkloadDetail{}, nil
}

// Release does nothing: a job that has ended holds nothing.
func (m *Machine) Release(context.Context, api.Handle, api.End) error { return nil }

// RemoveRunners removes nothing: Start removes the runners of old versions.
func (m *Machine) RemoveRunners(context.Context) ([]string, error) { return nil, nil }

// ServerTime is the same time: jobs run by our clock.
func (m *Machine) ServerTime(here time.Time) time.Time { return here }

func (m *Machine) stop(ctx context.Context, r Record, grace time.Duration, ending func() error) error {
	told, killed := ending, ending
	if ending == nil {
		told = func() error { return nil } // the runner's own record says how it ended
		killed = func() error {
			_, err := m.record(ctx, r, r.newEnd(api.Cancelled, "cancelled", "cancel"))
			return err
		}
	}
	if r.Process.life() == alive {
		if err := halt(ctx, r.Process, grace, told, killed); err != nil {
			return err
		}
	}
	s, err := m.status(ctx, r)
	if err != nil {
		return err
	}
	if !s.State.Ended() {
		return fmt.Errorf("%s: stop it there, or if that machine is gone, delete %s", s.Message, m.dir(r.ID))
	}
	if err := m.remove(r.ID); err != nil && !errors.Is(err, fs.ErrNotExist) { // or another was faster
		return err
	}
	return nil
}

// halt ends a process: within grace by asking it to, then by force. told runs after
// SIGTERM, killed before SIGKILL, so that a watcher does not take the end for a crash,
// and killed also after SIGTERM was enough, for a runner that was too young to know it
// has recorded nothing. Their failure must not keep the job alive.
func halt(ctx context.Context, p Process, grace time.Duration, told, killed func() error) error {
	if grace > 0 {
		if err := terminate(p.PID); err != nil {
			return err
		}
		failure := told()
		waiting, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		err := waitExit(waiting, p)
		if err == nil {
			return errors.Join(failure, killed())
		}
		if ctx.Err() != nil {
			return errors.Join(failure, ctx.Err())
		}
	}
	failure := killed()
	if err := p.kill(); err != nil {
		return errors.Join(failure, err)
	}
	return errors.Join(failure, waitExit(ctx, p))
}
