package provide_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// What --explain says of the ways by which packages get to a job, and what a run has.
const (
	byThisMachine = "this machine makes the image"
	byCloudBuild  = "Cloud Build makes the image"
	byThePod      = "the pod installs them"
	byNobody      = "a run fails"
)

// offline provides nothing, and contacts nothing.
func (w *world) offline() *provide.Provider {
	maker := &provide.Provider{Images: &image.Client{Memory: image.Memory{Dir: w.memory}}, Resolver: resolve.Resolver{Environ: w.environ, LookPath: w.lookPath}, StoreURL: w.store.URL()}
	if w.cloud != nil {
		maker.Cloud = w.cloud.Client
	}
	return maker
}

// outlook returns what --explain says of a plan, without what the image's name is for.
func (w *world) outlook(plan decide.Plan) string {
	w.t.Helper()
	how := w.offline().Estimate(w.t.Context(), plan).How
	if otherwise := ifTooLarge(how); otherwise != "" {
		return otherwise
	}
	said, _, _ := strings.Cut(how, ",")
	said, _, _ = strings.Cut(said, ";")
	return said
}

// ifTooLarge returns what a text says of an image that is too large, "" if it says nothing of that. The limit is 1 B.
func ifTooLarge(text string) string {
	_, otherwise, _ := strings.Cut(text, "; if more than 1 B (--image-upload-limit) have to be sent, ")
	return otherwise
}

// dryRun returns what a dry-run says of a plan: an image is made by someone.
func (w *world) dryRun(plan decide.Plan) string {
	w.t.Helper()
	w.look = true
	defer func() { w.look = false }()
	done, err := w.provide(plan)
	switch {
	case err != nil:
		return byNobody
	case done.Plan.Mode == decide.Prebuilt:
		return byThePod
	}
	return ifTooLarge(done.Detail)
}

// run returns what a run of a plan has.
func (w *world) run(plan decide.Plan) (happened string, err error) {
	w.t.Helper()
	done, err := w.provide(plan)
	switch {
	case err != nil:
		return byNobody, err
	case done.Plan.Mode == decide.Prebuilt:
		return byThePod, nil
	case done.Builder == decide.BuilderCloudBuild:
		return byCloudBuild, nil
	}
	if len(w.did(http.MethodPut)) == 0 {
		w.t.Errorf("nothing was sent: %q", w.did(""))
	}
	return byThisMachine, nil
}

// check fails if --explain, a dry-run and a run of a plan differ.
func (w *world) check(plan decide.Plan) {
	w.t.Helper()
	said, how := w.outlook(plan), w.offline().Estimate(w.t.Context(), plan).How
	foreseen, _, foreseeErr := w.offline().Predict(w.t.Context(), plan)
	happened, err := w.checkDryRun(plan)
	if said != happened {
		w.t.Errorf("--explain says %q, and a run has %q (%v)", said, happened, err)
	}
	hasImage := happened == byThisMachine || happened == byCloudBuild || plan.Mode == decide.Prebuilt || ifTooLarge(how) != ""
	if hasImage != (len(foreseen.Warnings) == 0) || foreseeErr != nil {
		w.t.Errorf("a dry-run of the client has %s and warns %q, and a run has %q (%v, %v)", foreseen.Image, foreseen.Warnings, happened, foreseeErr, err)
	}
}

// checkDryRun fails if a dry-run and a run of a plan differ. It returns what the run has.
func (w *world) checkDryRun(plan decide.Plan) (happened string, err error) {
	w.t.Helper()
	looked := w.dryRun(plan)
	happened, err = w.run(plan)
	if looked != happened && (looked != "" || happened != byThisMachine && happened != byCloudBuild) {
		w.t.Errorf("a dry-run says %q, and a run has %q (%v)", looked, happened, err)
	}
	return happened, err
}

// TestOutlookIsWhatHappens: --explain and a dry-run say what a run then does, whatever is asked for.
func TestOutlookIsWhatHappens(t *testing.T) {
	plain := func(*decide.Input) {}
	for name, change := range map[string]func(*decide.Input){
		"auto": plain, "bundled": bundled, "prebuilt": prebuilt, "client": builder("client"), "cloudbuild": builder("cloudbuild"),
		"bundled by the client": func(in *decide.Input) { bundled(in); builder("client")(in) }, "elsewhere": elsewhere,
		"bundled elsewhere": func(in *decide.Input) { bundled(in); elsewhere(in) },
		"again":             func(in *decide.Input) { in.RefreshDeps = true },
		"verified":          func(in *decide.Input) { in.VerifyLayers = true },
	} {
		for _, has := range []string{"wheels", "too many wheels", "git", "git with a login"} {
			for _, project := range []string{"a project", "no project"} {
				t.Run(name+", "+has+", "+project, func(t *testing.T) {
					w := newCloudWorld(t, cloudbuildtest.Works, cloudbuildtest.Pushes)
					if project == "no project" {
						w.cloud = nil
					}
					text := w.locked(w.wheel("six", "1.0", "x = 1"))
					switch has {
					case "git":
						text = fromGit
					case "git with a login":
						text = "ours @ git+https://me:${PASSWORD}@git.example/ours@v1\n"
						w.environ = append(w.environ, "PASSWORD=secret")
					}
					w.check(w.cloudPlan(text, change, func(in *decide.Input) {
						if has == "too many wheels" {
							in.UploadLimit = 1
						}
					}))
				})
			}
		}
	}
}

// TestFaultsAreForeseen: a dry-run, which asks the registry, meets its faults as a run does. Cloud Build has none.
func TestFaultsAreForeseen(t *testing.T) {
	faults := map[string]func(*http.Request) bool{
		"pushes":    func(r *http.Request) bool { return r.Method == http.MethodPost },
		"the base":  func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v2/base/") },
		"the image": func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/r-") },
	}
	plain := func(*decide.Input) {}
	for fault, meets := range faults {
		for _, status := range []int{http.StatusForbidden, http.StatusTooManyRequests, http.StatusBadRequest} {
			for mode, change := range map[string]func(*decide.Input){"auto": plain, "bundled": bundled, "cloudbuild": builder("cloudbuild")} {
				for _, has := range []string{"wheels", "git"} {
					t.Run(fmt.Sprint(fault, ", ", status, ", ", mode, ", ", has), func(t *testing.T) {
						w := newCloudWorld(t, cloudbuildtest.Works, cloudbuildtest.Pushes)
						inner := w.cloud.Transport
						w.cloud.Transport = redirected(func(r *http.Request) (*http.Response, error) {
							r = r.Clone(r.Context())
							r.Header.Set("From", "Cloud Build")
							return inner.RoundTrip(r)
						})
						text := fromGit
						if has == "wheels" {
							text = w.locked(w.wheel("six", "1.0", "x = 1"))
						}
						plan := w.cloudPlan(text, change)
						w.refuse(func(r *http.Request) int {
							if r.Header.Get("From") == "" && meets(r) {
								return status
							}
							return 0
						})
						_, _ = w.checkDryRun(plan)
					})
				}
			}
		}
	}
}

// TestAPipThatDoesNotFit: what --explain and a dry-run say of pip is what a run finds out, also of one that is too old
// and of a shim that fails.
func TestAPipThatDoesNotFit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pip resolves for Linux only on Linux")
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	for name, tt := range map[string]struct{ text, says, why string }{
		"too old":        {"six\n", `echo '{"executable":"/x","python":"3.12","implementation":"cpython","system":"linux","machine":"` + machine + `","pip":"21.0"}'`, "its pip is 21.0"},
		"for PyTorch":    {"torch\n", `echo '{"executable":"/x","python":"3.12","implementation":"cpython","system":"linux","machine":"` + machine + `","pip":"24.0"}'`, "would download torch only to resolve it"},
		"another Python": {"six\n", `echo '{"executable":"/x","python":"3.9","implementation":"cpython","system":"linux","machine":"` + machine + `","pip":"26.0"}'`, "its own Python, which is 3.9"},
		"a shim":         {"six\n", "echo 'pyenv: python3: command not found' >&2; exit 127", "pyenv: python3: command not found"},
	} {
		t.Run(name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "python3")
			if err := os.WriteFile(script, []byte("#!/bin/sh\n"+tt.says+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			w := newCloudWorld(t, cloudbuildtest.Works, cloudbuildtest.Pushes)
			w.lookPath = func(name string) (string, error) {
				if name == "python3" {
					return script, nil
				}
				return nowhere(name)
			}
			plan := w.cloudPlan(tt.text, func(in *decide.Input) {
				in.BaseImage, in.Images.Python, in.Accelerator.Arch = "", "3.12", runtime.GOARCH
			})
			if o := w.offline().Estimate(t.Context(), plan); !strings.Contains(o.Why, tt.why) || o.Resolved == "pip" {
				t.Errorf("resolved by %s, because %s; want %q", o.Resolved, o.Why, tt.why)
			}
			w.check(plan)
		})
	}
}

// TestAnImageThatIsThereNeedsNoCredentials: a colleague without them uses it; who has to make it is told what is wrong.
func TestAnImageThatIsThereNeedsNoCredentials(t *testing.T) {
	w := newWorld(t)
	line := w.wheel("six", "1.0", "x = 1")
	text := strings.Replace(w.locked(line), "http://", "http://${TOKEN}@", 1)
	var mistake *resolve.MistakeError
	for _, w.look = range []bool{true, false} {
		if _, err := w.provide(w.plan(text)); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "the variable TOKEN is not set") {
			t.Errorf("nobody has made the image, and a dry-run is %t: %v", w.look, err)
		}
	}
	w.environ = []string{"TOKEN=t0ken"}
	w.mustProvide(w.plan(text))
	w.environ = []string{}
	if done := w.mustProvide(w.plan(text)); done.Plan.Mode != decide.Bundled || len(done.Digests) != 1 {
		t.Errorf("provided %+v", done)
	}
}
