package local

import (
	"context"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// List describes all jobs of this machine, newest first. Jobs that cannot be read don't
// hide the others: they are in the error.
func (m *Machine) List(ctx context.Context, _ api.ListLevel) ([]api.JobSummary, error) {
	records, err := m.records(ctx)
	jobs := make([]api.JobSummary, 0, len(records))
	for _, r := range records {
		jobs = append(jobs, summaryOf(r))
	}
	return jobs, err
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
		if err := seen(append(jobs, missing(known, jobs)...)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}

// missing returns the jobs in known that are not in found, and makes known the set of found
// jobs.
func missing(known map[string]bool, found []api.JobSummary) []api.JobSummary {
	now := map[string]bool{}
	for _, f := range found {
		now[f.ID] = true
	}
	var gone []api.JobSummary
	for id := range known {
		if !now[id] {
			gone = append(gone, api.JobSummary{ID: id, State: api.NotFound, Status: api.Status{State: api.NotFound}})
		}
	}
	clear(known)
	for id := range now {
		known[id] = true
	}
	return gone
}
