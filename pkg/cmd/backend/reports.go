package backend

import (
	"context"
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/homedir"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/pack"
	"github.com/kubectl-kinetic/kinetic/pkg/trust"
)

// Reports returns what this machine remembers of the results that pods have reported.
func Reports() trust.Reports {
	return trust.Reports{Dir: pack.CacheDir(os.Getenv("XDG_CACHE_HOME"), homedir.Dir(os.Getenv))}
}

// remembering is a cluster whose reports of results are remembered, whichever command reads them.
type remembering struct {
	job.Backend
	reports trust.Reports
	store   string // the URL of the registry's usual store
}

// Status implements job.Backend.
func (r remembering) Status(ctx context.Context, h api.Handle) (api.WorkloadStatus, error) {
	s, err := r.Backend.Status(ctx, h)
	return r.remember(h, s), err
}

// Watch implements job.Backend.
func (r remembering) Watch(ctx context.Context, h api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	s, err := r.Backend.Watch(ctx, h, func(s api.WorkloadStatus) { seen(r.remember(h, s)) })
	return r.remember(h, s), err
}

func (r remembering) remember(h api.Handle, s api.WorkloadStatus) api.WorkloadStatus {
	if s.Reported != nil {
		r.reports.Remember(r.store, h.JobID, *s.Reported)
	}
	if s.State.Ended() && len(s.Hashes) > 0 {
		r.reports.RememberMap(r.store, h.JobID, s.Hashes)
	}
	return s
}
