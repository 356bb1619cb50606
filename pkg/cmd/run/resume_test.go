package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A job of the cluster has no local one to begin with, nor the other way round: the way is said.
func TestResumeFromAJobElsewhere(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for id, kind := range map[string]api.Backend{"here-1": api.BackendLocal, "there-1": api.BackendGKE} {
		handle, err := json.Marshal(api.Handle{Version: api.HandleVersion, JobID: id, Backend: kind, Namespace: "ml"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(t.Context(), store.Handle(id), strings.NewReader(string(handle)), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		kind     api.Backend
		id, want string
	}{
		{api.BackendGKE, "there-1", "a local job can't resume from a cluster job: copy its outputs with kubectl kinetic jobs outputs there-1 cp DIR -n ml --context dev, and use --output-dir DIR"},
		{api.BackendLocal, "here-1", "that is a local job, whose outputs no pod can read: copy them with gcloud storage rsync -r " + strings.TrimPrefix(s.URL(), store.FileScheme) + "/here-1/outputs gs://BUCKET/PREFIX, and use --output-dir gs://BUCKET/PREFIX"},
		{api.BackendLocal, "here-2", ""},
	} {
		other := job.Registry{Kind: tt.kind, Store: s}
		if tt.kind == api.BackendGKE {
			other.Flags = " --context dev"
		}
		if got := jobElsewhere(t.Context(), other, tt.id); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.kind, tt.id, got, tt.want)
		}
	}
}
