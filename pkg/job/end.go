package job

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Remember records how the job ended unless that is recorded already, so that it is still
// known when the workload is gone. Runners record it themselves, except for one that was
// killed or never started, and the runners of keras-kinetic and of maps. It records
// nothing about a job that was cleaned up meanwhile.
func (j *Job) Remember(ctx context.Context, s api.Status) error {
	silent := s.State == api.Failed || s.State == api.Succeeded && (j.Handle.ByPythonTool() || j.Handle.Map != nil)
	if !silent {
		return nil
	}
	if _, err := readHandle(ctx, j.Store, j.ID()); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	code := s.Reason.Code()
	if s.ExitCode != nil {
		code = *s.ExitCode
	}
	end := api.End{State: s.State, Reason: s.Reason, Message: s.Message, ExitCode: code,
		Attempt: s.Attempt, Started: s.Started, Finished: s.Finished, By: "client"}
	if stored, err := records.EndOfResult(ctx, j.Store, j.ID()); err == nil {
		end = stored
	}
	err := records.CreateEnd(ctx, j.Store, j.ID(), end)
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// recalled returns s or, if the workload is gone, the status from the store, if that can
// be read.
func (j *Job) recalled(ctx context.Context, s api.Status) api.Status {
	if s.State != api.NotFound {
		return s
	}
	if end, err := j.gone(ctx); err == nil {
		return end
	}
	return s
}

// gone returns the status of a job whose workload is gone: how it ended, if the store
// knows, and whether it was collected.
func (j *Job) gone(ctx context.Context) (api.Status, error) {
	s, err := j.remembered(ctx)
	if err != nil || s.State == api.NotFound {
		return s, err
	}
	succeeded := s.State == api.Succeeded
	s.Ended, s.State = s.Word(), api.NotFound
	if succeeded {
		s.Collected, err = j.Collected(ctx)
	}
	return j.withEnd(s), err
}

// vanished returns the end of a job whose workload has disappeared and whose end is not
// recorded. If its handle is gone too, the job was cleaned up.
func (j *Job) vanished(ctx context.Context, last api.Status) (api.Status, error) {
	_, err := readHandle(ctx, j.Store, j.ID())
	if errors.Is(err, store.ErrNotFound) {
		return api.Status{State: api.NotFound}, nil
	}
	return api.Status{State: api.Failed, Reason: api.Terminated, Message: "its workload was deleted by someone else (kubectl delete?)",
		Attempt: last.Attempt, Started: last.Started, Finished: timeOf(j.Backend, time.Now()).UTC()}, err
}
