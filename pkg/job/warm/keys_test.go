package warm_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
)

func TestKeys(t *testing.T) {
	keys := warm.Keys{Dir: filepath.Join(t.TempDir(), "warm")}
	if got := keys.Recall("cpu-warm-1"); got != nil {
		t.Errorf("got %x", got)
	}
	if err := keys.Remember("cpu-warm-1", []byte(secret)); err != nil {
		t.Fatal(err)
	}
	if got := keys.Recall("cpu-warm-1"); string(got) != secret {
		t.Errorf("got %q", got)
	}
}

// A key stays as long as it is used.
func TestOldKeys(t *testing.T) {
	keys := warm.Keys{Dir: t.TempDir()}
	for _, host := range []string{"cpu-warm-1", "cpu-warm-2"} {
		if err := keys.Remember(host, []byte(secret)); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().AddDate(0, -1, 0)
	for _, host := range []string{"cpu-warm-1", "cpu-warm-2"} {
		if err := os.Chtimes(filepath.Join(keys.Dir, host), old, old); err != nil {
			t.Fatal(err)
		}
	}
	keys.Recall("cpu-warm-1")
	if err := keys.Remember("cpu-warm-3", []byte(secret)); err != nil {
		t.Fatal(err)
	}
	if string(keys.Recall("cpu-warm-1")) != secret || keys.Recall("cpu-warm-2") != nil {
		t.Errorf("got %q and %q", keys.Recall("cpu-warm-1"), keys.Recall("cpu-warm-2"))
	}
}

func TestLastPod(t *testing.T) {
	keys := warm.Keys{Dir: filepath.Join(t.TempDir(), "kinetic", "warm")} // nothing has made it yet
	if got := keys.Last(); got.Pod != "" {
		t.Errorf("got %+v", got)
	}
	for _, pod := range []string{"a", "b"} {
		want := warm.Reached{Server: "https://cluster", Host: api.Handle{JobID: "cpu-warm-1", Namespace: "team", Backend: api.BackendGKE}, Pod: pod, UID: "1"}
		for range 2 {
			err := keys.SetLast(want)
			if diff := cmp.Diff(want, keys.Last()); err != nil || diff != "" {
				t.Errorf("%v, (-want +got):\n%s", err, diff)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(keys.Dir, "last.json"), []byte("{"), 0o600); err != nil || keys.Last().Pod != "" {
		t.Errorf("a broken file has %+v, %v", keys.Last(), err)
	}
}
