package backend

import (
	"context"
	"slices"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
)

// reporting is a cluster whose pods have reported a pickle.
type reporting struct {
	jobtest.Backend
	pickle *api.Pickle
}

func (r reporting) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{Status: api.Status{State: api.Succeeded, Reported: r.pickle}}, nil
}

func (r reporting) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	s, err := r.Status(ctx, h)
	seen(s)
	return s, err
}

// Whichever command reads the status of a job, what its pod reported is remembered.
func TestReportsAreRemembered(t *testing.T) {
	pickle := &api.Pickle{Name: "result.pkl", SHA256: "ab", Size: 1}
	for name, read := range map[string]func(resultRecorder) (api.WorkloadStatus, error){
		"status": func(r resultRecorder) (api.WorkloadStatus, error) {
			return r.Status(t.Context(), api.Handle{JobID: "a1"})
		},
		"watch": func(r resultRecorder) (api.WorkloadStatus, error) {
			return r.Watch(t.Context(), api.Handle{JobID: "a1"}, func(api.WorkloadStatus) {})
		},
	} {
		for _, reported := range []*api.Pickle{pickle, nil} {
			r := resultRecorder{reporting{pickle: reported}, verify.Reports{Dir: t.TempDir()}, "gs://b", ""}
			if s, err := read(r); err != nil || s.State != api.Succeeded {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
			if got, known := r.reports.Recall("gs://b", "a1"); known != (reported != nil) || known && got != *pickle {
				t.Errorf("%s of %v: remembered %+v, %v", name, reported, got, known)
			}
		}
	}
}

// waiting is a cluster with a job that waits.
type waiting struct{ jobtest.Backend }

func (waiting) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{Status: api.Status{State: api.Pending, Next: "kubectl describe pod a1"}}, nil
}

func (w waiting) Watch(ctx context.Context, h api.Handle, _ func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	return w.Status(ctx, h)
}

func (w waiting) List(ctx context.Context, _ api.ListLevel) ([]api.JobSummary, error) {
	s, err := w.Status(ctx, api.Handle{})
	return []api.JobSummary{{ID: "a1", Status: s.Status}}, err
}

func (w waiting) Pick(ctx context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	jobs, err := w.List(ctx, 0)
	return choose(jobs), err
}

func (w waiting) WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error {
	jobs, _ := w.List(ctx, level)
	return seen(jobs)
}

// Whichever command reads the status of a job, what to do about it is said for its cluster.
func TestNextNamesTheContext(t *testing.T) {
	r := resultRecorder{waiting{}, verify.Reports{Dir: t.TempDir()}, "gs://b", " --context=dev"}
	got := map[string]string{}
	s, _ := r.Status(t.Context(), api.Handle{})
	got["status"] = s.Next
	s, _ = r.Watch(t.Context(), api.Handle{}, nil)
	got["watch"] = s.Next
	for name, read := range map[string]func() ([]api.JobSummary, error){
		"list": func() ([]api.JobSummary, error) { return r.List(t.Context(), 0) },
		"pick": func() ([]api.JobSummary, error) { return r.Pick(t.Context(), slices.Clone[[]api.JobSummary]) },
		"watch list": func() ([]api.JobSummary, error) {
			var all []api.JobSummary
			err := r.WatchList(t.Context(), 0, func(jobs []api.JobSummary) error { all = jobs; return nil })
			return all, err
		},
	} {
		jobs, err := read()
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%s: %v, %v", name, jobs, err)
		}
		got[name] = jobs[0].Status.Next
	}
	for name, next := range got {
		if next != "kubectl --context=dev describe pod a1" {
			t.Errorf("%s: %q", name, next)
		}
	}
}
