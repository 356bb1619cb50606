package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/environment"
	"github.com/kubectl-kinetic/kinetic/pkg/image"
	"github.com/kubectl-kinetic/kinetic/pkg/provider"
	"github.com/kubectl-kinetic/kinetic/pkg/resolver"
)

// TestOutlookIsWhatHappens: --explain says what a run then does, whatever is asked for.
func TestOutlookIsWhatHappens(t *testing.T) {
	const here, cloud, pod, fails = "this machine makes the image", "Cloud Build makes the image", "the pod installs them", "a run fails"
	plain := func(*environment.Input) {}
	for name, change := range map[string]func(*environment.Input){
		"auto": plain, "bundled": bundled, "prebuilt": prebuilt, "client": builder("client"), "cloudbuild": builder("cloudbuild"),
		"bundled by the client": func(in *environment.Input) { bundled(in); builder("client")(in) }, "elsewhere": elsewhere,
		"bundled elsewhere": func(in *environment.Input) { bundled(in); elsewhere(in) },
	} {
		for _, has := range []string{"wheels", "too many wheels", "git"} {
			t.Run(name+", "+has, func(t *testing.T) {
				w := newCloudWorld(t, cloudbuildtest.Works, cloudbuildtest.Pushes)
				text := w.locked(w.wheel("six", "1.0", "x = 1"))
				if has == "git" {
					text = fromGit
				}
				plan := w.cloudPlan(text, change, func(in *environment.Input) {
					if has == "too many wheels" {
						in.UploadLimit = 1
					}
				})
				maker := &provider.Provider{Images: &image.Client{}, Resolver: resolver.Resolver{LookPath: nowhere}, Cloud: w.cloud.Client}
				how := maker.Outlook(plan).How
				said, _, _ := strings.Cut(how, ",")
				if _, otherwise, found := strings.Cut(how, "; if more than 1 B (--image-upload-limit) have to be sent, "); found {
					said = otherwise
				}
				happened := fails
				done, err := w.provide(plan)
				switch {
				case err != nil:
				case done.Plan.Mode == environment.Prebuilt:
					happened = pod
				case done.Builder == environment.BuilderCloudBuild:
					happened = cloud
				default:
					happened = here
				}
				if said != happened {
					t.Errorf("--explain says %q, and a run has %q (%v)", said, happened, err)
				}
				if err == nil && happened == here && len(w.did(http.MethodPut)) == 0 {
					t.Errorf("nothing was sent: %q", w.did(""))
				}
			})
		}
	}
}
