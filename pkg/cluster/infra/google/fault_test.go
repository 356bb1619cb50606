package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// whole returns a world after a whole run.
func whole(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	return w
}

// All changes fail after each number of changes, as when the program is killed. The next run
// completes it.
func TestUpCanBeKilledAfterEachChange(t *testing.T) {
	var killed tally
	for n := range whole(t).Changes() {
		w := newWorld(t)
		w.Fail(gcptest.Fault{Changes: true, After: n, Times: 1000, Status: http.StatusTeapot})
		if !killed.count(w.up(t.Context(), false, quiet)) {
			continue
		}
		w.Recover()
		w.FinishOperations()
		next := w.again(t)
		if err := next.up(t.Context(), false, quiet); err != nil {
			t.Fatalf("after %d changes: %v", n, err)
		}
		next.complete(t)
	}
	killed.check(t)
}

// tally counts the runs that were killed. The number of changes varies, so that some of the last ones are
// not.
type tally struct{ runs, killed int }

// count reports whether a run with this error was killed.
func (t *tally) count(err error) bool {
	t.runs++
	if err != nil {
		t.killed++
	}
	return err != nil
}

// check fails the test unless most runs were killed.
func (t *tally) check(test *testing.T) {
	test.Helper()
	if t.killed*10 < t.runs*9 {
		test.Errorf("only %d of %d runs were killed", t.killed, t.runs)
	}
}

// The same while operations are still under way.
func TestUpWaitsForWhatAnEarlierRunHasBegun(t *testing.T) {
	var killed tally
	for n := range whole(t).Changes() {
		w := newWorld(t)
		ctx, kill := context.WithCancel(t.Context())
		w.Fail(gcptest.Fault{Changes: true, After: n, Times: 1000, Status: http.StatusTeapot})
		err := w.up(ctx, false, quiet)
		kill()
		if !killed.count(err) {
			continue
		}
		w.Recover()
		next := w.again(t)
		if err := next.up(t.Context(), false, quiet); err != nil {
			t.Fatalf("after %d changes: %v", n, err)
		}
		next.complete(t)
	}
	killed.check(t)
}

// Each request fails once, in each of these ways.
func TestUpSurvivesFaults(t *testing.T) {
	all := whole(t).Calls()
	for name, fault := range map[string]gcptest.Fault{
		"429": {Status: http.StatusTooManyRequests}, "503": {Status: http.StatusServiceUnavailable}, "reset": {Reset: true}, "answer lost": {Lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			seen := map[string]bool{}
			for _, call := range all {
				if key := call.Method + call.Path; !seen[key] {
					seen[key] = true
					fault.Method, fault.Path = call.Method, "^"+regexp.QuoteMeta(call.Service+"/"+call.Path)+"$"
					w.Fail(fault)
				}
			}
			if err := w.up(t.Context(), false, quiet); err != nil {
				t.Fatal(err)
			}
			w.again(t).complete(t)
		})
	}
}

func TestFailedOperationIsReportedAndRepeated(t *testing.T) {
	for name, tt := range map[string]struct{ kind, target, want string }{
		"network":    {"insert", "networks/kn-research$", "creating network kn-research: "},
		"router":     {"insert", "routers/", "creating router kn-research-router: "},
		"NAT":        {"patch", "routers/", "creating NAT kn-research-nat: "},
		"repository": {"create", "repositories/", "creating repository kn-research: "},
		"APIs":       {"enable", "", "enabling the APIs of project acme: "},
		"node pool":  {"CREATE_NODE_POOL", "", "creating node pool "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.FailOperation(gcptest.OperationFault{Kind: tt.kind, Target: tt.target, Error: &gcptest.Error{Code: http.StatusInternalServerError, Message: "Internal error."}})
			err := w.up(t.Context(), false, quiet)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "Internal error") {
				t.Fatalf("got %v, want %s…", err, tt.want)
			}
			if name == "node pool" { // GKE keeps it, broken
				return
			}
			next := w.again(t)
			if err := next.up(t.Context(), false, quiet); err != nil {
				t.Fatal(err)
			}
			next.complete(t)
		})
	}
}

// What someone else creates after the plan was made is not ours.
func TestClusterOfSomeoneElseIsNotTaken(t *testing.T) {
	for name, labels := range map[string]map[string]string{"someone's": nil, "Python's": {"kinetic": "true", "goog-packaged-solution": "kinetic"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			err := w.up(t.Context(), false, func(e infra.Event) {
				if e.ID.Kind == infra.KindCluster && !e.Done {
					w.AddCluster("acme", zone, &container.Cluster{Name: "research", ResourceLabels: labels})
				}
			})
			if err == nil || !strings.Contains(err.Error(), "meanwhile, someone else created cluster research in us-central1-a") {
				t.Errorf("got %v", err)
			}
			if got := w.Cluster("acme", zone, "research").ResourceLabels["kubectl-kinetic"]; got != "" {
				t.Errorf("the label is %s", got)
			}
		})
	}
}

// A change of labels names those that it is based on, so it is not the same a second time.
func TestLabelsAreRepeated(t *testing.T) {
	for name, fault := range map[string]gcptest.Fault{
		"answer lost":                {Lost: true},
		"refused, as they changed":   {Status: http.StatusPreconditionFailed},
		"refused as a wrong request": {Status: http.StatusBadRequest, Message: "Labels could not be set due to fingerprint mismatch."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			older(w.Server)
			fault.Method, fault.Path = http.MethodPost, ":setResourceLabels$"
			w.Fail(fault)
			if err := w.up(t.Context(), false, quiet); err != nil {
				t.Fatal(err)
			}
			if got := w.Cluster("acme", zone, "research").ResourceLabels["kubectl-kinetic"]; got != "research" {
				t.Errorf("the label is %q", got)
			}
		})
	}
}

// A cluster that could not be created stays, in error. It must go first.
func TestClusterInError(t *testing.T) {
	w := newWorld(t)
	w.FailOperation(gcptest.OperationFault{Kind: "CREATE_CLUSTER", Error: &gcptest.Error{Code: http.StatusInternalServerError, Message: "All cluster resources were brought up, but: only 0 nodes out of 1 have registered."}})
	if err := w.up(t.Context(), false, quiet); err == nil || !strings.Contains(err.Error(), "only 0 nodes out of 1") {
		t.Fatalf("got %v", err)
	}
	next := w.again(t)
	next.read(t)
	err := next.cluster.Usable()
	if err == nil || !strings.Contains(err.Error(), "its status is ERROR") || !strings.Contains(err.Error(), "kubectl kinetic down") {
		t.Errorf("got %v", err)
	}
}

func TestQuota(t *testing.T) {
	w := newWorld(t)
	w.FailOperation(gcptest.OperationFault{Kind: "CREATE_CLUSTER", Error: gcptest.LimitError(gcp.Quota{Metric: "CPUS", Limit: "2", Region: "us-central1"})})
	err := w.up(t.Context(), false, quiet)
	if err == nil || !strings.Contains(err.Error(), "the quota CPUS in us-central1 is exceeded, its limit is 2") || !strings.Contains(err.Error(), "https://console.cloud.google.com/iam-admin/quotas") {
		t.Errorf("got %v", err)
	}
}

func TestTwoUpAtOnce(t *testing.T) {
	w := newWorld(t)
	runs := []*world{w, w.again(t)}
	errs := make([]error, len(runs))
	var both sync.WaitGroup
	for i, run := range runs {
		both.Go(func() { errs[i] = run.up(t.Context(), false, quiet) })
	}
	both.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	w.again(t).complete(t)
}

// The other one has enabled the APIs: a service that doesn't know it yet is asked again.
func TestAPIsThatAnotherRunHasEnabled(t *testing.T) {
	w := newWorld(t)
	w.SetLag(2, gcptest.NewAPI)
	missing := infra.State{Exists: true, Missing: APIs()}
	if err := (apis{w.project, infra.ID{Kind: infra.KindAPIs}}).Ensure(t.Context(), missing); err != nil {
		t.Fatal(err)
	}
	next, told := w.again(t), &waiting{}
	next.project.Progress = told.tell
	repository := next.project.Actor(infra.ID{Kind: infra.KindRepository, Name: "kn-research"}, next.cluster, nil)
	if _, err := repository.Get(t.Context()); err != nil || !strings.HasSuffix(told.String(), ": waiting until Google Cloud knows that the API is enabled") {
		t.Errorf("got %v, told %q", err, told)
	}
	if err := next.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	next.complete(t)
}

func TestCredentialsExpireHalfway(t *testing.T) {
	w := newWorld(t)
	err := w.up(t.Context(), false, func(e infra.Event) {
		if e.ID.Kind == infra.KindNetwork && e.Done {
			w.Expire()
		}
	})
	var explained *transport.Explained
	if !errors.As(err, &explained) || explained.Of != api.KindForbidden || !strings.HasPrefix(explained.Do, "correct or unset GOOGLE_APPLICATION_CREDENTIALS, ") {
		t.Fatalf("got %v", err)
	}
	w.Renew()
	next := w.again(t)
	if err := next.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	next.complete(t)
}

// What doesn't need the permission is done.
func TestPermissionDenied(t *testing.T) {
	for permission, role := range map[string]string{
		"compute.networks.create":               "roles/compute.networkAdmin",
		"iam.serviceAccounts.create":            "roles/iam.serviceAccountAdmin",
		"resourcemanager.projects.setIamPolicy": "roles/resourcemanager.projectIamAdmin",
		"storage.buckets.create":                "roles/storage.admin",
		"container.clusters.create":             "roles/container.admin",
		"serviceusage.services.enable":          "roles/serviceusage.serviceUsageAdmin",
	} {
		t.Run(permission, func(t *testing.T) {
			w := newWorld(t)
			w.Deny(permission)
			err := w.up(t.Context(), false, quiet)
			if err == nil || !strings.Contains(err.Error(), "needs the permission "+permission) || !strings.Contains(err.Error(), "--role="+role) {
				t.Fatalf("got %v", err)
			}
			if done := w.Repository("projects/acme/locations/us/repositories/kn-research") != nil; done == (permission == "serviceusage.services.enable") {
				t.Errorf("the repository was created: %v", done)
			}
			w.Allow(permission)
			next := w.again(t)
			if err := next.up(t.Context(), false, quiet); err != nil {
				t.Fatal(err)
			}
			next.complete(t)
		})
	}
}

func TestInterruptedOperationIsNamed(t *testing.T) {
	w := newWorld(t)
	w.FailOperation(gcptest.OperationFault{Kind: "CREATE_CLUSTER"}) // hangs
	ctx, interrupt := context.WithCancel(t.Context())
	var once sync.Once
	w.project.Progress = func(id infra.ID, _ string) {
		if id.Kind == infra.KindCluster {
			once.Do(interrupt)
		}
	}
	err := w.up(ctx, false, quiet)
	var unfinished *gcp.UnfinishedError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &unfinished) || !strings.Contains(fmt.Sprint(err), "gcloud container operations describe") {
		t.Errorf("got %v", err)
	}
}

func TestBilling(t *testing.T) {
	w := newWorld(t)
	if err := w.project.CheckBilling(t.Context()); err != nil {
		t.Errorf("although the API is not enabled: %v", err)
	}
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["cloudbilling.googleapis.com"], p.Billing = true, false })
	err := w.project.CheckBilling(t.Context())
	if err == nil || !strings.Contains(err.Error(), "gcloud billing projects link acme") {
		t.Errorf("got %v", err)
	}
}
