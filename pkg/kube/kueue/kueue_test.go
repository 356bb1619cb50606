package kueue

import (
	"os"
	"strings"
	"testing"
)

// What people are told to install is what the tests on a real cluster run with.
func TestReleaseIsTheOneOfTheTests(t *testing.T) {
	file, err := os.ReadFile("../../../hack/cluster/kueue/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(file), "\tsigs.k8s.io/kueue "+Release+" ") {
		t.Errorf("hack/cluster/kueue/go.mod has another release than %s", Release)
	}
	if !strings.HasSuffix(Install, "/releases/download/"+Release+"/manifests.yaml") {
		t.Errorf("what is installed is %s", Install)
	}
}
