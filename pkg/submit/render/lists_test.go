package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Patches find the entries of lists where kustomize has put them.
func TestListsAreThoseOfThePod(t *testing.T) {
	for name, s := range family {
		if s.Backend != api.BackendGKE {
			continue
		}
		l, err := readLists(componentsOf(s))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := jobPatch(s, testRunner, l); err != nil {
			t.Fatal(err)
		}
		if _, err := groupOf(s, testRunner, l); err != nil {
			t.Fatal(err)
		}
		pod := mustPods(t, mustRender(t, s), s)["spec.template"].Spec
		got := lists{}
		for _, v := range pod.Volumes {
			got.add(volumeList, "-", v.Name)
		}
		for _, e := range worker(pod).Env {
			got.add(envList, "-", e.Name)
		}
		for _, list := range []string{volumeList, envList} {
			if diff := cmp.Diff(l[list], got[list]); diff != "" {
				t.Errorf("%s: %s (-believed +is):\n%s", name, list, diff)
			}
		}
	}
}

// A variable that is a secret of the user's is not set once more.
func TestHomeThatIsASecret(t *testing.T) {
	s := testSpec(cpu, restricted, func(s *api.Spec) { s.SecretEnv = []string{homeVariable} })
	n := 0
	for _, e := range worker(mustPods(t, mustRender(t, s), s)["spec.template"].Spec).Env {
		if e.Name == homeVariable {
			n++
		}
	}
	if n != 1 {
		t.Errorf("HOME is set %d times", n)
	}
}
