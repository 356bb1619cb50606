package render

import (
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What pods claim is there, under the name by which they claim it. An API server takes it.
func TestPodsClaimATemplateThatIsThere(t *testing.T) {
	for name, s := range family {
		r := mustRender(t, s)
		var templates []string
		for _, o := range r.Objects() {
			if o.GetKind() != "ResourceClaimTemplate" {
				continue
			}
			var template resourcev1.ResourceClaimTemplate
			if err := decode(o.Object, &template); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			templates = append(templates, template.Name)
		}
		for place, pod := range mustPods(t, r, s) {
			var claimed []string
			for _, c := range pod.Spec.ResourceClaims {
				claimed = append(claimed, *c.ResourceClaimTemplateName)
			}
			if !slices.Equal(claimed, templates) || (claimed != nil) != (s.Network == api.NetworkRDMA) {
				t.Errorf("%s: %s claims %q of the templates %q", name, place, claimed, templates)
			}
		}
	}
}

func TestInterfaces(t *testing.T) {
	const want = `[{"interfaceName":"eth0","network":"default"},
 {"interfaceName":"eth1","network":"gpu-a"},
 {"interfaceName":"eth2","network":"gpu-b"}]
`
	s := testSpec(mega, hosts(2), network(api.NetworkTCPXO, "gpu-a", "gpu-b"))
	for place, pod := range mustPods(t, mustRender(t, s), s) {
		if got := pod.Annotations[podInterfaces]; got != want {
			t.Errorf("%s: got %s, want %s", place, got, want)
		}
	}
	s.PodNetworks = nil // the names in Google's manifests
	for place, pod := range mustPods(t, mustRender(t, s), s) {
		if got := pod.Annotations[podInterfaces]; !strings.Contains(got, `{"interfaceName":"eth8","network":"vpc8"}`) {
			t.Errorf("%s: got %s", place, got)
		}
	}
}
