package job

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// steps is a backend whose job goes through some states.
type steps []api.Status

func (steps) Pick(context.Context, func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	return nil, nil
}

func (s steps) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	if len(s) == 0 {
		return api.WorkloadStatus{Status: api.Status{State: api.NotFound}}, nil
	}
	return api.WorkloadStatus{Status: s[0]}, nil
}

func (s steps) Watch(_ context.Context, _ api.Handle, seen func(api.WorkloadStatus)) (last api.WorkloadStatus, err error) {
	for _, now := range s {
		last = api.WorkloadStatus{Status: now}
		seen(last)
	}
	return last, nil
}

// thereNow is what the clock of a backend in steps shows.
var thereNow = time.Date(2026, 4, 17, 15, 30, 0, 0, time.UTC)

func (steps) ServerTime(time.Time) time.Time { return thereNow }

func (steps) List(context.Context, api.ListLevel) ([]api.JobSummary, error) { return nil, nil }

func (steps) WatchList(context.Context, api.ListLevel, func([]api.JobSummary) error) error {
	return nil
}

func (steps) Inspect(context.Context, api.Handle, bool) (api.WorkloadDetail, error) {
	return api.WorkloadDetail{}, nil
}

func (steps) Logs(context.Context, api.Handle, *logs.Archive, logs.Options, display.Streams) error {
	return nil
}

func (steps) Delete(context.Context, api.Handle, api.DeleteOptions) error { return nil }

func (steps) Release(context.Context, api.Handle, api.End) error { return nil }

func (steps) PartLog(context.Context, api.Handle, string, logs.Options, io.Writer) error {
	return fs.ErrNotExist
}
func (steps) RemoveRunners(context.Context) ([]string, error) { return nil, nil }

// inPods is a backend whose job runs in some pods.
type inPods struct {
	steps
	statuses []api.WorkloadStatus
}

func (p inPods) Watch(_ context.Context, _ api.Handle, seen func(api.WorkloadStatus)) (last api.WorkloadStatus, err error) {
	for _, last = range p.statuses {
		seen(last)
	}
	return last, nil
}

// lister is a backend that lists jobs, by our clock.
type lister struct {
	steps
	list  func(context.Context, api.ListLevel) ([]api.JobSummary, error)
	watch func(context.Context, api.ListLevel, func([]api.JobSummary) error) error
}

func (l lister) List(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error) {
	found, err := l.list(ctx, level)
	return slices.Clone(found), err
}

func (l lister) Pick(ctx context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	all, err := l.list(ctx, api.ListStates)
	return choose(all), err
}

func (l lister) WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error {
	return l.watch(ctx, level, seen)
}

func (lister) ServerTime(here time.Time) time.Time { return here }

func lists(list func(context.Context, api.ListLevel) ([]api.JobSummary, error)) lister {
	return lister{list: list}
}

func watches(watch func(context.Context, api.ListLevel, func([]api.JobSummary) error) error) lister {
	return lister{watch: watch}
}
