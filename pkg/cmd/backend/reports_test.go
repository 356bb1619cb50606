package backend

import (
	"context"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/trust"
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
	for name, read := range map[string]func(remembering) (api.WorkloadStatus, error){
		"status": func(r remembering) (api.WorkloadStatus, error) {
			return r.Status(t.Context(), api.Handle{JobID: "a1"})
		},
		"watch": func(r remembering) (api.WorkloadStatus, error) {
			return r.Watch(t.Context(), api.Handle{JobID: "a1"}, func(api.WorkloadStatus) {})
		},
	} {
		for _, reported := range []*api.Pickle{pickle, nil} {
			r := remembering{reporting{pickle: reported}, trust.Reports{Dir: t.TempDir()}, "gs://b"}
			if s, err := read(r); err != nil || s.State != api.Succeeded {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
			if got, known := r.reports.Recall("gs://b", "a1"); known != (reported != nil) || known && got != *pickle {
				t.Errorf("%s of %v: remembered %+v, %v", name, reported, got, known)
			}
		}
	}
}
