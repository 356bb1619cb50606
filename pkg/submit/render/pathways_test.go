package render

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
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
		rendered, _, err := render(family[spec], mustOverlay(t, map[string]string{"kustomization.yaml": block}), findTestRunner, false)
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
