package job

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// late is a workload whose clock is three hours behind ours.
type late struct {
	Backend
	since time.Time // of the last request for the log
}

const lateBy = 3 * time.Hour

func (*late) ServerTime(here time.Time) time.Time { return here.Add(-lateBy) }

func (*late) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{Status: api.Status{State: api.Running}}, nil
}

func (l *late) Logs(_ context.Context, _ api.Handle, _ *logs.Archive, o logs.Options, _ display.Streams) error {
	l.since = o.Since
	return nil
}

func TestSinceIsByTheClockOfTheCluster(t *testing.T) {
	since := time.Date(2026, 4, 17, 15, 30, 0, 0, time.UTC)
	for name, tt := range map[string]struct{ since, want time.Time }{
		"given":     {since, since.Add(-lateBy)},
		"not given": {time.Time{}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &late{}
			if err := (&Job{Backend: w}).Logs(t.Context(), logs.Options{Since: tt.since}, display.Both(io.Discard)); err != nil {
				t.Fatal(err)
			}
			if !w.since.Equal(tt.want) {
				t.Errorf("lines since %v, want %v", w.since, tt.want)
			}
		})
	}
}

func TestOldIsByTheClockOfTheCluster(t *testing.T) {
	created := time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)
	p := Registry{Store: storeWith(t, nil), Backend: &late{Backend: lists(func(context.Context, api.ListLevel) ([]api.JobSummary, error) {
		return []api.JobSummary{{Function: "f", ID: "a", Created: created}}, nil
	})}}
	for name, tt := range map[string]struct {
		before time.Time
		want   int
	}{
		"old by our clock alone": {created.Add(2 * time.Hour), 0},
		"old":                    {created.Add(4 * time.Hour), 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := p.Entries(t.Context(), Filter{Before: tt.before}, api.ListStates)
			if err != nil || len(got) != tt.want {
				t.Errorf("%d jobs, %v; want %d", len(got), err, tt.want)
			}
		})
	}
}
