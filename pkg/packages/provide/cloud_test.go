package provide_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
)

const artifactRegistry = "europe-docker.pkg.dev/acme/kn-research/env"

// newCloudWorld is a world in a project with Cloud Build, whose builds follow a script.
func newCloudWorld(t *testing.T, script ...cloudbuildtest.Event) *world {
	t.Helper()
	w := newWorld(t)
	w.cloud = cloudbuildtest.New(t, cloudbuild.PlaceOf("acme", "europe-west4", "research"), script...)
	w.cloud.Transport = w.transport()
	return w
}

// cloudPlan is the plan of a project whose images are in Artifact Registry.
func (w *world) cloudPlan(requirements string, change ...func(*decide.Input)) decide.Plan {
	w.t.Helper()
	return w.plan(requirements, append([]func(*decide.Input){func(in *decide.Input) { in.ImageRepo = artifactRegistry }}, change...)...)
}

func builder(name string) func(*decide.Input) {
	return func(in *decide.Input) { in.Builder = name }
}

// built returns the only build.
func (w *world) built() *cloudbuildtest.Build {
	w.t.Helper()
	builds := w.cloud.Builds()
	if len(builds) != 1 {
		w.t.Fatalf("%d builds, want one", len(builds))
	}
	return builds[0]
}

const fromGit = "ours @ git+https://git.example/ours@v1\n"

// TestCloudBuild: a package without a wheel is built there, and what is made is used by the next job.
func TestCloudBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Queued, cloudbuildtest.Works, cloudbuildtest.Logs("Step 1\n"), cloudbuildtest.Pushes)
	plan := w.cloudPlan(fromGit + "six>=1\n--index-url https://index.example/simple\n--pre\n")
	done := w.mustProvide(plan)
	b := w.built()
	if b.Image() != plan.Image || done.Image != plan.Image || done.Plan.Mode != decide.Bundled || done.Phase != "image" || !strings.HasPrefix(done.Detail, "built in Cloud Build, ") {
		t.Errorf("provided %+v, built %s", done, b.Image())
	}
	if done.Builder != decide.BuilderCloudBuild {
		t.Errorf("built by %s", done.Builder)
	}
	if want := strings.TrimSpace(string(b.Results.BuildStepOutputs[0])); !slices.Equal(done.Digests, []string{want}) {
		t.Errorf("digests %q, want %s", done.Digests, want)
	}
	if want := "--index-url https://index.example/simple\n--pre\nours @ git+https://git.example/ours@v1\nsix>=1\n"; b.Files["requirements.txt"] != want {
		t.Errorf("requirements\n%s\nwant\n%s", b.Files["requirements.txt"], want)
	}
	if d := b.Files["Dockerfile"]; !strings.Contains(d, "build-essential") || !strings.Contains(d, "git") || !strings.Contains(d, "FROM "+w.base()) {
		t.Errorf("Dockerfile\n%s", d)
	}
	for _, want := range []string{"Cloud Build makes it: " + b.LogUrl + "\n", "waiting for a machine of Cloud Build\n", "Step 1\n"} {
		if !strings.Contains(w.shown.String(), want) {
			t.Errorf("shown\n%s\nwant %q in it", &w.shown, want)
		}
	}
	if again := w.mustProvide(plan); len(w.cloud.Builds()) != 1 || !slices.Equal(again.Digests, done.Digests) || again.Phase != "" {
		t.Errorf("the next job: %+v, %d builds", again, len(w.cloud.Builds()))
	}
}

// TestWhatIsBuilt tests which Dockerfile and which requirements a plan gives.
func TestWhatIsBuilt(t *testing.T) {
	known := func(in *decide.Input) { in.BaseImage, in.Images.Python = "", "3.12" }
	for name, tt := range map[string]struct {
		text   string
		change []func(*decide.Input)
		want   []string // in the Dockerfile
		not    string
		lines  string
	}{
		"a base of the table":  {fromGit, []func(*decide.Input){known}, []string{"uv pip install", "FROM python:3.12-slim-bookworm"}, "-m pip", fromGit},
		"a base of the user's": {fromGit, nil, []string{"/usr/local/bin/python3.12 -m pip --python", "build-essential"}, "uv", fromGit},
		"the runtime": {fromGit, []func(*decide.Input){known, func(in *decide.Input) { in.Accelerator.Kind, in.Runtime = api.TPU, "jax" }}, nil, "-m pip",
			"--find-links https://storage.googleapis.com/jax-releases/libtpu_releases.html\n" + fromGit + "jax[tpu]>=0.4.6\nkeras\n"},
		"hashes of an index that can't be reached": {"six==1.0 --hash=sha256:" + strings.Repeat("a", 64) + "\n--index-url http://127.0.0.1:1/simple\n", []func(*decide.Input){known, builder("cloudbuild")}, []string{"--require-hashes"}, "-m pip",
			"--index-url http://127.0.0.1:1/simple\nsix==1.0 --hash=sha256:" + strings.Repeat("a", 64) + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCloudWorld(t, cloudbuildtest.Pushes)
			w.mustProvide(w.cloudPlan(tt.text, tt.change...))
			b := w.built()
			for _, want := range tt.want {
				if !strings.Contains(b.Files["Dockerfile"], want) {
					t.Errorf("Dockerfile\n%s\nwant %q in it", b.Files["Dockerfile"], want)
				}
			}
			if strings.Contains(b.Files["Dockerfile"], tt.not) {
				t.Errorf("Dockerfile\n%s\nwant no %q in it", b.Files["Dockerfile"], tt.not)
			}
			if b.Files["requirements.txt"] != tt.lines {
				t.Errorf("requirements\n%s\nwant\n%s", b.Files["requirements.txt"], tt.lines)
			}
		})
	}
}

// TestConstraints: they are a file of their own.
func TestConstraints(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	plan := w.cloudPlan(fromGit)
	plan.Wanted.Constraints = append(plan.Wanted.Constraints, plan.Wanted.Requirements[0])
	plan.Wanted.Constraints[0].Text = "six<2"
	w.mustProvide(plan)
	if got := w.built().Files["constraints.txt"]; got != "six<2\n" || !strings.Contains(w.built().Files["Dockerfile"], "-c /source/constraints.txt") {
		t.Errorf("constraints %q", got)
	}
}

// TestBuilders tests who makes an image that this machine could make, and one that it could not.
func TestBuilders(t *testing.T) {
	limited := func(in *decide.Input) { in.UploadLimit = 1 }
	for name, tt := range map[string]struct {
		change  []func(*decide.Input)
		noWheel bool
		builds  int
		mode    decide.Mode
	}{
		"auto":                             {nil, false, 0, decide.Bundled},
		"auto, no wheel":                   {nil, true, 1, decide.Bundled},
		"auto, more than the limit":        {[]func(*decide.Input){limited}, false, 1, decide.Bundled},
		"client":                           {[]func(*decide.Input){builder("client")}, false, 0, decide.Bundled},
		"client, no wheel":                 {[]func(*decide.Input){builder("client")}, true, 0, decide.Prebuilt},
		"client, more than the limit":      {[]func(*decide.Input){builder("client"), limited}, false, 0, decide.Prebuilt},
		"cloudbuild":                       {[]func(*decide.Input){builder("cloudbuild")}, false, 1, decide.Bundled},
		"cloudbuild, no wheel":             {[]func(*decide.Input){builder("cloudbuild")}, true, 1, decide.Bundled},
		"auto, no wheel, another registry": {[]func(*decide.Input){elsewhere}, true, 0, decide.Prebuilt},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCloudWorld(t, cloudbuildtest.Pushes)
			text := w.locked(w.wheel("six", "1.0", "x = 1"))
			if tt.noWheel {
				text = fromGit
			}
			plan := w.cloudPlan(text, tt.change...)
			if plan.Repository == "" {
				t.Fatalf("plan %+v", plan)
			}
			done := w.mustProvide(plan)
			if len(w.cloud.Builds()) != tt.builds || done.Plan.Mode != tt.mode {
				t.Errorf("%d builds, %s (%s), want %d, %s", len(w.cloud.Builds()), done.Plan.Mode, done.Plan.Why, tt.builds, tt.mode)
			}
			if tt.builds > 0 && strings.Contains(w.built().Files["Dockerfile"], "build-essential") != tt.noWheel {
				t.Errorf("Dockerfile\n%s\nwant a compiler: %v", w.built().Files["Dockerfile"], tt.noWheel)
			}
		})
	}
}

// elsewhere has images put where the base is, which is not Artifact Registry.
func elsewhere(in *decide.Input) {
	in.ImageRepo = strings.Replace(in.BaseImage, "/base:1", "/acme/env", 1)
}

// TestALockInCloudBuild: Cloud Build installs what the lock names, who ever asked for it.
func TestALockInCloudBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	text := fmt.Sprintf("lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1.0\"\n"+
		"wheels = [{name = \"six-1.0-py3-none-any.whl\", url = \"%s/files/six-1.0-py3-none-any.whl\", hashes = {sha256 = %q}}]\n", w.index.URL, strings.Repeat("a", 64))
	w.mustProvide(w.planOf("pylock.toml", text, func(in *decide.Input) { in.ImageRepo = artifactRegistry }, builder("cloudbuild")))
	b := w.built()
	if want := "six @ " + w.index.URL + "/files/six-1.0-py3-none-any.whl#sha256=" + strings.Repeat("a", 64) + "\n"; b.Files["requirements.txt"] != want {
		t.Errorf("requirements %q, want %q", b.Files["requirements.txt"], want)
	}
	if !strings.Contains(b.Files["Dockerfile"], "--no-deps") {
		t.Errorf("Dockerfile\n%s\nwant --no-deps in it", b.Files["Dockerfile"])
	}
}

// TestFilesNotInCloudBuild: a lock may name files of the project, which Cloud Build does not get.
func TestFilesNotInCloudBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	w.wheel("six", "1.0", "x = 1")
	data := w.files["six-1.0-py3-none-any.whl"]
	root := t.TempDir()
	w.must(os.WriteFile(filepath.Join(root, "six-1.0-py3-none-any.whl"), data, 0o600))
	text := fmt.Sprintf("lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1.0\"\n"+
		"wheels = [{path = \"six-1.0-py3-none-any.whl\", hashes = {sha256 = %q}}]\n[[packages]]\nname = \"ours\"\nvcs = {type = \"git\", url = \"https://git.example/ours\", commit-id = \"abc\"}\n", sum(data))
	plan := w.planOf("pylock.toml", text, bundled, func(in *decide.Input) { in.ImageRepo, in.Root, in.Wanted.Dir = artifactRegistry, root, root })
	_, err := w.provide(plan)
	var cloud *provide.CloudError
	if !errors.As(err, &cloud) || !cloud.Lasting() || !strings.Contains(err.Error(), "six-1.0-py3-none-any.whl (package six of pylock.toml)") {
		t.Errorf("error %v", err)
	}
	if got := w.cloud.Called("CreateBuild"); len(got) > 0 {
		t.Errorf("calls %q", got)
	}
}

// TestNotInCloudBuild: what Cloud Build would lack, the pod has; where that was not wanted, it is an
// error with the way out.
func TestNotInCloudBuild(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"credentials": {fromGit + "--index-url https://me:secret@index.example/simple\n", "index.example need credentials, which everyone with access to the build would see: use --image prebuilt"},
		"a signature": {fromGit + "x @ https://files.example/x.tar.gz?sig=abc\n", "has credentials, which everyone with access to the build would see: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCloudWorld(t, cloudbuildtest.Pushes)
			_, err := w.provide(w.cloudPlan(tt.text, bundled))
			var cloud *provide.CloudError
			if !errors.As(err, &cloud) || !cloud.Lasting() || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "abc") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			done, err := w.provide(w.cloudPlan(tt.text))
			if name == "a signature" { // which the pod would lack, too
				if err == nil || !strings.Contains(err.Error(), "has a secret") || strings.Contains(err.Error(), "abc") {
					t.Errorf("in the pod: %v", err)
				}
			} else if err != nil || done.Plan.Mode != decide.Prebuilt || !strings.Contains(done.Plan.Why, tt.want) {
				t.Errorf("provided %+v, %v", done, err)
			}
			if got := w.cloud.Called("ListBuilds", "CreateBuild"); len(got) > 0 {
				t.Errorf("calls %q", got)
			}
		})
	}
}

// TestNetrcInCloudBuild: a repository that .netrc has credentials for may be public all the same, so it is
// built there only if somebody asks for that.
func TestNetrcInCloudBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Pushes)
	netrc := filepath.Join(t.TempDir(), "netrc")
	w.must(os.WriteFile(netrc, []byte("machine git.example login me password hush\n"), 0o600))
	w.environ = []string{"NETRC=" + netrc}
	done := w.mustProvide(w.cloudPlan(fromGit))
	if want := "the packages of git.example may need the credentials in ~/.netrc, which Cloud Build does not get; to try without them, use --image bundled"; done.Plan.Mode != decide.Prebuilt || !strings.Contains(done.Plan.Why, want) || done.Netrc == "" {
		t.Errorf("provided %+v, want %q", done, want)
	}
	if got := w.cloud.Called("CreateBuild"); len(got) > 0 {
		t.Errorf("calls %q", got)
	}
	w.mustProvide(w.cloudPlan(fromGit, bundled))
	for name, text := range w.built().Files {
		if strings.Contains(text, "hush") {
			t.Errorf("%s has the credentials:\n%s", name, text)
		}
	}
}

// TestCloudBuildUnusable: without the API or the permission, the pod installs the packages, which one
// line says; where an image was asked for, the error names what is missing.
func TestCloudBuildUnusable(t *testing.T) {
	disabled, err := status.New(codes.PermissionDenied, "it is disabled").WithDetails(&errdetails.ErrorInfo{
		Reason: "SERVICE_DISABLED", Domain: "googleapis.com", Metadata: map[string]string{"service": "cloudbuild.googleapis.com", "consumer": "projects/1"}})
	if err != nil {
		t.Fatal(err)
	}
	for want, answer := range map[string]error{
		"the API cloudbuild.googleapis.com is not enabled in project acme":                         disabled.Err(),
		"the account in use needs the permission cloudbuild.builds.create in project acme: denied": status.Error(codes.PermissionDenied, "denied"),
	} {
		w := newCloudWorld(t)
		w.cloud.Fail("CreateBuild", answer, answer)
		done := w.mustProvide(w.cloudPlan(fromGit))
		if why := done.Plan.Why; done.Plan.Mode != decide.Prebuilt || !strings.Contains(why, "ours") || !strings.Contains(why, want) || strings.Contains(why, "\n") {
			t.Errorf("provided %+v", done)
		}
		_, err := w.provide(w.cloudPlan(fromGit, bundled))
		var cloud *provide.CloudError
		if !errors.As(err, &cloud) || !cloud.Lasting() || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestCloudBuildDown: an error that passes is no reason for another way.
func TestCloudBuildDown(t *testing.T) {
	w := newCloudWorld(t)
	down := status.Error(codes.Unavailable, "down")
	w.cloud.Fail("CreateBuild", down, down, down)
	_, err := w.provide(w.cloudPlan(fromGit))
	var cloud *provide.CloudError
	if !errors.As(err, &cloud) || cloud.Lasting() || cloud.Running.Name != "" || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("error %v", err)
	}
}

// TestBuildFails: the lines that explain it, and no other way.
func TestBuildFails(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Logs("ERROR: No matching distribution found for ours\n"), cloudbuildtest.Ends(cloudbuildpb.Build_FAILURE))
	_, err := w.provide(w.cloudPlan(fromGit))
	var ended *cloudbuild.FailedError
	var cloud *provide.CloudError
	if !errors.As(err, &cloud) || cloud.Lasting() || cloud.Running.Name != "" || !errors.As(err, &ended) ||
		!strings.HasPrefix(err.Error(), "building ") || !strings.Contains(err.Error(), "No matching distribution found for ours") {
		t.Errorf("error %v", err)
	}
}

// TestAJoinedBuild: someone else needs the same image at the same time.
func TestAJoinedBuild(t *testing.T) {
	w := newCloudWorld(t, cloudbuildtest.Works, cloudbuildtest.Logs("Step 1\n"), cloudbuildtest.Works, cloudbuildtest.Works, cloudbuildtest.Works, cloudbuildtest.Pushes)
	plan := w.cloudPlan(fromGit)
	ctx, cancel := context.WithCancel(t.Context())
	questions := 0
	w.cloud.Asked(func(string) {
		if questions++; questions == 3 {
			cancel()
		}
	})
	_, err := w.provideIn(ctx, plan)
	var cloud *provide.CloudError
	if !errors.As(err, &cloud) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	b := w.built()
	for _, want := range []string{"the build of " + plan.Image + " is still running", b.LogUrl, "gcloud builds cancel " + b.Id + " --project=acme --region=europe-west4"} {
		if !strings.Contains(cloud.Going(), want) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q in it", err, want)
		}
	}
	w.cloud.Asked(nil)
	done := w.mustProvide(plan)
	if len(w.cloud.Builds()) != 1 || !strings.HasPrefix(done.Detail, "built in Cloud Build by someone else, ") || len(done.Digests) != 1 {
		t.Errorf("provided %+v", done)
	}
	if !strings.Contains(w.shown.String(), "Cloud Build is making it already: "+b.LogUrl) || !strings.Contains(w.shown.String(), "Step 1\n") {
		t.Errorf("shown\n%s", &w.shown)
	}
	if calls := w.cloud.Called("CancelBuild"); len(calls) > 0 {
		t.Errorf("calls %q", calls)
	}
}

// TestABuildWithoutDigest: then the registry says it, and whether there is an image at all.
func TestABuildWithoutDigest(t *testing.T) {
	silent := func(s *cloudbuildtest.Service, b *cloudbuildtest.Build) {
		cloudbuildtest.Pushes(s, b)
		b.Results = nil
	}
	w := newCloudWorld(t, silent)
	plan := w.cloudPlan(fromGit)
	done := w.mustProvide(plan)
	if heads := w.did("HEAD /v2/acme/kn-research/env/manifests/" + plan.Tag); len(heads) < 2 || len(done.Digests) != 1 || !strings.HasPrefix(done.Digests[0], "sha256:") {
		t.Errorf("digests %q after %q", done.Digests, heads)
	}
	w = newCloudWorld(t, cloudbuildtest.Ends(cloudbuildpb.Build_SUCCESS))
	if done, err := w.provide(w.cloudPlan(fromGit)); err == nil || !strings.Contains(err.Error(), "there is no image "+artifactRegistry) {
		t.Errorf("provided %+v, %v", done, err)
	}
}

// basePlan is the plan of an image that others are made on.
func (w *world) basePlan(in decide.Input) decide.Plan {
	w.t.Helper()
	in.BaseImage, in.ImageRepo = w.base(), cmp.Or(in.ImageRepo, w.host()+"/acme")
	p, err := decide.NewBase(in, "v1")
	w.must(err)
	return p
}
