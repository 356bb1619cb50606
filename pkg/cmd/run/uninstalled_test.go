package run

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// A job that does not find a module says what would have it, whatever its image is.
func TestUninstalled(t *testing.T) {
	of := func(mode decide.Mode) submit.Planned { return submit.Planned{Environment: decide.Plan{Mode: mode}} }
	own := api.Handle{Backend: api.BackendGKE, ImageURI: "python:3.12"}
	for name, tt := range map[string]struct {
		plan   submit.Planned
		handle api.Handle
		module string
		want   string
	}{
		"an image of one's own": {of(decide.Custom), own, "numpy",
			"neither your code nor the image python:3.12 has the module numpy, and nothing is installed in an image of your own: use an image that has it, or require it and use --image bundled"},
		"a module of the project's package": {submit.Planned{Environment: decide.Plan{Mode: decide.Custom}, Files: &pack.Plan{Index: api.Index{Files: []api.IndexFile{{Path: "src/lab/a.py"}}}}}, own, "lab.b",
			"your code has no module lab.b"},
		"a package with the name of a data folder": {submit.Planned{Environment: decide.Plan{Mode: decide.Custom}, Files: &pack.Plan{Index: api.Index{Files: []api.IndexFile{{Path: "datasets/a.csv"}}}}}, own, "datasets.features",
			"neither your code nor the image python:3.12 has the module datasets.features, and nothing is installed in an image of your own: use an image that has it, or require it and use --image bundled"},
		"a local job": {of(""), api.Handle{Backend: api.BackendLocal}, "numpy",
			"your code has no module numpy, and local jobs don't install packages: install it for python3 on this machine"},
		"JAX": {of(decide.Bundled), own, "jax", "jax is not installed: --runtime jax adds it"},
		"bundled": {of(decide.Bundled), own, "numpy",
			"your code has no module numpy, and no requirements.txt or pyproject.toml lists packages: list one that has it"},
		"bundled, with requirements": {submit.Planned{Environment: decide.Plan{Mode: decide.Bundled}, Deps: deps.Wanted{Source: "requirements.txt"}}, own, "numpy",
			"neither your code nor a package of requirements.txt has the module numpy: add it to one of them"},
	} {
		if got := uninstalled(tt.plan, tt.module, tt.handle); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
