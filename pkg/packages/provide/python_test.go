package provide_test

import (
	"errors"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// TestPythonOfAnOwnBase: what a project requires is compared with the Python that the base has, and an image
// that is there was compared when it was made.
func TestPythonOfAnOwnBase(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	project := func(requires, builder string) decide.Plan {
		return w.planOf("pyproject.toml", "[project]\nname = \"p\"\nrequires-python = \""+requires+"\"\ndependencies = [\"six\"]\n", bundled,
			func(in *decide.Input) { in.ImageRepo, in.Builder = artifactRegistry, builder })
	}
	for i, requires := range []string{">=3.12.7", ">=3.12.8", "<3.12.7", "<3.12"} {
		mistaken := i > 0 // the base has 3.12.7
		var mistake *resolve.MistakeError
		var notHere *resolve.NotHereError
		if _, err := w.provide(project(requires, "client")); errors.As(err, &mistake) != mistaken || errors.As(err, &notHere) == mistaken {
			t.Errorf("%s: %v", requires, err)
		}
		if _, err := w.provide(project(requires, "cloudbuild")); errors.As(err, &mistake) != mistaken || err != nil && !mistaken {
			t.Errorf("%s, in Cloud Build: %v", requires, err)
		}
	}
	if done := w.mustProvide(project(">=3.12.7", "cloudbuild")); done.Phase != "" || len(w.cloud.Builds()) != 1 {
		t.Errorf("again: %+v, %d builds", done, len(w.cloud.Builds()))
	}
}
