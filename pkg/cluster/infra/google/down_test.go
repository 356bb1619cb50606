package google

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// everything is what down deletes.
var everything = infra.Wanted{Names: names, Down: true, DeleteData: true}

func (w *world) down(ctx context.Context) error {
	found, err := infra.Read(ctx, w.list)
	if err != nil {
		return err
	}
	return infra.Remove(ctx, w.list, infra.PlanRemoval(w.items, found, false), quiet)
}

// complete returns a project in which `up` has run.
func complete(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	w.AddFirewall("acme", "kn-research", "gke-research-1f3c-all")
	w.AddObject(jobsBucket, "cpu-train/result.json", 10)
	w.ForgetCalls()
	return connect(t, w.Server, everything)
}

// gone fails the test unless nothing is left.
func (w *world) gone(t *testing.T) {
	t.Helper()
	found := w.read(t)
	for _, item := range w.items {
		if found[item.ID].Exists && item.ID.Kind != infra.KindAPIs {
			t.Errorf("%s is still there", item.ID)
		}
	}
	if left := w.Policy("projects/acme").Bindings; len(left) > 0 {
		t.Errorf("the project's policy still has %+v", left[0])
	}
}

// All changes fail after each number of changes, as when the program is killed. The next run deletes
// the rest, also while what was begun is still under way.
func TestDownCanBeKilledAfterEachChange(t *testing.T) {
	whole := complete(t)
	if err := whole.down(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes := len(whole.Changes())
	whole.gone(t)
	for name, finish := range map[string]func(*world){"later": func(w *world) { w.FinishOperations() }, "at once": func(*world) {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var killed tally
			for n := range changes {
				w := complete(t)
				w.Fail(gcptest.Fault{Changes: true, After: n, Times: 1000, Status: http.StatusTeapot})
				if !killed.count(w.down(t.Context())) {
					continue
				}
				w.Recover()
				finish(w)
				next := connect(t, w.Server, everything)
				if err := next.down(t.Context()); err != nil {
					t.Fatalf("after %d changes: %v", n, err)
				}
				next.gone(t)
			}
			killed.check(t)
		})
	}
}

// What the Python package has made has no mark of its own, and its cluster goes first.
func TestDownOfAnAdoptedClusterCanBeKilledAfterEachChange(t *testing.T) {
	adopted := func() *world {
		w := newWorld(t)
		older(w.Server)
		if err := w.up(t.Context(), false, quiet); err != nil {
			t.Fatal(err)
		}
		w.ForgetCalls()
		return connect(t, w.Server, everything)
	}
	whole := adopted()
	if err := whole.down(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes := len(whole.Changes())
	whole.gone(t)
	var killed tally
	for n := range changes {
		w := adopted()
		w.Fail(gcptest.Fault{Changes: true, After: n, Times: 1000, Status: http.StatusTeapot})
		if !killed.count(w.down(t.Context())) {
			continue
		}
		w.Recover()
		next := connect(t, w.Server, everything)
		if err := next.down(t.Context()); err != nil {
			t.Fatalf("after %d changes: %v", n, err)
		}
		next.gone(t)
	}
	killed.check(t)
}

func TestTwoDownAtOnce(t *testing.T) {
	w := complete(t)
	runs := []*world{w, connect(t, w.Server, everything)}
	errs := make([]error, len(runs))
	var both sync.WaitGroup
	for i, run := range runs {
		both.Go(func() { errs[i] = run.down(t.Context()) })
	}
	both.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	w.gone(t)
}

// GKE changes one thing of a cluster at a time.
func TestDownWaitsForWhatGKEDoes(t *testing.T) {
	for _, target := range []string{"projects/acme/locations/us-central1-a/clusters/research", "projects/acme/locations/us-central1-a/clusters/research/nodePools/default-pool"} {
		w := complete(t)
		w.StartContainerOperation("UPGRADE_NODES", target)
		if err := w.down(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.gone(t)
	}
}

func TestDownReportsWhatGoogleCloudCannotDelete(t *testing.T) {
	failed := func(kind, target string, code int, message string) func(*world) {
		return func(w *world) {
			w.FailOperation(gcptest.OperationFault{Kind: kind, Target: target, Error: &gcptest.Error{Code: code, Message: message}})
		}
	}
	missing := http.StatusNotFound
	for name, tt := range map[string]struct {
		fail func(*world)
		what string
	}{
		"an error":                  {failed("DELETE_CLUSTER", "", http.StatusInternalServerError, "Internal error."), "cluster research"},
		"something else is missing": {failed("DELETE_CLUSTER", "", missing, "Not found: the service account."), "cluster research"},
		"the operation is not known": {func(w *world) {
			w.Fail(gcptest.Fault{Path: "/operations/operation-", Status: missing, Message: "Not found: operation."})
		}, "cluster research"},
		"a router":     {failed("delete", "routers/", missing, "Not found: the address."), "router kn-research-router"},
		"a network":    {failed("delete", "networks/kn-research$", missing, "Not found: the route."), "network kn-research"},
		"a repository": {failed("delete", "repositories/", missing, "Not found: the image."), "repository kn-research"},
	} {
		t.Run(name, func(t *testing.T) {
			w := complete(t)
			tt.fail(w)
			if err := w.down(t.Context()); err == nil || !strings.Contains(err.Error(), "deleting "+tt.what+": ") {
				t.Fatalf("got %v", err)
			}
			w.FinishOperations()
			next := connect(t, w.Server, everything)
			if err := next.down(t.Context()); err != nil {
				t.Fatal(err)
			}
			next.gone(t)
		})
	}
}
