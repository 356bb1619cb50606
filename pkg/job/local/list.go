package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// List describes all jobs of this machine, newest first. Jobs that cannot be read don't
// hide the others: they are in the error.
func (m *Machine) List(ctx context.Context, _ api.ListLevel) ([]api.JobSummary, error) {
	entries, err := m.folders()
	if err != nil {
		return nil, err
	}
	var jobs []api.JobSummary
	var errs []error
	for _, e := range entries {
		r, err := m.get(ctx, e.Name())
		if r.ID != "" {
			jobs = append(jobs, summaryOf(r))
		}
		if !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			errs = append(errs, err)
		}
	}
	slices.SortFunc(jobs, func(a, b api.JobSummary) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return jobs, errors.Join(errs...)
}

// Pick describes the jobs that choose picks, and reads only those: choose gets their IDs, and ages
// where IDs don't tell, but no states: each takes several files to read.
func (m *Machine) Pick(ctx context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	entries, err := m.folders()
	all := make([]api.JobSummary, len(entries))
	for i, e := range entries {
		all[i].ID = e.Name()
		if info, err := e.Info(); store.TimeOf(e.Name()).IsZero() && err == nil {
			all[i].Created = info.ModTime()
		}
	}
	var picked []api.JobSummary
	for _, e := range choose(all) {
		if r, err := m.get(ctx, e.ID); err == nil {
			picked = append(picked, summaryOf(r))
		}
	}
	return picked, err
}

func summaryOf(r Record) api.JobSummary {
	return api.JobSummary{ID: r.ID, State: r.Status.State, Function: r.Name, Accelerator: r.Accelerator,
		Created: r.Created, Store: r.Store, Status: r.Status}
}

// lookEvery is how often local jobs are polled: the kernel does not notify a process about
// others than its children.
const lookEvery = 200 * time.Millisecond

// WatchList calls seen repeatedly with all jobs, including those that are gone since the
// last call. Jobs that cannot be read don't hide the others, as in List; Config.Warn is
// called once for them.
func (m *Machine) WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error {
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	known, unread := map[string]bool{}, ""
	for first := true; ; first = false {
		jobs, err := m.List(ctx, level)
		switch {
		case err == nil:
			unread = ""
		case ctx.Err() != nil || first && len(jobs) == 0:
			return err
		case err.Error() != unread:
			unread = err.Error()
			if m.config.Warn != nil {
				m.config.Warn(err)
			}
		}
		var gone []api.JobSummary
		gone, known = missing(known, jobs)
		if err := seen(append(jobs, gone...)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}

// missing returns the jobs in known that are not in found, and the set of found jobs.
func missing(known map[string]bool, found []api.JobSummary) (gone []api.JobSummary, now map[string]bool) {
	now = map[string]bool{}
	for _, f := range found {
		now[f.ID] = true
	}
	for id := range known {
		if !now[id] {
			gone = append(gone, api.JobSummary{ID: id, State: api.NotFound, Status: api.Status{State: api.NotFound}})
		}
	}
	return gone, now
}
