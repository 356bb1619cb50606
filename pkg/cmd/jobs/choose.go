package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Job finds the job that the arguments or the flags name.
func (f *jobFlags) Job(ctx context.Context, args []string) (*job.Job, error) {
	jobs, failed, err := f.Jobs(ctx, args)
	switch {
	case err != nil:
		return nil, err
	case len(failed) > 0:
		return nil, errors.Join(failed...)
	case len(jobs) == 1:
		return jobs[0], nil
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.ID())
	}
	return nil, &cli.Error{Code: cli.ExitUsage, Kind: api.KindAmbiguous, Next: "name one by its ID",
		Err: fmt.Errorf("%d jobs match, but this command takes one: %s", len(jobs), strings.Join(ids, ", "))}
}

// Jobs finds the jobs that the arguments or the flags name. failed has an error for each job
// that can't be found; if there is only one ID, its error is err.
func (f *jobFlags) Jobs(ctx context.Context, ids []string) (found []*job.Job, failed []error, err error) {
	if len(ids) == 0 {
		return f.Matching(ctx, job.Filter{})
	}
	return f.find(ctx, ids, job.FindOptions{})
}

// JobsToDelete finds jobs that a command ends or removes, and what is left of jobs. failed has an error for each job
// that can't be found, which does not stop the command for the others; if there is only one ID, its error is err.
func (f *jobFlags) JobsToDelete(ctx context.Context, ids []string, o job.FindOptions) (found []*job.Job, failed []error, err error) {
	o.Remains = true
	return f.find(ctx, ids, o)
}

// find finds the local jobs among IDs, and the others in the cluster. A job that several IDs name is found once.
func (f *jobFlags) find(ctx context.Context, ids []string, o job.FindOptions) (found []*job.Job, failed []error, err error) {
	jobs, errs := f.localJobs(ctx, ids), make([]error, len(ids))
	var others []string
	var at []int
	for i, id := range ids {
		if jobs[i] == nil {
			others, at = append(others, id), append(at, i)
		}
	}
	if len(others) > 0 {
		rest, unfound, err := f.findOthers(ctx, others, o)
		if err != nil && len(others) == len(ids) {
			return nil, nil, err
		}
		for k, i := range at {
			if err != nil {
				errs[i] = report.OfJob(ids[i], err)
			} else {
				jobs[i], errs[i] = rest[k], unfound[k]
			}
		}
	}
	for i, j := range jobs {
		switch {
		case errs[i] != nil:
			failed = append(failed, errs[i])
		case j != nil && !slices.ContainsFunc(found, func(other *job.Job) bool { return other.ID() == j.ID() }):
			found = append(found, j)
		}
	}
	if len(ids) == 1 && len(failed) == 1 {
		return nil, nil, notFound(failed[0])
	}
	return found, failed, nil
}

// findOthers returns a job or an error for each ID of a job that is not local. Without a cluster, it finds only jobs that
// have ended, and none for a command that ends or removes jobs.
func (f *jobFlags) findOthers(ctx context.Context, ids []string, o job.FindOptions) ([]*job.Job, []error, error) {
	registry, err := f.Registry()
	switch {
	case err == nil:
		jobs, errs := registry.Find(ctx, ids, o)
		return jobs, errs, nil
	case o.Remains:
		return nil, nil, err
	}
	return f.storedJobs(ctx, ids, err)
}

// storedJobs finds jobs that have ended in the store, which takes no cluster but whole IDs. why is the reason that there is no
// cluster; it is the error if the store has none of the jobs.
func (f *jobFlags) storedJobs(ctx context.Context, ids []string, why error) ([]*job.Job, []error, error) {
	if f.Local {
		return nil, nil, why
	}
	registry, err := backend.StoredRegistry(f.Connection, why)
	if err != nil {
		return nil, nil, why
	}
	jobs, errs := make([]*job.Job, len(ids)), make([]error, len(ids))
	for i, id := range ids {
		errs[i] = report.OfJob(id, why)
		if j := registry.ByID(ctx, id); j != nil {
			if _, ended := j.Ended(ctx); ended {
				jobs[i], errs[i] = j, nil
			}
		}
	}
	if !slices.Contains(errs, nil) {
		return nil, nil, why
	}
	return jobs, errs, nil
}

// Matching returns the jobs that the flags and a filter choose, newest first. failed has an error
// for each job that can't be opened. It is an error if no job matches.
func (f *jobFlags) Matching(ctx context.Context, filter job.Filter) (found []*job.Job, failed []error, err error) {
	if err := f.ApplyTo(&filter); err != nil {
		return nil, nil, err
	}
	registry, err := f.Registry()
	if err != nil {
		return nil, nil, err
	}
	filter.Store = f.StoreOf(registry)
	if f.Last {
		j, err := registry.Newest(ctx, filter)
		if errors.Is(err, job.ErrNoJob) {
			err = fmt.Errorf("%w of %s%s", err, filter.User, inPlace(registry))
		}
		if err != nil {
			return nil, nil, err
		}
		return []*job.Job{j}, nil, nil
	}
	entries, unread := registry.Entries(ctx, filter, api.ListStates)
	if len(entries) == 0 && unread != nil {
		return nil, nil, unread
	}
	if len(entries) == 0 {
		return nil, nil, noJobs(filter, registry)
	}
	found, failed = parallel.Collect(job.Parallel, entries, func(e api.JobSummary) (*job.Job, error) { return registry.Open(ctx, e) })
	if unread != nil {
		failed = append(failed, unread)
	}
	return found, failed, nil
}
