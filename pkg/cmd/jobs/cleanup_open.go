package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// newError says that a job is not in the state in which it was listed. One without a workload is just being submitted: the
// workloads were listed first.
type newError string

func (e newError) Error() string { return string(e) }

// open opens a listed job. The list may lack workloads that the user may not see. So if the workload of a job is to stay, its
// state is read first.
func (o *cleanupOptions) open(ctx context.Context, registry job.Registry, e api.JobSummary) (jobState, error) {
	j, err := registry.Open(ctx, e)
	unknown := e.State == api.NotFound && !e.EndKnown()
	lost := job.Lost(e.Status) // a slow store could not tell the list whether there is a result
	if err != nil || !lost && (e.EndKnown() || o.Workload && !unknown) {
		status := e.Status
		status.State = e.State
		return jobState{j, status, e.Created}, err
	}
	status, err := j.Status(ctx)
	if err == nil && unknown {
		err = checkSubmitted(ctx, j, status)
	}
	if err == nil && lost && !o.filter.WantsState(api.JobSummary{State: status.State, Status: status}) {
		err = newError(fmt.Sprintf("job %s is %s now", e.ID, status.State))
	}
	if errors.As(err, new(newError)) {
		return jobState{}, err
	}
	if err != nil {
		return jobState{}, report.OfJob(e.ID, err)
	}
	return jobState{j, status, e.Created}, nil
}

// checkSubmitted returns a newError if a job that was listed without a workload has one now, or may get one. A call whose warm host is
// gone has failed, and has none.
func checkSubmitted(ctx context.Context, j *job.Job, now api.Status) error {
	if now.State != api.NotFound && (j.Handle.Host == "" || !now.State.Ended()) {
		return newError(fmt.Sprintf("job %s is %s now", j.ID(), now.State))
	}
	handle, err := records.Find(ctx, j.Store, store.Handle(j.ID()))
	if errors.Is(err, store.ErrNotFound) {
		return nil // an orphan, which is listed only if it is old, or its outputs
	}
	if err != nil {
		return err
	}
	written := handle.Updated
	if p := j.Handle.Payload; p != nil { // it is uploaded while the handle is there
		payload, err := records.Find(ctx, j.Store, store.Payload(j.ID()))
		switch limit := submitTime + time.Duration(p.Size/slowestUpload)*time.Second; {
		case err == nil && payload.Updated.After(written):
			written = payload.Updated
		case errors.Is(err, store.ErrNotFound) && j.Store.Now().Sub(written) < limit:
			return newError(fmt.Sprintf("job %s is still uploading its payload", j.ID()))
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	switch m, age := j.Handle.Map, j.Store.Now().Sub(written); {
	case age < submitTime:
		return newError(fmt.Sprintf("job %s was submitted just now", j.ID()))
	case m != nil && age < submitTime+time.Duration(m.Inherited/slowestCopies)*time.Second: // they are copied while the handle is there
		return newError(fmt.Sprintf("job %s may still be taking over values of an older map; if its submit has ended, clean it up by its ID", j.ID()))
	}
	return nil
}
