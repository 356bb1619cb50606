package provide_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

var oneHash = " --hash=sha256:" + strings.Repeat("a", 64)

// TestHashesOfSome: pip compares the hashes of all lines or of none, so a warning tells of those that some lines have.
func TestHashesOfSome(t *testing.T) {
	jax := func(in *decide.Input) { in.Accelerator.Kind, in.Runtime = api.TPU, "jax" }
	for name, c := range map[string]struct {
		text   string
		change func(*decide.Input)
		warns  bool
	}{
		"some": {"six==1.0" + oneHash + "\nattrs==2.0\n", prebuilt, true},
		"none": {"six==1.0\n", prebuilt, false},
		"a constraint": {"six\n", func(in *decide.Input) {
			prebuilt(in)
			in.Wanted.Constraints = []deps.Line{{Text: "six==1.0", Hashes: []string{"sha256:" + strings.Repeat("a", 64)}}}
		}, true},
		"a URL":              {"six @ https://example.com/six-1.0-py3-none-any.whl#sha256=" + strings.Repeat("a", 64) + "\nattrs==2.0\n", prebuilt, false},
		"all, but other JAX": {"six==1.0" + oneHash + "\njax[cuda12]==0.6.2" + oneHash + "\n", func(in *decide.Input) { prebuilt(in); jax(in) }, true},
	} {
		w := newWorld(t)
		done := w.mustProvide(w.plan(c.text, c.change))
		const want = "the pod does not compare the hashes in requirements.txt, because not all requirements have one: install uv or a suitable pip here to have them compared"
		if slices.Contains(done.Warnings, want) != c.warns {
			t.Errorf("%s: warnings %q", name, done.Warnings)
		}
	}
}

// TestRequiredHashesOfSome: --require-hashes is an error where the hashes would not be compared.
func TestRequiredHashesOfSome(t *testing.T) {
	required := func(in *decide.Input) {
		prebuilt(in)
		in.Wanted.HashesAt = "requirements.txt:1"
	}
	const url = "attrs @ https://example.com/attrs-1.0-py3-none-any.whl#sha256="
	for text, refused := range map[string]bool{
		"six==1.0" + oneHash + "\n":                                        false,
		"six==1.0" + oneHash + "\n" + url + strings.Repeat("a", 64) + "\n": true,
		"six==1.0" + oneHash + "\nattrs==1 ; sys_platform == 'win32'\n":    true,
	} {
		w := newWorld(t)
		_, err := w.provide(w.plan(text, required))
		if refused != (err != nil && strings.HasPrefix(err.Error(), "requirements.txt:1: --require-hashes needs a --hash on each line of requirements.txt, because the pod resolves")) {
			t.Errorf("%q: %v", text, err)
		}
	}
	w := newWorld(t)
	w.refuseAll(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/base/") }, http.StatusServiceUnavailable)
	_, err := w.provide(w.plan("six==1.0"+oneHash+"\nattrs==1 ; sys_platform == 'win32'\n", required))
	if err == nil || !strings.Contains(err.Error(), "--require-hashes needs a --hash") || !strings.Contains(err.Error(), "(not resolved here: reading the base image") {
		t.Errorf("a base that can't be read: %v", err)
	}
	w = newCloudWorld(t, cloudbuildtest.Pushes)
	plan := w.cloudPlan("--index-url http://127.0.0.1:1/simple\nsix==1.0"+oneHash+"\nattrs==1 ; sys_platform == 'win32'\n", builder("cloudbuild"))
	plan.Wanted.HashesAt = "requirements.txt:1"
	_, err = w.provide(plan)
	if err == nil || !strings.Contains(err.Error(), "because Cloud Build resolves") || len(w.cloud.Builds()) > 0 {
		t.Errorf("Cloud Build: %v", err)
	}
}

func TestHashesOfSomeInCloudBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	done := w.mustProvide(w.cloudPlan("six==1.0"+oneHash+"\n"+fromGit, func(*decide.Input) {}))
	if len(done.Warnings) != 1 || !strings.HasPrefix(done.Warnings[0], "Cloud Build does not compare the hashes in requirements.txt") {
		t.Errorf("warnings %q", done.Warnings)
	}
}
