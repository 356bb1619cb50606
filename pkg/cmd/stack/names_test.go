package stack_test

import (
	"strings"
	"testing"
)

// A name that was typed wrong must not look like a cluster that is gone while the other one costs money.
func TestDownNamesOtherClusters(t *testing.T) {
	w := newWorld(t)
	w.down(t, "--yes=research").check(t, 0, "there is nothing to delete\n") // Missing the API, no cluster is known
	w.up(t, "--yes", "--cluster", "attic").check(t, 0)
	w.up(t, "--yes", "--cluster", "big", "--zone", "us-central1-b").check(t, 0)
	const want = "there is nothing to delete: there is no cluster bgi in us-central1-a of project acme; it has big in us-central1-b, attic in us-central1-a\n"
	w.down(t, "--cluster", "bgi", "--yes=bgi").check(t, 0, want)
	w.down(t, "--cluster", "bgi", "--dry-run").check(t, 0, want)
	if r := w.down(t, "--cluster", "bgi", "--dry-run", "-o", "json"); !strings.HasPrefix(r.out, "{") {
		t.Errorf("printed %s", r.out)
	}
	w.down(t, "--cluster", "other", "--yes=other").check(t, 0, "; it has attic in us-central1-a, big in us-central1-b\n")
	w.status(t, "--cluster", "bgi").check(t, 1, "; it has big in us-central1-b, attic in us-central1-a; create it with: ")
}

// The plan already says what up would end with: neither a new cluster nor most others have Kueue.
func TestUpPlansAQueueWithoutKueue(t *testing.T) {
	const install = "kubectl apply --server-side -f https://github.com/kubernetes-sigs/kueue/releases/download/v"
	w := newWorld(t)
	w.up(t, "--kueue", "--dry-run").check(t, 0, "+ Kueue queue kinetic: Kueue is not in a new cluster: install it when the cluster is there, then repeat this command: "+install)
	w.up(t, "--yes").check(t, 0)
	w.up(t, "--kueue", "--dry-run").check(t, 0, "+ Kueue queue kinetic: Kueue is not installed: install it first with: "+install)
	w.up(t, "--kueue", "--yes").check(t, 1, "creating the queue kinetic: Kueue is not installed: ")
	w.kubernetes.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues.kueue.x-k8s.io", map[string]any{"kind": "CustomResourceDefinition",
		"spec": map[string]any{"versions": []any{map[string]any{"name": "v1beta2", "served": true}}}})
	if r := w.up(t, "--kueue", "--yes"); r.code != 0 || strings.Contains(r.err, install) {
		t.Errorf("Kueue is installed: %+v", r)
	}
}
