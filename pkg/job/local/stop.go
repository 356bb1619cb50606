package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Delete ends the job and removes it from this machine, but not from its store. The runner
// gets SIGTERM and o.Grace to save its work, then its whole session gets SIGKILL, at once
// if o.Grace is 0. A missing job is not an error, but a job on another machine is. After an
// error of ctx, the job may continue; after one of storing its log, the job has ended and its
// directory is still there. o.Ending, if not nil, records the end of the job; otherwise the
// record only says that it was cancelled.
func (m *Machine) Delete(ctx context.Context, h api.Handle, o api.DeleteOptions) error {
	r, err := m.read(h.JobID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := m.stop(ctx, r, o); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("stopping local job %s: %w", r.ID, err)
	}
	return nil
}

// Inspect returns nothing: a local job has no details beyond its status.
func (m *Machine) Inspect(context.Context, api.Handle, bool) (api.WorkloadDetail, error) {
	return api.WorkloadDetail{}, nil
}

// Release does nothing: a job that has ended holds nothing.
func (m *Machine) Release(context.Context, api.Handle, api.End) error { return nil }

// RemoveRunners deletes nothing: Start deletes old versions of the runner.
func (m *Machine) RemoveRunners(context.Context) ([]string, error) { return nil, nil }

// ServerTime returns the same time, because local jobs use this machine's clock.
func (m *Machine) ServerTime(here time.Time) time.Time { return here }

func (m *Machine) stop(ctx context.Context, r Record, o api.DeleteOptions) error {
	terminated, killed := o.Ending, o.Ending
	if o.Ending == nil {
		terminated = func() error { return nil } // the runner's own record says how it ended
		killed = func() error {
			_, err := m.record(ctx, r, r.newEnd(api.Cancelled, "cancelled", "cancel"))
			return err
		}
	}
	switch r.Process.life() {
	case alive:
		if err := halt(ctx, r.Process, o.Grace, terminated, killed); err != nil {
			return err
		}
	case ended: // since the caller looked
		if err := terminated(); err != nil {
			return err
		}
	}
	m.unlink(r) // it may have been killed before boot.py could see to that
	s, err := m.status(ctx, r)
	if err != nil {
		return err
	}
	if !s.State.Ended() {
		return fmt.Errorf("%s: stop it there, or if that machine is gone, delete %s", s.Message, m.dir(r.ID))
	}
	if o.KeepLog {
		path := filepath.Join(m.dir(r.ID), logFile)
		if err := m.storeLog(ctx, r, path); err != nil {
			return fmt.Errorf("it has ended, but the rest of its log could not be stored, and is only in %s: %w", path, err)
		}
	}
	if err := m.remove(r.ID); err != nil && !errors.Is(err, fs.ErrNotExist) { // or another process was faster
		return err
	}
	return nil
}

// halt ends a process: with SIGTERM within grace, then by force. It calls terminated after
// SIGTERM and killed before SIGKILL, so that a watcher does not take the end for a crash.
// It also calls killed if SIGTERM was enough, because a runner that has only just started
// records nothing. The process is ended even if these calls fail.
func halt(ctx context.Context, p Process, grace time.Duration, terminated, killed func() error) error {
	if grace > 0 {
		if err := terminate(p.PID); err != nil {
			return err
		}
		failure := terminated()
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
