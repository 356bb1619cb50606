package provide_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
)

// TestChosenHereBuiltThere: Cloud Build installs the versions that this machine has chosen, by their
// hashes, now and when they were chosen earlier.
func TestChosenHereBuiltThere(t *testing.T) {
	limited := func(in *decide.Input) { in.UploadLimit = 1 }
	for name, change := range map[string]func(*decide.Input){"too large to send": limited, "asked for": builder("cloudbuild")} {
		t.Run(name, func(t *testing.T) {
			w := newCloudWorld(t, cloudbuildtest.Pushes)
			locked := w.wheel("six", "1.0", "x = 1")
			want := "six @ " + w.index.URL + "/files/six-1.0-py3-none-any.whl#sha256=" + sum(w.files["six-1.0-py3-none-any.whl"])
			plan := w.cloudPlan(w.locked(locked), change)
			for _, builds := range []int{1, 2} {
				done := w.mustProvide(plan)
				all := w.cloud.Builds()
				if len(all) != builds {
					t.Fatalf("%d builds, want %d", len(all), builds)
				}
				b := all[len(all)-1]
				if !strings.Contains(b.Files["requirements.txt"], want+"\n") || !strings.Contains(b.Files["Dockerfile"], "--no-deps") {
					t.Errorf("build %d: requirements\n%s\nDockerfile\n%s\nwant %q", builds, b.Files["requirements.txt"], b.Files["Dockerfile"], want)
				}
				if len(done.Wheels) != 1 || done.Wheels[0].File != "six-1.0-py3-none-any.whl" {
					t.Errorf("wheels %+v", done.Wheels)
				}
				// The registry loses the image, and no index can be asked any more.
				request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, w.registry.URL+"/v2/acme/kn-research/env/manifests/"+plan.Tag, nil)
				w.must(err)
				response, err := http.DefaultClient.Do(request)
				w.must(err)
				w.must(response.Body.Close())
				w.index.Close()
			}
		})
	}
}
