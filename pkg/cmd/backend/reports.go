package backend

import (
	"context"
	"os"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// Reports returns what this machine remembers of the results that pods have reported.
func Reports() verify.Reports {
	return verify.Reports{Dir: cacheDir()}
}

func cacheDir() string {
	return pack.CacheDir(os.Getenv("XDG_CACHE_HOME"), platform.HomeDir(os.Getenv))
}

// resultRecorder is a cluster whose reports of results are remembered, whichever command reads them. What to do about a
// waiting job is said for this cluster.
type resultRecorder struct {
	job.Backend
	reports verify.Reports
	store   string // the URL of the registry's usual store
	kubectl string // the flags of kubectl for the cluster
}

func (r resultRecorder) Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error) {
	s, err := r.Backend.Status(ctx, h)
	return r.remember(h, s), err
}

func (r resultRecorder) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	s, err := r.Backend.Watch(ctx, h, func(s api.WorkloadStatus) { seen(r.remember(h, s)) })
	return r.remember(h, s), err
}

func (r resultRecorder) List(ctx context.Context, level api.ListLevel) ([]api.JobSummary, error) {
	jobs, err := r.Backend.List(ctx, level)
	return r.inThisCluster(jobs), err
}

func (r resultRecorder) Pick(ctx context.Context, choose func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	jobs, err := r.Backend.Pick(ctx, choose)
	return r.inThisCluster(jobs), err
}

func (r resultRecorder) WatchList(ctx context.Context, level api.ListLevel, seen func([]api.JobSummary) error) error {
	return r.Backend.WatchList(ctx, level, func(jobs []api.JobSummary) error { return seen(r.inThisCluster(jobs)) })
}

func (r resultRecorder) inThisCluster(jobs []api.JobSummary) []api.JobSummary {
	if r.kubectl == "" {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i, j := range jobs {
		jobs[i].Status.Next = human.AddToKubectl(j.Status.Next, r.kubectl)
	}
	return jobs
}

func (r resultRecorder) remember(h api.Handle, s api.WorkloadStatus) api.WorkloadStatus {
	if s.Reported != nil {
		r.reports.Remember(r.store, h.JobID, *s.Reported)
	}
	if s.State.Ended() && len(s.Hashes) > 0 {
		r.reports.RememberMap(r.store, h.JobID, s.Hashes)
	}
	s.Next = human.AddToKubectl(s.Next, r.kubectl)
	return s
}
