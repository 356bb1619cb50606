package jobflags

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Job finds the job that the arguments or the flags name.
func (f *Flags) Job(ctx context.Context, args []string) (*job.Job, error) {
	if len(args) == 1 {
		return f.attach(ctx, args[0])
	}
	jobs, failed, err := f.Matching(ctx, job.Filter{})
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
func (f *Flags) Jobs(ctx context.Context, ids []string) (found []*job.Job, failed []error, err error) {
	switch len(ids) {
	case 0:
		return f.Matching(ctx, job.Filter{})
	case 1:
		return only(f.attach(ctx, ids[0]))
	}
	jobs, errs := make([]*job.Job, len(ids)), make([]error, len(ids))
	var others []string
	var at []int
	for i, id := range ids {
		if jobs[i] = f.localJob(ctx, id); jobs[i] == nil {
			others, at = append(others, id), append(at, i)
		}
	}
	if len(others) > 0 {
		rest, unfound := f.attachEach(ctx, others)
		for k, i := range at {
			jobs[i], errs[i] = rest[k], unfound[k]
		}
	}
	for i, j := range jobs {
		switch {
		case errs[i] != nil:
			failed = append(failed, errs[i])
		case !slices.ContainsFunc(found, func(other *job.Job) bool { return other.ID() == j.ID() }):
			found = append(found, j)
		}
	}
	return found, failed, nil
}

// only returns the result of Several for one job.
func only(j *job.Job, err error) (found []*job.Job, failed []error, _ error) {
	if err != nil {
		return nil, nil, err
	}
	return []*job.Job{j}, nil, nil
}

// attachEach finds jobs in the registry, or in the store if there is no cluster.
func (f *Flags) attachEach(ctx context.Context, ids []string) ([]*job.Job, []error) {
	registry, err := f.Registry()
	if err == nil {
		return registry.AttachEach(ctx, ids)
	}
	jobs, errs := make([]*job.Job, len(ids)), make([]error, len(ids))
	for i, id := range ids {
		if jobs[i] = f.storedJob(ctx, id, err); jobs[i] == nil {
			errs[i] = report.OfJob(id, err)
		}
	}
	return jobs, errs
}

// Finder finds jobs in a registry by words that name them.
type Finder func(registry job.Registry, ctx context.Context, words []string) (found []*job.Job, failed []error)

// JobsToDelete finds jobs that a command ends or removes. find may be one that also finds what is left of a
// job. failed has an error for each job that can't be found, which does not stop the command for
// the others; if there is only one ID, its error is err.
func (f *Flags) JobsToDelete(ctx context.Context, ids []string, find Finder) (found []*job.Job, failed []error, err error) {
	var others []string
	for _, id := range ids {
		if j := f.localJob(ctx, id); j != nil {
			found = append(found, j)
		} else {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return found, nil, nil
	}
	registry, err := f.Registry()
	if err != nil && len(found) == 0 {
		return nil, nil, err
	}
	if err != nil {
		return found, []error{err}, nil
	}
	rest, failed := find(registry, ctx, others)
	if len(ids) == 1 && len(failed) == 1 {
		return nil, nil, unattached(failed[0])
	}
	return append(found, rest...), failed, nil
}

// Matching returns the jobs that the flags and a filter choose, newest first. failed has an error
// for each job that can't be opened. It is an error if no job matches.
func (f *Flags) Matching(ctx context.Context, filter job.Filter) (found []*job.Job, failed []error, err error) {
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
			err = fmt.Errorf("%w of %s%s", err, filter.User, Where(registry))
		}
		return only(j, err)
	}
	entries, unread := registry.Entries(ctx, filter, api.ListStates)
	if len(entries) == 0 && unread != nil {
		return nil, nil, unread
	}
	if len(entries) == 0 {
		return nil, nil, None(filter, registry)
	}
	found, failed = parallel.Collect(job.Parallel, entries, func(e api.JobSummary) (*job.Job, error) { return registry.Open(ctx, e) })
	if unread != nil {
		failed = append(failed, unread)
	}
	return found, failed, nil
}
