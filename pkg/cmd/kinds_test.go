package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	answers "github.com/kubectl-kinetic/kinetic/pkg/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
)

// TestErrorKinds holds that each kind is that of a real error of the product, and in the documentation.
func TestErrorKinds(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("testdata", "script", "kinds.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := map[api.ErrorKind]error{
		api.KindUnstartable: &answers.MissingKind{Text: "the cluster has no LeaderWorkerSets"},
		api.KindUntrusted:   nil, // TestMovedImage of pkg/cmd/run
	}
	for _, kind := range api.ErrorKinds() {
		err, is := elsewhere[kind]
		if !is && !strings.Contains(string(script), `"kind":"`+string(kind)+`"`) {
			t.Errorf("%s: kinds.txtar has no error of this kind", kind)
		}
		if err != nil && process.KindOf(err) != kind {
			t.Errorf("%s: got %s", kind, process.KindOf(err))
		}
	}
}
