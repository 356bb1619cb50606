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

// Watch calls seen with the job's status and with each change of it, and returns
// the last. A job that is not on this machine is NOT_FOUND. With an error of ctx
// the job continues.
func (w *Workload) Watch(ctx context.Context, id string, seen func(api.Status)) (api.Status, error) {
	r, err := w.read(id)
	if errors.Is(err, fs.ErrNotExist) {
		s := api.Status{State: api.NotFound, Message: gone}
		seen(s)
		return s, nil
	}
	if err != nil {
		return api.Status{}, err
	}
	if r.Process.life() == alive {
		s := r.running()
		seen(s)
		if err := waitExit(ctx, r.Process); err != nil {
			return s, fmt.Errorf("waiting for local job %s: %w", id, err)
		}
	}
	s, err := w.status(ctx, r)
	if err != nil {
		return s, err
	}
	seen(s)
	if !s.State.Ended() {
		return s, fmt.Errorf("waiting for local job %s: it runs on %s: wait for it there", id, r.Process.Machine)
	}
	return s, nil
}

// status says how the job is now.
func (w *Workload) status(ctx context.Context, r Record) (api.Status, error) {
	switch r.Process.life() {
	case alive:
		return r.running(), nil
	case elsewhere:
		return w.statusElsewhere(ctx, r)
	default:
		s, err := w.settle(ctx, r)
		if err != nil {
			err = fmt.Errorf("reading how local job %s ended: %w", r.ID, err)
		}
		return s, err
	}
}

func (w *Workload) statusElsewhere(ctx context.Context, r Record) (api.Status, error) {
	end, err := w.end(ctx, r)
	if errors.Is(err, store.ErrNotFound) {
		s := r.running()
		s.Elsewhere = r.Process.Machine
		s.Message = fmt.Sprintf("it was started on %s: check there whether it still runs", r.Process.Machine)
		return s, nil
	}
	return end.Status(), err
}

// settle clears up behind a job that has ended and says how. The first to see
// that the runner could not record it does so in its place.
func (w *Workload) settle(ctx context.Context, r Record) (api.Status, error) {
	work := filepath.Join(w.dir(r.ID), workDir)
	if _, err := os.Lstat(work); err == nil { // no one has cleared up yet
		// What outlives its runner would run unseen, as no process of a pod does.
		if err := r.Process.kill(); err != nil {
			return api.Status{}, err
		}
	}
	end, err := w.end(ctx, r)
	if errors.Is(err, store.ErrNotFound) {
		if _, err := os.Lstat(w.dir(r.ID)); errors.Is(err, fs.ErrNotExist) {
			return api.Status{State: api.NotFound, Message: gone}, nil // and cleaned up
		}
		end, err = w.record(ctx, r, r.newEnd(api.Killed, w.obituary(r.ID), "client"))
	}
	if err != nil {
		return api.Status{}, err
	}
	_ = os.RemoveAll(work) // what stays is removed by the next reader
	return end.Status(), nil
}

func (r Record) running() api.Status {
	return api.Status{State: api.Running, Attempt: 1, Started: r.Created}
}
