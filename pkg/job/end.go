package job

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Remember records how the job ended unless the store knows, so that it can be
// told when the workload is gone. A runner records that itself, but not one that
// was killed, never started, is the Python package's, or one of the many of a map. A job
// that was cleaned up meanwhile is forgotten.
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
	return j.recordEnd(ctx, api.End{State: s.State, Reason: s.Reason, Message: s.Message, ExitCode: code,
		Attempt: s.Attempt, Started: s.Started, Finished: s.Finished, By: "client"})
}

// recalled is a status with how the job ended, where its workload is gone and the store
// knows.
func (j *Job) recalled(ctx context.Context, s api.Status) api.Status {
	if s.State != api.NotFound {
		return s
	}
	if end, err := j.gone(ctx); err == nil {
		return end
	}
	return s
}

// gone is the status of a job whose workload is gone: how it ended, as far as the store
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
	return s, err
}

// vanished is the end of a job whose workload was there and is gone, without a
// word in the store. One that was cleaned up has no handle either.
func (j *Job) vanished(ctx context.Context, last api.Status) (api.Status, error) {
	_, err := readHandle(ctx, j.Store, j.ID())
	if errors.Is(err, store.ErrNotFound) {
		return api.Status{State: api.NotFound}, nil
	}
	return api.Status{State: api.Failed, Reason: api.Terminated, Message: "its workload was deleted by someone else (kubectl delete?)",
		Attempt: last.Attempt, Started: last.Started, Finished: timeOf(j.Backend, time.Now()).UTC()}, err
}
