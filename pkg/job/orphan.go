package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// A store may also contain directories that are not jobs: other people's, and other
// stores. A directory without a handle is left alone unless its objects show that it was
// a job.

// checkOrphan checks that a directory without a handle, which the user has named, was a
// job: it has records, or outputs and an id that only a program makes, or outputs that a
// runner has saved. deleting says that the user wants to delete it.
func (j *Job) checkOrphan(ctx context.Context, deleting bool) error {
	for o, err := range j.objects(ctx) {
		if err != nil {
			return err
		}
		if store.IsTrace(j.ID(), o.Name) || store.IsMadeID(j.ID()) && j.isOutput(o) || store.IsSync(j.ID(), o.Name) {
			return nil
		}
	}
	url := j.Store.URL() + "/" + j.ID()
	if !deleting {
		return &IDError{msg: fmt.Sprintf("job %s: there is no record of such a job, only other files in %s", j.ID(), url)}
	}
	return &IDError{next: removal(url), msg: fmt.Sprintf("job %s: %s doesn't look like a job, so it was not deleted; to delete it: %s", j.ID(), url, removal(url))}
}

func removal(url string) string {
	if dir, local := strings.CutPrefix(url, store.FileScheme); local {
		return "rm -r " + human.Quote(dir)
	}
	return "gcloud storage rm -r " + human.Quote(url)
}

// RemovalOfOutputs returns the command that removes the outputs of a job whose records
// are gone. Only an id that a program made, or an index, then shows that they belong to a job.
func (j *Job) RemovalOfOutputs(ctx context.Context) string {
	outputs := store.Outputs(j.ID())
	switch {
	case j.Handle.ByPythonTool():
		outputs = store.PythonOutputs(j.ID()) // cleanup does not look for jobs there
	case store.IsMadeID(j.ID()) || j.indexed(ctx):
		return "kubectl kinetic jobs cleanup " + j.ID() + " --outputs" + j.LocationFlags()
	}
	return removal(j.Store.URL() + "/" + strings.TrimSuffix(outputs, "/"))
}

// LeavesOutputs reports whether there are outputs of a job with this ID whose records are gone. A new job with this ID
// would take them for its own, and the index of that job for one that somebody else has written meanwhile.
func (j *Job) LeavesOutputs(ctx context.Context) (bool, error) {
	if _, err := records.Find(ctx, j.Store, store.Handle(j.ID())); !errors.Is(err, store.ErrNotFound) {
		return false, err // the handle can't be read, but it is there
	}
	if indexed, err := store.HasAny(ctx, j.Store, store.SyncDir(j.ID())); indexed || err != nil {
		return indexed, err
	}
	return store.HasAny(ctx, j.Store, store.Outputs(j.ID()))
}

// indexed reports whether the store has an index of the job's outputs, as far as it can be read.
func (j *Job) indexed(ctx context.Context) bool {
	found, _ := store.HasAny(ctx, j.Store, store.SyncDir(j.ID()))
	return found
}

// orphan returns the entry of a directory without a handle; nil if it was not a job, or
// is not wanted. The user has not named it, so it needs an id that a program made, and a
// record or outputs. Its age is that of its newest object, because it has no other times.
func (reg Registry) orphan(ctx context.Context, id string, f Filter) (*api.JobSummary, error) {
	if f.Orphans.IsZero() && !f.Outputs || !store.IsMadeID(id) {
		return nil, nil
	}
	j := reg.Job(api.Handle{JobID: id})
	e := api.JobSummary{ID: id, State: api.NotFound, Store: reg.Store.URL(), Status: api.Status{State: api.NotFound}}
	var record, output bool
	for o, err := range j.objects(ctx) {
		if err != nil {
			return nil, err
		}
		if o.Updated.After(e.Created) {
			e.Created = o.Updated.UTC()
		}
		record = record || store.IsRecord(id, o.Name)
		output = output || j.isOutput(o)
	}
	switch {
	case record:
		if !e.Created.Before(f.Orphans) {
			return nil, nil
		}
	case output && f.Outputs:
		e.Status.Message = "cleaned up; its outputs are kept" // without --outputs
	default:
		return nil, nil
	}
	return &e, nil
}
