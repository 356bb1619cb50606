package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// gone is the message of a job without a workload.
const gone = "it is not on this machine"

func notFound() api.WorkloadStatus {
	return api.WorkloadStatus{Status: api.Status{State: api.NotFound, Message: gone}}
}

// Status returns the job's status now. A job that is not on this machine is NOT_FOUND.
func (m *Machine) Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error) {
	r, err := m.get(ctx, h.JobID)
	if r.ID == "" && errors.Is(err, fs.ErrNotExist) {
		return notFound(), nil
	}
	return api.WorkloadStatus{Status: r.Status}, err
}

// Watch calls seen with the job's status and with each change of it, and returns the last
// status. A job that is not on this machine is NOT_FOUND. After an error of ctx, the job
// continues.
func (m *Machine) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	r, err := m.read(h.JobID)
	if errors.Is(err, fs.ErrNotExist) {
		seen(notFound())
		return notFound(), nil
	}
	if err != nil {
		return api.WorkloadStatus{}, err
	}
	if r.Process.life() == alive {
		s := api.WorkloadStatus{Status: r.running()}
		seen(s)
		if err := waitExit(ctx, r.Process); err != nil {
			return s, fmt.Errorf("waiting for local job %s: %w", r.ID, err)
		}
	}
	now, err := m.status(ctx, r)
	s := api.WorkloadStatus{Status: now}
	if err != nil {
		return s, err
	}
	seen(s)
	if !s.State.Ended() {
		return s, fmt.Errorf("waiting for local job %s: it runs on %s: wait for it there", r.ID, r.Process.Machine)
	}
	return s, nil
}

func (m *Machine) status(ctx context.Context, r Record) (api.Status, error) {
	switch r.Process.life() {
	case alive:
		return r.running(), nil
	case elsewhere:
		return m.statusElsewhere(ctx, r)
	default:
		s, err := m.settle(ctx, r)
		if err != nil {
			err = fmt.Errorf("reading how local job %s ended: %w", r.ID, err)
		}
		return s, err
	}
}

func (m *Machine) statusElsewhere(ctx context.Context, r Record) (api.Status, error) {
	end, err := m.end(ctx, r)
	if errors.Is(err, store.ErrNotFound) {
		s := r.running()
		s.Elsewhere = r.Process.Machine
		s.Message = fmt.Sprintf("it was started on %s: check there whether it still runs", r.Process.Machine)
		return s, nil
	}
	return end.Status(), err
}

// settle cleans up after a job that has ended and returns how it ended. If the runner could
// not record that, the first process that notices does.
func (m *Machine) settle(ctx context.Context, r Record) (api.Status, error) {
	work := filepath.Join(m.dir(r.ID), workDir)
	if _, err := os.Lstat(work); err == nil { // not cleaned up yet
		// Processes that outlive the runner would run unnoticed, which can't happen in a
		// pod.
		if err := r.Process.kill(); err != nil {
			return api.Status{}, err
		}
	}
	end, err := m.end(ctx, r)
	if errors.Is(err, store.ErrNotFound) {
		if _, err := os.Lstat(m.dir(r.ID)); errors.Is(err, fs.ErrNotExist) {
			return api.Status{State: api.NotFound, Message: gone}, nil // deleted meanwhile
		}
		unrecorded := r.newEnd(api.Killed, m.exitMessage(r.ID), "client")
		if end, err = m.record(ctx, r, unrecorded); err != nil && ctx.Err() == nil {
			end, err = unrecorded, nil // as on a full disk, on which the next look finds the same
		}
	}
	if err != nil {
		return api.Status{}, err
	}
	_ = os.RemoveAll(work) // the next reader removes what stays
	return end.Status(), nil
}

func (r Record) running() api.Status {
	return api.Status{State: api.Running, Attempt: 1, Started: r.Created}
}
