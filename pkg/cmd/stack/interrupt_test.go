package stack_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// All changes of Google Cloud fail after each number of changes, as when the program is killed. The
// same command deletes the rest, and knows from the profile which cluster is meant.
func TestDownCanBeKilledAfterEachChange(t *testing.T) {
	n := 0
	for ended := false; !ended; n++ {
		w := newWorld(t)
		w.up(t, "--yes").check(t, 0)
		w.AddObject("acme-kn-research-jobs", "cpu-train/result.json", 10)
		t.Setenv("KINETIC_CLUSTER", "")
		t.Setenv("KINETIC_NAMESPACE", "")
		w.Fail(gcptest.Fault{Changes: true, After: n, Times: 1000, Status: http.StatusTeapot})
		killed := w.down(t, "--yes=research", "--delete-data")
		w.Recover()
		if ended = killed.code == 0; !ended {
			w.down(t, "--yes=research", "--delete-data").check(t, 0)
		}
		w.isGone(t)
	}
	if n < 12 { // which is less than the number of changes
		t.Errorf("only %d runs were killed", n-1)
	}
}

// isGone fails the test if something of a cluster is left.
func (w *world) isGone(t *testing.T) {
	t.Helper()
	left := map[string]bool{
		"the cluster":    w.Cluster("acme", zone, "research") != nil,
		"the network":    w.Network("acme", "kn-research") != nil,
		"the router":     w.Router("acme", "us-central1", "kn-research-router") != nil,
		"the repository": w.Repository("projects/acme/locations/us/repositories/kn-research") != nil,
		"a role":         len(w.Policy("projects/acme").Bindings) > 0,
	}
	for _, of := range []string{"jobs", "builds"} {
		left["the bucket of "+of] = w.Bucket("acme-kn-research-"+of) != nil
	}
	for _, of := range []string{"nodes", "jobs", "builds"} {
		left["the account of "+of] = w.HasAccount("kn-research-" + of + "@acme.iam.gserviceaccount.com")
	}
	for what, there := range left {
		if there {
			t.Errorf("%s is still there", what)
		}
	}
	for _, path := range []string{w.profiles, w.kubeconfig} {
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "research") {
			t.Errorf("%s has %s, %v", path, text, err)
		}
	}
}
