package stack_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// All changes of the cluster fail after each number of changes, as when the program is killed. The same command
// creates the rest, with the context and the profile. Changes of Google Cloud: pkg/cluster/infra/google.
func TestUpCanBeKilledAfterEachChangeOfTheCluster(t *testing.T) {
	n := 0
	for ended := false; !ended; n++ {
		w := newWorld(t)
		var count atomic.Int64
		w.kubernetes.Before(func(method, _ string) (int, string) {
			if method != http.MethodGet && count.Add(1) > int64(n) {
				return http.StatusTeapot, "killed"
			}
			return 0, ""
		})
		ended = w.up(t, "--yes", "--accelerator", "v6e-8").code == 0
		w.kubernetes.Before(nil)
		if !ended {
			w.up(t, "--yes", "--accelerator", "v6e-8").check(t, 0, "ready")
		}
		w.isReady(t)
	}
	if n < 3 {
		t.Errorf("only %d runs were killed", n-1)
	}
}

// isReady fails the test unless up has nothing left to do, and the files are there.
func (w *world) isReady(t *testing.T) {
	t.Helper()
	w.up(t, "--dry-run", "--accelerator", "v6e-8").check(t, 0, ": 0 to create, ")
	for path, want := range map[string]string{w.kubeconfig: "gke_acme_us-central1-a_research", w.profiles: `"current": "research"`} {
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s, %v", want, text, err)
		}
	}
}

// Each request fails once, in each of these ways.
func TestDownAndStatusSurviveFaults(t *testing.T) {
	for name, run := range map[string]func(*world) result{
		"down":   func(w *world) result { return w.down(t, "--yes=research", "--delete-data") },
		"status": func(w *world) result { return w.status(t) },
	} {
		whole := ready(t)
		whole.ForgetCalls()
		want := run(whole)
		want.check(t, 0)
		calls := whole.Calls()
		if len(calls) == 0 {
			t.Fatalf("%s makes no request", name)
		}
		for how, fault := range map[string]gcptest.Fault{"429": {Status: http.StatusTooManyRequests}, "503": {Status: http.StatusServiceUnavailable}, "reset": {Reset: true}} {
			t.Run(name+" "+how, func(t *testing.T) {
				w := ready(t)
				times := map[string]int{}
				for _, call := range calls {
					if _, seen := times[call.String()]; !seen {
						times[call.String()] = 0
						fault.Method, fault.Path = call.Method, "^"+regexp.QuoteMeta(call.Service+"/"+call.Path)+"$"
						w.Fail(fault)
					}
				}
				w.ForgetCalls()
				got := run(w)
				got.check(t, 0)
				for _, call := range w.Calls() {
					times[call.String()]++
				}
				for call, n := range times {
					if n < 2 {
						t.Errorf("%s was made %d times, so it did not fail", call, n)
					}
				}
				if got.out != want.out {
					t.Errorf("got:\n%s\nwant:\n%s", got.out, want.out)
				}
				if name == "down" {
					w.isGone(t)
				}
			})
		}
	}
}

// ready returns a project with a cluster and a result.
func ready(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "v6e-8").check(t, 0)
	w.AddObject("acme-kn-research-jobs", "cpu-train/result.json", 10)
	return w
}
