package kube

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A job that names a queue is told that nothing looks after it, and runs; without one
// nobody asks.
func TestAQueueWithoutKueue(t *testing.T) {
	const group = "/apis/kueue.x-k8s.io"
	serves := func(versions ...string) map[string]any {
		var all []any
		for _, v := range versions {
			all = append(all, map[string]any{"groupVersion": "kueue.x-k8s.io/" + v, "version": v})
		}
		return map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": "kueue.x-k8s.io", "versions": all}
	}
	for name, tt := range map[string]struct {
		queue string
		has   map[string]any
		fails bool
		told  string
	}{
		"no Kueue":          {queue: "mine", told: "queue mine: the cluster has no Kueue"},
		"Kueue":             {queue: "mine", has: serves("v1beta1")},
		"a newer one":       {queue: "mine", has: serves("v1beta2", "v1")},
		"one that is new":   {queue: "mine", has: serves("v1"), told: "queue mine: the cluster's Kueue serves v1 of its API"},
		"nobody may tell":   {queue: "mine", fails: true},
		"no queue is named": {},
	} {
		for what, do := range map[string]func(*Workload) error{
			"start":   func(w *Workload) error { return w.Start(t.Context(), a1, nil) },
			"dry run": func(w *Workload) error { _, err := w.DryRun(t.Context()); return err },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				s, w, told := startSet(t)
				if tt.queue != "" {
					for _, o := range w.objects {
						if isWorkload(o) {
							o.SetLabels(map[string]string{api.LabelJobID: "a1", api.LabelQueue: tt.queue})
						}
					}
				}
				if tt.has != nil {
					s.objects[group] = tt.has
				}
				asked := 0
				s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != group {
						return false
					}
					asked++
					if tt.fails {
						fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
					}
					return tt.fails
				}
				if err := do(w); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(*told, ""); !strings.HasPrefix(got, tt.told) || got != "" && tt.told == "" {
					t.Errorf("told %q", got)
				}
				if want := len(tt.queue) / len("mine"); asked != want {
					t.Errorf("asked %d times, want %d", asked, want)
				}
			})
		}
	}
}
