package provide_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// TestARegistryThatWantsALogin: what a login mends is not remembered.
func TestARegistryThatWantsALogin(t *testing.T) {
	look := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/acme/env/manifests/") }
	upload := func(r *http.Request) bool { return r.Method == http.MethodPost }
	for name, tt := range map[string]struct {
		status int
		what   func(*http.Request) bool
	}{
		"the look, without a login":  {http.StatusUnauthorized, look},
		"the look, of anybody":       {http.StatusForbidden, look},
		"an upload, without a login": {http.StatusUnauthorized, upload},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			text := w.locked(w.wheel("six", "1.0", "x = 1"))
			w.refuseAll(tt.what, tt.status)
			if done := w.mustProvide(w.plan(text)); done.Plan.Mode != decide.Prebuilt {
				t.Errorf("provided %+v", done)
			}
			if why := provide.Unwritable(image.Memory{Dir: w.memory}, w.host()+"/acme/env", w.now); why != "" {
				t.Errorf("remembered: %s", why)
			}
		})
	}
}

// TestVariablesNotInCloudBuild: who can see a build sees what it installs from where.
func TestVariablesNotInCloudBuild(t *testing.T) {
	for _, text := range []string{"--extra-index-url https://index.example/${TOKEN}/simple\n", "x @ https://files.example/${TOKEN}/x.tar.gz\n"} {
		w := newCloudWorld(t, cloudbuildtest.Pushes)
		w.environ = []string{"TOKEN=hush"}
		_, err := w.provide(w.cloudPlan(fromGit+text, bundled))
		var cloud *provide.CloudError
		if !errors.As(err, &cloud) || !cloud.Lasting() || !strings.Contains(err.Error(), "has the variable ${TOKEN}, whose value everyone with access to the build would see") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", text, err)
		}
		if got := w.cloud.Called("ListBuilds", "CreateBuild"); len(got) > 0 {
			t.Errorf("calls %q", got)
		}
	}
}

// TestValuesThatThePodMayNotSee: a token may be in the path of a URL, and the pod's list of wheels is in the store.
func TestValuesThatThePodMayNotSee(t *testing.T) {
	wanted := deps.Wanted{Options: []string{"--extra-index-url https://dl.example/${TOKEN}/simple", "--extra-index-url https://torch.example/${CUDA}", "--extra-index-url https://${USER}@other.example/simple"}, Requirements: []deps.Line{{Text: "x @ https://files.example/${OTHER}/x-1-py3-none-any.whl"}}}
	r := resolve.Resolver{Environ: []string{"TOKEN=hush-hush", "OTHER=quiet-quiet", "CUDA=cu121", "USER=user-of-me"}, Token: func(context.Context) (string, error) { return "", errors.New("not needed") }}
	private, err := r.Private(t.Context(), resolve.Request{Wanted: wanted})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"https://dl.example/hush-hush/a-1-py3-none-any.whl": true, "https://files.example/quiet-quiet/x-1-py3-none-any.whl": true, "https://dl.example/a-1-py3-none-any.whl": false,
		"https://torch.example/cu121/torch-2+cu121-py3-none-any.whl": false, "https://files.example/user-of-me-1-py3-none-any.whl": false,
	} {
		if private(address) != want {
			t.Errorf("private %s: %v", address, !want)
		}
	}
}
