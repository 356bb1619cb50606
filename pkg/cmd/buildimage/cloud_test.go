package buildimage

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

const repository = "europe-docker.pkg.dev/acme/kn-research"

// world is Cloud Build, and a machine that can resolve nothing.
type world struct {
	t           *testing.T
	service     *cloudbuildtest.Service
	out, errOut strings.Builder
}

func newWorld(t *testing.T, script ...cloudbuildtest.Event) *world {
	t.Helper()
	for _, name := range []string{"HOME", "KUBECONFIG", "KINETIC_PROFILES_FILE", "XDG_CACHE_HOME"} {
		t.Setenv(name, filepath.Join(t.TempDir(), "none"))
	}
	w := &world{t: t, service: cloudbuildtest.New(t, cloudbuild.PlaceOf("acme", "europe-west4", "research"), script...)}
	w.service.Transport = w
	return w
}

// RoundTrip makes the service's registry that of Artifact Registry.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = "http", w.service.Registry, w.service.Registry
	return http.DefaultTransport.RoundTrip(r)
}

// run runs the command and returns its exit code.
func (w *world) run(ctx context.Context, change func(*flags)) int {
	w.t.Helper()
	f := newFlags()
	f.sections()
	f.yes, f.tag, f.images.Python, f.images.BaseImageRepo = true, "v1", "3.12", repository
	f.connection.Target.Project, f.connection.Target.Zone, f.connection.Target.Cluster = "acme", "europe-west4-b", "research"
	change(f)
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &w.out, ErrOut: &w.errOut}
	o, err := f.toOptions(ctx, streams, clock.RealClock{}, func(string) string { return "" })
	if err != nil {
		w.t.Fatal(err)
	}
	o.provider.Cloud = w.service.Client
	o.provider.Images = &image.Client{Transport: w}
	o.provider.Resolver.LookPath = func(name string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} }
	if err = o.run(ctx); err != nil {
		w.errOut.WriteString(err.Error())
	}
	return cli.CodeOf(err)
}

// images returns the names of what was built.
func (w *world) images() (names []string) {
	for _, b := range w.service.Builds() {
		names = append(names, b.Image())
	}
	slices.Sort(names)
	return names
}

func (w *world) shows(text string, wanted ...string) {
	w.t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			w.t.Errorf("printed\n%s\nwant %q in it", text, want)
		}
	}
}

// TestCategories: each is a build with its runtime, and one that fails does not end the others.
func TestCategories(t *testing.T) {
	w := newWorld(t, cloudbuildtest.Works, cloudbuildtest.Logs("Step 1\nERROR: No matching distribution found for keras\n"), func(s *cloudbuildtest.Service, b *cloudbuildtest.Build) {
		if strings.Contains(b.Image(), "gpu") {
			cloudbuildtest.Ends(cloudbuildpb.Build_FAILURE)(s, b)
			return
		}
		cloudbuildtest.Pushes(s, b)
	})
	if code := w.run(t.Context(), func(f *flags) { f.output = "json" }); code != cli.ExitFailed {
		t.Errorf("exit code %d\n%s", code, &w.errOut)
	}
	if want := []string{repository + "/base-cpu:v1", repository + "/base-gpu:v1", repository + "/base-tpu:v1"}; !slices.Equal(w.images(), want) {
		t.Errorf("built %q, want %q", w.images(), want)
	}
	for _, b := range w.service.Builds() {
		want := map[string]string{"cpu": "jax\nkeras\n", "gpu": "jax[cuda12]>=0.4.30\nkeras\n", "tpu": "--find-links https://storage.googleapis.com/jax-releases/libtpu_releases.html\njax[tpu]>=0.4.6\nkeras\n"}
		_, category, _ := strings.Cut(strings.TrimSuffix(b.Image(), ":v1"), "base-")
		if got := b.Files["requirements.txt"]; got != want[category] || !strings.HasPrefix(b.Files["Dockerfile"], "FROM python:3.12-slim-bookworm\n") {
			t.Errorf("%s has %q, want %q, from\n%s", category, got, want[category], b.Files["Dockerfile"])
		}
	}
	var all []built
	if err := json.Unmarshal([]byte(w.out.String()), &all); err != nil || len(all) != 3 {
		t.Fatalf("printed %s: %v", &w.out, err)
	}
	for _, b := range all {
		failed := b.Category == "gpu"
		if b.Builder != "cloudbuild" && !failed || strings.HasPrefix(b.Digest, "sha256:") == failed || (b.Error != "") != failed {
			t.Errorf("%+v", b)
		}
	}
	w.shows(w.errOut.String(), "cpu         Step 1\n", "tpu         Cloud Build makes it: https://", "1 of 3 images could not be built:\ngpu: building "+repository+"/base-gpu:v1 in Cloud Build: a package doesn't exist")
}

// TestDockerfile: it is copied as it is, and makes another build than before it was changed.
func TestDockerfile(t *testing.T) {
	w := newWorld(t, cloudbuildtest.Pushes)
	file := filepath.Join(t.TempDir(), "Dockerfile")
	for _, text := range []string{"FROM one\n", "FROM two\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := w.run(t.Context(), func(f *flags) { f.categories, f.dockerfile, f.images.Python = []string{"gpu"}, file, "" }); code != 0 {
			t.Fatalf("exit code %d\n%s", code, &w.errOut)
		}
		builds := w.service.Builds()
		last := builds[len(builds)-1]
		if got := last.Files; len(got) != 1 || got["Dockerfile"] != text || last.Image() != repository+"/base-gpu:v1" {
			t.Errorf("built %s from %q", last.Image(), got)
		}
	}
	w.shows(w.out.String(), "gpu        "+repository+"/base-gpu:v1   cloudbuild   sha256:")
}

// TestInterrupt: what Cloud Build was asked for is still made.
func TestInterrupt(t *testing.T) {
	w := newWorld(t, cloudbuildtest.Works)
	ctx, cancel := context.WithCancel(t.Context())
	w.service.Asked(func(string) { cancel() })
	if code := w.run(ctx, func(f *flags) { f.categories = []string{"cpu"} }); code != cli.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, &w.errOut)
	}
	w.shows(w.errOut.String(), "the build of "+repository+"/base-cpu:v1 is still running", "gcloud builds cancel 00000001-0000 --project=acme --region=europe-west4")
}

// TestCreation: Artifact Registry doesn't create repositories by itself.
func TestCreation(t *testing.T) {
	for repository, want := range map[string]string{
		"us-docker.pkg.dev/p/r/base-cpu":             "gcloud artifacts repositories create r --repository-format=docker --location=us --project=p",
		"us-docker.pkg.dev/example.com/p/r/base-cpu": "gcloud artifacts repositories create r --repository-format=docker --location=us --project=example.com:p",
		"docker.io/me/base-cpu":                      "",
		"us-docker.pkg.dev/base-cpu":                 "",
	} {
		if got := creation(repository); got != want {
			t.Errorf("%s: %q, want %q", repository, got, want)
		}
	}
}

// TestProgress shows what is done for each category.
func TestProgress(t *testing.T) {
	var out strings.Builder
	p := newProgress(ui.NewStyled(&out, clock.RealClock{}.Now, ui.Style{Redraw: true, Columns: 200}), []string{"cpu", "gpu"})
	p.step("gpu", "resolving")
	p.step("cpu", "done")
	if got := p.text(); got != "cpu: done; gpu: resolving" {
		t.Errorf("shows %q", got)
	}
	p.done()
}
