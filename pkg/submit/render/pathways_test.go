package render

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// TestOverlayOfThePathwaysPage renders the component of docs/pathways.md: it changes the containers that it names, and no other.
func TestOverlayOfThePathwaysPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "pathways.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```yaml\n")
	block, rest, closed := strings.Cut(block, "```\n")
	if !found || !closed || strings.Contains(rest, "```yaml") {
		t.Fatal("want one block of YAML on the page")
	}
	for _, spec := range []string{"pathways-v6e-16", "pathways-v6e-4", "pathways-v5p-64", "pathways-v6e-16-everything"} {
		rendered, _, err := render(family[spec], mustOverlay(t, map[string]string{"kustomization.yaml": block}), testRunner, false)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		leader, worker := podsOfSet(t, rendered.YAML())
		manager, proxy, tpu := leader.InitContainers[0], leader.InitContainers[1], worker.Containers[0]
		if got := proxy.Resources.Limits.Memory().String(); proxy.Name != "pathways-proxy" || got != "200Gi" {
			t.Errorf("%s: %s may use %s", spec, proxy.Name, got)
		}
		if got := manager.Resources.Limits.Memory().String(); got != "32Gi" {
			t.Errorf("%s: the resource manager may use %s", spec, got)
		}
		const flag = "--tpu_premapped_buffer_size=17179869184"
		if tpu.Name != "pathways-worker" || !slices.Contains(tpu.Args, flag) || slices.Contains(slices.Concat(manager.Args, proxy.Args), flag) {
			t.Errorf("%s: %s has %q, the others %q and %q", spec, tpu.Name, tpu.Args, manager.Args, proxy.Args)
		}
	}
}

// TestPlaceOfPathways holds that the leader can run where the workers do: on a machine of the same slice.
func TestPlaceOfPathways(t *testing.T) {
	seen := map[bool]int{}
	for name, spec := range family {
		if !strings.HasPrefix(name, "pathways-") {
			continue
		}
		leader, worker := podsOfSet(t, mustRender(t, spec).YAML())
		if !maps.Equal(leader.NodeSelector, worker.NodeSelector) || len(worker.NodeSelector) == 0 {
			t.Errorf("%s: the leader selects the nodes %v, the workers %v", name, leader.NodeSelector, worker.NodeSelector)
		}
		if diff := cmp.Diff(worker.Tolerations, leader.Tolerations); diff != "" {
			t.Errorf("%s: the leader tolerates what the workers don't, or the reverse:\n%s", name, diff)
		}
		wantSpot := spec.Capacity.Kind == api.CapacitySpot
		seen[wantSpot]++
		for part, pod := range map[string]corev1.PodSpec{"leader": leader, "worker": worker} {
			if isSpot := pod.NodeSelector["cloud.google.com/gke-spot"] == "true"; isSpot != wantSpot {
				t.Errorf("%s: the %s is on a spot machine: %v", name, part, isSpot)
			}
			if grace := *pod.TerminationGracePeriodSeconds; (grace == 15) != wantSpot {
				t.Errorf("%s: the %s has %d seconds to end", name, part, grace)
			}
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("got %d jobs with spot and %d without", seen[true], seen[false])
	}
}

// podsOfSet returns the pods of the LeaderWorkerSet among documents.
func podsOfSet(t *testing.T, documents []byte) (leader, worker corev1.PodSpec) {
	t.Helper()
	for document := range strings.SplitSeq(string(documents), "\n---\n") {
		var set struct {
			Kind string
			Spec struct {
				LeaderWorkerTemplate struct{ LeaderTemplate, WorkerTemplate corev1.PodTemplateSpec }
			}
		}
		if err := yaml.Unmarshal([]byte(document), &set); err != nil {
			t.Fatal(err)
		}
		if set.Kind == "LeaderWorkerSet" {
			return set.Spec.LeaderWorkerTemplate.LeaderTemplate.Spec, set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec
		}
	}
	t.Fatal("there is no LeaderWorkerSet")
	return leader, worker
}
