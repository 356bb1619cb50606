package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A store may hold what is no job's: directories of other people, and other stores.
// Whatever has no handle is left alone unless its objects show that it is what is
// left of a job.

// checkRemnant holds that a directory without a handle, which somebody has named, is
// what is left of a job: that it has records, or an id that nobody else would think of.
func (j *Job) checkRemnant(ctx context.Context) error {
	objects, err := j.objects(ctx)
	if err != nil {
		return err
	}
	ofJob := func(o store.Object) bool {
		return store.IsTrace(j.ID(), o.Name) || store.IsMadeID(j.ID()) && j.isOutput(o)
	}
	if slices.ContainsFunc(objects, ofJob) {
		return nil
	}
	url := j.Store.URL() + "/" + j.ID()
	return &IDError{fmt.Sprintf("job %s: nothing in %s shows that it is a job's, so it is left alone; if it has to go: %s", j.ID(), url, removal(url))}
}

// removal is the command that removes a directory of a store.
func removal(url string) string {
	if dir, local := strings.CutPrefix(url, store.FileScheme); local {
		return "rm -r " + dir
	}
	return "gcloud storage rm -r " + url
}

// remnant is the entry of a directory without a handle if that is what is left of a
// job, nil if it is not: nobody has named it, so that it needs both a record and an
// id that a program has made.
func (p Place) remnant(ctx context.Context, id string) (*Entry, error) {
	if !store.IsMadeID(id) {
		return nil, nil
	}
	objects, err := p.Store.List(ctx, id+"/")
	if err != nil || !slices.ContainsFunc(objects, func(o store.Object) bool { return store.IsRecord(id, o.Name) }) {
		return nil, err
	}
	return &Entry{ID: id, State: api.NotFound, Store: p.Store.URL(), Status: api.Status{State: api.NotFound}}, nil
}
