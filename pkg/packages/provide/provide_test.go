package provide_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestBundled(t *testing.T) {
	w := newWorld(t)
	plan := w.plan(w.locked(w.wheel("six", "1.0", "x = 1"), w.wheel("attrs", "2.0", "y = 1")))
	first := w.mustProvide(plan)
	if first.Image != plan.Image || len(first.Digests) != 1 || len(first.Wheels) != 2 || first.SHA256 != "" {
		t.Errorf("provided %+v", first)
	}
	ref, err := name.ParseReference(first.Image)
	w.must(err)
	made, err := remote.Image(ref)
	w.must(err)
	if digest, err := made.Digest(); err != nil || digest.String() != first.Digests[0] {
		t.Errorf("the tag has %s, want %s; %v", digest, first.Digests[0], err)
	}

	if got := w.logins(); got != 4 {
		t.Errorf("%d logins, want one to read from each of the two repositories, one to write, and one to mount", got)
	}

	again := w.mustProvide(plan)
	if got := w.did(""); len(got) != 1 || !strings.HasPrefix(got[0], "HEAD ") {
		t.Errorf("an image that is there takes %q, want one HEAD", got)
	}
	if !slices.Equal(again.Digests, first.Digests) || again.Phase != "" {
		t.Errorf("provided %+v", again)
	}

	changed := w.plan(w.locked(w.wheel("six", "1.1", "x = 2"), w.wheel("attrs", "2.0", "y = 1")))
	if got := w.mustProvide(changed).Detail; !strings.HasPrefix(got, "2 packages (requirements.txt), 1 new layer, ") {
		t.Errorf("says %q", got)
	}
	if got := w.did("index/files/"); !slices.Equal(got, []string{"GET index/files/six-1.1-py3-none-any.whl"}) {
		t.Errorf("a changed package fetches %q", got)
	}
}

// TestFallback: where images can't be sent, the pod installs the packages; where that was not
// wanted, it is an error.
func TestFallback(t *testing.T) {
	w := newWorld(t)
	text := w.locked(w.wheel("six", "1.0", "x = 1"))
	w.refuse(func(r *http.Request) int {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return http.StatusForbidden
		}
		return 0
	})
	if _, err := w.provide(w.plan(text, bundled)); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("bundled, where nothing may be sent: %v", err)
	}
	memory := image.Memory{Dir: w.memory}
	repository := w.host() + "/acme/env"
	if why := provide.Unwritable(memory, repository, w.now); why != "" {
		t.Errorf("remembered before it mattered: %s", why)
	}
	done := w.mustProvide(w.plan(text))
	if done.Plan.Mode != decide.Prebuilt || done.Image != w.base() || done.SHA256 == "" || !strings.Contains(done.Plan.Why, repository) {
		t.Errorf("provided %+v", done)
	}
	if why := provide.Unwritable(memory, repository, w.now.Add(6*24*time.Hour)); why != "images can't be pushed to "+repository+" (403 Forbidden); to try again, use --image bundled" {
		t.Errorf("remembered for a week: %q", why)
	}
	if why := provide.Unwritable(memory, repository, w.now.Add(8*24*time.Hour)); why != "" {
		t.Errorf("remembered after a week: %s", why)
	}
	w.refuse(nil)
	w.mustProvide(w.plan(text, bundled))
	if why := provide.Unwritable(memory, repository, w.now); why != "" {
		t.Errorf("remembered after an image was sent: %s", why)
	}
}

// TestARegistryThatIsBusy: the pod installs the packages this time. The next run asks again.
func TestARegistryThatIsBusy(t *testing.T) {
	look := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/acme/env/manifests/") }
	base := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/base/") }
	upload := func(r *http.Request) bool { return r.Method == http.MethodPost }
	for name, tt := range map[string]struct {
		status int
		what   func(*http.Request) bool
		want   string
	}{
		"the base, limited":  {http.StatusTooManyRequests, base, "the base image can't be pulled from %s/base (429 Too Many Requests)"},
		"the base, failing":  {http.StatusServiceUnavailable, base, "the base image can't be pulled from %s/base (503 Service Unavailable)"},
		"the look, limited":  {http.StatusTooManyRequests, look, "images can't be pushed to %s/acme/env (429 Too Many Requests)"},
		"the look, failing":  {http.StatusInternalServerError, look, "images can't be pushed to %s/acme/env (500 Internal Server Error)"},
		"an upload, failing": {http.StatusBadGateway, upload, "images can't be pushed to %s/acme/env (502 Bad Gateway)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			text := w.locked(w.wheel("six", "1.0", "x = 1"))
			w.refuseAll(tt.what, tt.status)
			want := fmt.Sprintf(tt.want, w.host())
			if done := w.mustProvide(w.plan(text)); done.Plan.Mode != decide.Prebuilt || !strings.HasPrefix(done.Plan.Why, want) {
				t.Errorf("provided %+v, want %q", done, want)
			}
			var registry *image.RegistryError
			if done, err := w.provide(w.plan(text, bundled)); !errors.As(err, &registry) || registry.Status() != tt.status {
				t.Errorf("where an image was asked for: provided %+v, %v", done, err)
			}
			w.refuse(nil)
			if done := w.mustProvide(w.plan(text)); done.Plan.Mode != decide.Bundled {
				t.Errorf("once it answers: %+v", done)
			}
		})
	}
}

// TestTheBaseStays: a base of the table has the digest that it had first, until newer versions are
// asked for.
func TestTheBaseStays(t *testing.T) {
	w := newWorld(t)
	table := func(in *decide.Input) { in.BaseImage, in.Images.Python = "", "3.12" }
	put := func(base v1.Image) {
		ref, err := name.ParseReference(w.host() + "/library/python:3.12-slim-bookworm")
		w.must(err)
		w.must(remote.Write(ref, base))
	}
	first := func(done decide.Provided) string {
		ref, err := name.ParseReference(strings.Replace(done.Image, "index.docker.io", w.host(), 1))
		w.must(err)
		made, err := remote.Image(ref)
		w.must(err)
		layers, err := made.Layers()
		w.must(err)
		digest, err := layers[0].Digest()
		w.must(err)
		return digest.String()
	}
	put(w.baseOf("1"))
	one := first(w.mustProvide(w.plan(w.locked(w.wheel("six", "1.0", "x = 1")), table)))
	put(w.baseOf("2"))
	if two := first(w.mustProvide(w.plan(w.locked(w.wheel("six", "1.1", "x = 2")), table))); two != one {
		t.Errorf("the base has moved from %s to %s", one, two)
	}
	refresh := func(in *decide.Input) { in.RefreshDeps = true }
	if three := first(w.mustProvide(w.plan(w.locked(w.wheel("six", "1.2", "x = 3")), table, refresh))); three == one {
		t.Error("the base did not move with --refresh-deps")
	}
}

func TestNothingToInstall(t *testing.T) {
	w := newWorld(t)
	if done := w.mustProvide(w.plan("")); done.Image != w.base() || done.SHA256 != "" || len(w.did("")) > 0 {
		t.Errorf("provided %+v with %q", done, w.did(""))
	}
}

func TestCustom(t *testing.T) {
	w := newWorld(t)
	custom := func(image string, change ...func(*decide.Input)) decide.Plan {
		return w.plan("six\n", append(change, func(in *decide.Input) { in.Image = image })...)
	}
	if done := w.mustProvide(custom(w.base())); done.Image != w.base() {
		t.Errorf("provided %+v", done)
	}
	if w.mustProvide(custom(w.base())); len(w.did("")) > 0 {
		t.Errorf("an image that was found is looked for again: %q", w.did(""))
	}
	var unusable *image.UnusableError
	if _, err := w.provide(custom(w.host() + "/none:1")); !errors.As(err, &unusable) {
		t.Errorf("an image that does not exist: %v", err)
	}
	w.mustProvide(custom(w.host()+"/none:1", func(in *decide.Input) { in.NoImageCheck = true }))
	if len(w.did("")) > 0 {
		t.Errorf("checked in spite of --no-image-check: %q", w.did(""))
	}
	arm := func(in *decide.Input) { in.Accelerator.Arch = "arm64" }
	if _, err := w.provide(custom(w.base(), arm)); !errors.As(err, &unusable) || !strings.Contains(err.Error(), "linux/arm64") {
		t.Errorf("an image for another machine: %v", err)
	}
	w.refuse(func(*http.Request) int { return http.StatusForbidden })
	if _, err := w.provide(custom(w.host() + "/private:1")); err != nil {
		t.Errorf("an image that only the nodes may read: %v", err)
	}
}

// TestLookWithoutAResolver: what can't be resolved here is left to the pod, in a dry-run too.
func TestLookWithoutAResolver(t *testing.T) {
	w := newWorld(t)
	w.look = true
	plan := w.plan("six>=1\n--index-url " + w.index.URL + "/simple\n")
	looked := w.mustProvide(plan)
	w.look = false
	if done := w.mustProvide(plan); looked.Plan.Mode != decide.Prebuilt || looked.SHA256 != done.SHA256 {
		t.Errorf("looked %+v, and a run provides %+v", looked, done)
	}
}

// TestLook: a dry-run decides as a run does, and leaves nothing.
func TestLook(t *testing.T) {
	w := newWorld(t)
	w.look = true
	text := w.locked(w.wheel("six", "1.0", "x = 1"))
	plan := w.plan(text)
	if done := w.mustProvide(plan); done.Image != plan.Image {
		t.Errorf("provided %+v", done)
	}
	ref, err := name.ParseReference(plan.Image)
	w.must(err)
	if _, err := remote.Head(ref); err == nil {
		t.Error("a look made the image")
	}
	sha256 := w.mustProvide(w.plan(text, prebuilt)).SHA256
	if _, err := w.store.Open(context.Background(), store.Blob(sha256)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a look stored the list: %v", err)
	}
	w.refuse(func(r *http.Request) int {
		if r.Method == http.MethodPost {
			return http.StatusForbidden
		}
		return 0
	})
	if done := w.mustProvide(plan); done.Plan.Mode != decide.Prebuilt || done.SHA256 != sha256 {
		t.Errorf("provided %+v, want the list %s", done, sha256)
	}
}

// TestOutlook: what has to be built is built where that is possible.
func TestOutlook(t *testing.T) {
	const built, inPod = "Cloud Build makes the image", "the pod installs them"
	for name, tt := range map[string]struct {
		text               string
		change             func(*decide.Input)
		how, why, resolved string
	}{
		"from git":                        {"ours @ git+https://git.example/ours", nil, built, "ours", "Cloud Build"},
		"from git, asked for elsewhere":   {"ours @ git+https://git.example/ours", func(in *decide.Input) { in.Image, in.ImageRepo = "bundled", "ghcr.io/me/env" }, "a run fails", "ours", "nothing"},
		"from git, on Arm":                {"ours @ git+https://git.example/ours", func(in *decide.Input) { in.Accelerator.Arch = "arm64" }, inPod, "ours", "the pod"},
		"from git, elsewhere":             {"ours @ git+https://git.example/ours", func(in *decide.Input) { in.ImageRepo = "ghcr.io/me/env" }, inPod, "ours", "the pod"},
		"from git, never in Cloud Build":  {"ours @ git+https://git.example/ours", func(in *decide.Input) { in.Builder = "client" }, inPod, "ours", "the pod"},
		"on a base that nobody knows yet": {"six", func(in *decide.Input) { in.BaseImage = "me/base:1" }, built, "there is neither uv nor python3", "Cloud Build"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			plan := w.planOf("requirements.txt", tt.text, func(in *decide.Input) {
				in.Images = api.Images{ImageRepo: "us-docker.pkg.dev/acme/kn-c/env"}
				if tt.change != nil {
					tt.change(in)
				}
			})
			maker := &provide.Provider{Images: &image.Client{}, Resolver: resolve.Resolver{LookPath: nowhere},
				Cloud: func(context.Context) (*cloudbuild.Client, error) {
					return nil, errors.New("an outlook contacts nothing")
				}}
			if o := maker.Estimate(t.Context(), plan); !strings.HasPrefix(o.How, tt.how) || !strings.Contains(o.Why, tt.why) || o.Resolved != tt.resolved {
				t.Errorf("the outlook is %+v, want %q because of %q, resolved by %s", o, tt.how, tt.why, tt.resolved)
			}
		})
	}
}

// TestOutlookOfALock: a lock tells offline what its packages take, and whether some have to be built.
func TestOutlookOfALock(t *testing.T) {
	const lock = "lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1.0\"\nwheels = [{name = \"six-1.0-py3-none-any.whl\", url = \"https://h/six-1.0-py3-none-any.whl\", size = 629145600, hashes = {sha256 = \"%s\"}}]\n"
	const git = "[[packages]]\nname = \"ours\"\nvcs = {type = \"git\", url = \"https://git.example/ours\", commit-id = \"abc\"}\n"
	wheels := fmt.Sprintf(lock, strings.Repeat("a", 64))
	elsewhere := func(in *decide.Input) { in.ImageRepo = "ghcr.io/me/env" }
	for name, tt := range map[string]struct {
		text   string
		change func(*decide.Input)
		want   string
	}{
		"too large to send":            {wheels, nil, "this machine makes the image, unless it is there; if more than 512 MiB (--image-upload-limit) have to be sent, Cloud Build makes the image"},
		"too large to send, elsewhere": {wheels, elsewhere, "this machine makes the image, unless it is there; if more than 512 MiB (--image-upload-limit) have to be sent, the pod installs them"},
		"with a higher limit":          {wheels, func(in *decide.Input) { in.UploadLimit = 1 << 30 }, "this machine makes the image, unless it is there, and sends at most 1.0 GiB"},
		"of an unknown size":           {strings.Replace(wheels, ", size = 629145600", "", 1), nil, "this machine makes the image, unless it is there; if more than 512 MiB (--image-upload-limit) have to be sent, Cloud Build makes the image"},
		"of an unknown size, here":     {strings.Replace(wheels, ", size = 629145600", "", 1), func(in *decide.Input) { in.Image, in.Builder = "bundled", "client" }, "this machine makes the image, unless it is there; if more than 512 MiB (--image-upload-limit) have to be sent, a run fails"},
		"from git":                     {wheels + git, nil, "Cloud Build makes the image, unless it is there: some have no wheel"},
		"from git, elsewhere":          {wheels + git, elsewhere, "the pod installs them, unless the image is there: some have no wheel"},
	} {
		w := newWorld(t)
		plan := w.planOf("pylock.toml", tt.text, func(in *decide.Input) {
			in.BaseImage, in.Images.Python, in.ImageRepo = "", "3.12", artifactRegistry
			if tt.change != nil {
				tt.change(in)
			}
		})
		maker := &provide.Provider{Images: &image.Client{}, Resolver: resolve.Resolver{LookPath: nowhere},
			Cloud: func(context.Context) (*cloudbuild.Client, error) {
				return nil, errors.New("an outlook contacts nothing")
			}}
		if o := maker.Estimate(t.Context(), plan); o.How != tt.want {
			t.Errorf("%s: %q, want %q", name, o.How, tt.want)
		}
	}
}

// TestOutlookNamesVersions: what a run has chosen is known afterwards, also for a lock of an index.
func TestOutlookNamesVersions(t *testing.T) {
	w := newWorld(t)
	plan := w.plan(w.locked(w.wheel("six", "1.0", "x = 1"), w.wheel("attrs", "2.0", "")))
	maker := &provide.Provider{Images: &image.Client{Memory: image.Memory{Dir: w.memory}}, Resolver: resolve.Resolver{LookPath: nowhere}}
	if o := maker.Estimate(t.Context(), plan); len(o.Wheels) > 0 {
		t.Errorf("before the first run it names %v", o.Wheels)
	}
	w.mustProvide(plan)
	o := maker.Estimate(t.Context(), plan)
	if len(o.Wheels) != 2 || o.Wheels[0].File != "attrs-2.0-py3-none-any.whl" || o.Resolved != "requirements.txt" {
		t.Errorf("after it, the outlook is %+v", o)
	}
}

// TestLostImage: an image that a node could not pull whole is made again, once.
func TestLostImage(t *testing.T) {
	w := newWorld(t)
	plan := w.plan(w.locked(w.wheel("six", "1.0", "x = 1"), w.wheel("attrs", "2.0", "y = 1")))
	first := w.mustProvide(plan)
	ref, err := name.ParseReference(first.Image)
	w.must(err)
	made, err := remote.Image(ref)
	w.must(err)
	layers, err := made.Layers()
	w.must(err)
	lost, err := layers[len(layers)-1].Digest()
	w.must(err)
	request, err := http.NewRequest(http.MethodDelete, w.registry.URL+"/v2/acme/env/blobs/"+lost.String(), nil)
	w.must(err)
	answer, err := http.DefaultClient.Do(request)
	w.must(err)
	w.must(answer.Body.Close())
	if err := validate.Image(made); err == nil {
		t.Fatal("the registry has lost nothing")
	}

	w.mustProvide(plan)
	if got := w.did(""); len(got) != 1 {
		t.Errorf("nobody has missed anything yet, and it takes %q", got)
	}
	provide.Lost(image.Memory{Dir: w.memory}, plan.Image)
	again := w.mustProvide(plan)
	if again.Digests[0] != first.Digests[0] || !strings.Contains(again.Detail, "1 new layer, ") || !strings.Contains(again.Detail, "had lost a part") {
		t.Errorf("provided %+v, want %s", again, first.Digests[0])
	}
	if made, err = remote.Image(ref); err == nil {
		err = validate.Image(made)
	}
	w.must(err)
	w.mustProvide(plan)
	if got := w.did(""); len(got) != 1 {
		t.Errorf("once it was made again, it takes %q", got)
	}
}

// TestNoRepository: it can be created at any time, so that it is missing is not remembered.
func TestNoRepository(t *testing.T) {
	w := newWorld(t)
	w.refuse(func(r *http.Request) int {
		if strings.Contains(r.URL.Path, "/acme/env/") {
			return http.StatusNotFound
		}
		return 0
	})
	text := w.locked(w.wheel("six", "1.0", "x = 1"))
	done := w.mustProvide(w.plan(text))
	if why := "images can't be pushed to " + w.host() + "/acme/env (404 Not Found): create the repository, or name another with --image-repo"; done.Plan.Why != why {
		t.Errorf("prebuilt because %q, want %q", done.Plan.Why, why)
	}
	if why := provide.Unwritable(image.Memory{Dir: w.memory}, w.host()+"/acme/env", w.now); why != "" {
		t.Errorf("remembered: %s", why)
	}
	w.refuse(nil)
	if done := w.mustProvide(w.plan(text)); done.Plan.Mode != decide.Bundled {
		t.Errorf("once the repository was created: %+v", done)
	}
}
