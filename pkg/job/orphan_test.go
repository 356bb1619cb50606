package job

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// The command, when it is pasted, removes that directory and no other.
func TestAdviceToRemoveCanBePasted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My Drive", "store")
	s, err := store.OpenFile("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), "datasets/train.csv", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	err = (&Job{Handle: api.Handle{JobID: "datasets"}, Store: s}).checkOrphan(t.Context(), true)
	if want := "to delete it: rm -r '" + dir + "/datasets'"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %q at its end", err, want)
	}
	if got, want := removal("gs://bucket/a b/one-1"), "gcloud storage rm -r 'gs://bucket/a b/one-1'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRemovalOfOutputs(t *testing.T) {
	s := storeWith(t, map[string]string{"two-2/sync/0.json": "{}"})
	dir := strings.TrimPrefix(s.URL(), store.FileScheme)
	const made = "cpu-f-20260101-000000-0a1b2c3"
	for want, h := range map[string]api.Handle{
		"kubectl kinetic jobs cleanup " + made + " --outputs -n ml": {JobID: made, Namespace: "ml"},
		"rm -r " + dir + "/one-1/outputs":                           {JobID: "one-1", Namespace: "ml"},
		"rm -r " + dir + "/outputs/job-1a2b3c4d":                    {JobID: "job-1a2b3c4d", BucketName: "b"},
		"kubectl kinetic jobs cleanup two-2 --outputs -n ml":        {JobID: "two-2", Namespace: "ml"},
	} {
		if got := (&Job{Handle: h, Store: s}).RemovalOfOutputs(t.Context()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
