package provide_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
)

// TestBase: its packages are in the base's own Python, so that a job's image is made on it like on
// any other.
func TestBase(t *testing.T) {
	w := newWorld(t)
	wanted := w.plan(w.locked(w.wheel("six", "1.0", "x = 1"))).Wanted
	plan := w.basePlan(decide.Input{Wanted: wanted, Accelerator: api.Accelerator{Kind: api.GPU}})
	first := w.mustProvide(plan)
	if plan.Image != w.host()+"/acme/base-gpu:v1" || first.Image != plan.Image {
		t.Errorf("provided %+v", first)
	}
	files, env := w.content(plan.Image)
	if !slices.Contains(files, "usr/local/lib/python3.12/site-packages/six.py") || slices.ContainsFunc(files, func(f string) bool { return strings.Contains(f, "pyvenv") }) ||
		!slices.Contains(env, "PATH=/usr/local/bin:/usr/bin:/bin") {
		t.Errorf("the image has %q, %q", files, env)
	}

	job := w.mustProvide(w.plan(w.locked(w.wheel("attrs", "2.0", "y = 1")), func(in *decide.Input) {
		in.BaseImage, in.BaseImageRepo, in.Version, in.Accelerator.Kind = "", w.host()+"/acme", "v1", api.GPU
	}))
	files, _ = w.content(job.Image)
	for _, want := range []string{"usr/local/lib/python3.12/site-packages/six.py", "opt/kinetic/env/lib/python3.12/site-packages/attrs.py", "opt/kinetic/env/pyvenv.cfg"} {
		if !slices.Contains(files, want) {
			t.Errorf("the job's image has %q, want %s", files, want)
		}
	}

	// Newer packages get the same name.
	newer := w.plan(w.locked(w.wheel("six", "1.1", "x = 2"))).Wanted
	second := w.mustProvide(w.basePlan(decide.Input{Wanted: newer, Accelerator: api.Accelerator{Kind: api.GPU}}))
	if second.Image != first.Image || slices.Equal(second.Digests, first.Digests) {
		t.Errorf("provided %+v, then %+v", first, second)
	}
}

// TestBaseInCloudBuild: what can't be resolved here is made there.
func TestBaseInCloudBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	plan := w.basePlan(decide.Input{Images: api.Images{ImageRepo: "europe-docker.pkg.dev/acme/kn-research"}, Accelerator: api.Accelerator{Kind: api.TPU}})
	done := w.mustProvide(plan)
	b := w.built()
	if b.Image() != "europe-docker.pkg.dev/acme/kn-research/base-tpu:v1" || len(done.Digests) != 1 || !strings.Contains(b.Files["requirements.txt"], "jax[tpu]>=0.4.6\nkeras\n") ||
		!strings.Contains(b.Files["Dockerfile"], "uv pip install --python /usr/local/bin/python3.12 ") {
		t.Errorf("built %s from %q", b.Image(), b.Files)
	}
}
