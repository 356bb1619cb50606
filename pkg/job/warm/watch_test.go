package warm_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// staged is a backend whose workload is in one state after the other, each for a minute.
type staged struct {
	jobtest.Backend
	stages []api.Status
}

func (b staged) Watch(ctx context.Context, _ api.Handle, seen func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	for _, s := range b.stages {
		seen(api.WorkloadStatus{Status: s})
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
	}
	<-ctx.Done()
	return api.WorkloadStatus{}, ctx.Err()
}

// A call that is watched runs once its turn has come, and not already when its host runs. Each state is told once.
func TestWatchOfACallThatWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		host []api.Status
		want string
	}{
		"for the call of another": {[]api.Status{{State: api.Running}}, "PENDING it waits for its turn; RUNNING; SUCCEEDED"},
		"for its own host": {[]api.Status{{State: api.Pending, Message: "pulling the image"}, {State: api.Running}},
			"PENDING pulling the image; RUNNING; SUCCEEDED"},
	} {
		t.Run(name, func(t *testing.T) {
			b, s, h := backend(t, jobtest.Backend{})
			b.Backend = staged{stages: tt.host}
			attempt := store.Attempts(h.JobID) + "1.json"
			if err := s.Delete(t.Context(), attempt); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				time.AfterFunc(5*time.Minute, func() { put(t, s, attempt, struct{}{}) })
				time.AfterFunc(6*time.Minute, func() {
					if err := records.CreateEnd(t.Context(), s, h.JobID, api.End{Version: api.EndVersion, State: api.Succeeded, Reason: api.Completed}); err != nil {
						t.Error(err)
					}
				})
				var seen []string
				got, err := b.Watch(t.Context(), h, func(now api.WorkloadStatus) {
					message, _, _ := strings.Cut(now.Message, " on warm host")
					seen = append(seen, strings.TrimSpace(string(now.State)+" "+message))
				})
				if err != nil || got.State != api.Succeeded || strings.Join(seen, "; ") != tt.want {
					t.Errorf("got %s after %q, %v", got.State, seen, err)
				}
			})
		})
	}
}
