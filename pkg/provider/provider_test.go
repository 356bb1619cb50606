package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cloudbuild"
	"github.com/kubectl-kinetic/kinetic/pkg/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/environment"
	"github.com/kubectl-kinetic/kinetic/pkg/image"
	"github.com/kubectl-kinetic/kinetic/pkg/provider"
	"github.com/kubectl-kinetic/kinetic/pkg/resolver"
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
	w.deny = func(r *http.Request) int {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return http.StatusForbidden
		}
		return 0
	}
	if _, err := w.provide(w.plan(text, bundled)); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("bundled, where nothing may be sent: %v", err)
	}
	memory := image.Memory{Dir: w.memory}
	repository := w.host() + "/acme/env"
	if why := provider.Unwritable(memory, repository, w.now); why != "" {
		t.Errorf("remembered before it mattered: %s", why)
	}
	done := w.mustProvide(w.plan(text))
	if done.Plan.Mode != environment.Prebuilt || done.Image != w.base() || done.SHA256 == "" || !strings.Contains(done.Plan.Why, repository) {
		t.Errorf("provided %+v", done)
	}
	if why := provider.Unwritable(memory, repository, w.now.Add(6*24*time.Hour)); why != "images can't be sent to "+repository+" (403 Forbidden); --image bundled tries again" {
		t.Errorf("remembered for a week: %q", why)
	}
	if why := provider.Unwritable(memory, repository, w.now.Add(8*24*time.Hour)); why != "" {
		t.Errorf("remembered after a week: %s", why)
	}
	w.deny = nil
	w.mustProvide(w.plan(text, bundled))
	if why := provider.Unwritable(memory, repository, w.now); why != "" {
		t.Errorf("remembered after an image was sent: %s", why)
	}
}

// TestARegistryThatFails: an error that passes is no reason for another way.
func TestARegistryThatFails(t *testing.T) {
	w := newWorld(t)
	plan := w.plan(w.locked(w.wheel("six", "1.0", "x = 1")))
	w.deny = func(*http.Request) int { return http.StatusInternalServerError }
	var registry *image.RegistryError
	if done, err := w.provide(plan); !errors.As(err, &registry) {
		t.Errorf("provided %+v, %v", done, err)
	}
}

func TestPrebuilt(t *testing.T) {
	w := newWorld(t)
	plan := w.plan(w.locked(w.wheel("six", "1.0", "x = 1"), w.wheel("attrs", "2.0", "y = 1")), prebuilt)
	first := w.mustProvide(plan)
	if first.Image != w.base() || len(w.did("PUT")) > 0 {
		t.Errorf("provided %+v with %q", first, w.did("PUT"))
	}
	d := w.document(first.SHA256)
	if d.Python != "3.12" || len(d.Wheels) != 2 || len(d.Requirements) != 0 {
		t.Errorf("document %+v", d)
	}
	for _, wheel := range d.Wheels {
		r, err := w.store.Open(context.Background(), store.Blob(wheel.SHA256))
		w.must(err)
		data, err := io.ReadAll(r)
		w.must(errors.Join(err, r.Close()))
		if !bytes.Equal(data, w.files[wheel.File]) || wheel.URL != "" {
			t.Errorf("%+v has %d bytes, want %d", wheel, len(data), len(w.files[wheel.File]))
		}
	}
	again := w.mustProvide(plan)
	if again.SHA256 != first.SHA256 || len(w.did("index/files/")) > 0 || again.Phase != "" {
		t.Errorf("again: %+v with %q", again, w.did("index"))
	}
	w.sizeless = true
	plan = w.plan(w.locked(w.wheel("lxml", "1.0", "x = 1")), prebuilt)
	first = w.mustProvide(plan)
	if again = w.mustProvide(plan); again.SHA256 != first.SHA256 || len(w.did("index/files/")) > 0 || again.Phase != "" {
		t.Errorf("again, from an index that tells no sizes: %+v with %q", again, w.did("index"))
	}
	w.sizeless = false
	limited := w.plan(w.locked(w.wheel("big", "1.0", "z = 1")), prebuilt, func(in *environment.Input) { in.UploadLimit = 1 })
	d = w.document(w.mustProvide(limited).SHA256)
	if len(d.Wheels) != 1 || d.Wheels[0].URL != w.index.URL+"/files/big-1.0-py3-none-any.whl" || len(w.did("index/files/")) > 0 {
		t.Errorf("what is more than the limit: %+v with %q", d, w.did("index"))
	}
	w.sizeless = true
	limited = w.plan(w.locked(w.wheel("huge", "1.0", "z = 3")), prebuilt, func(in *environment.Input) { in.UploadLimit = 1 })
	d = w.document(w.mustProvide(limited).SHA256)
	if got := w.did("index/files/"); len(d.Wheels) != 1 || d.Wheels[0].URL == "" || !slices.Equal(got, []string{"HEAD index/files/huge-1.0-py3-none-any.whl"}) {
		t.Errorf("what is more than the limit, from an index that tells no sizes: %+v with %q", d, got)
	}
	w.sizeless = false
	private := strings.Replace(w.locked(w.wheel("bigger", "1.0", "z = 2")), "://", "://me:hush@", 1)
	limited = w.plan(private, prebuilt, func(in *environment.Input) { in.UploadLimit = 1 })
	d = w.document(w.mustProvide(limited).SHA256)
	if len(d.Wheels) != 1 || d.Wheels[0].URL != "" || len(w.did("index/files/")) != 1 {
		t.Errorf("what is more than the limit, and the pod can't fetch: %+v with %q", d, w.did("index"))
	}
}

// TestUnpinned: without a resolver here the pod resolves, and later jobs get what it chose.
func TestUnpinned(t *testing.T) {
	w := newWorld(t)
	text := "six>=1\n--index-url " + strings.Replace(w.index.URL, "://", "://me:secret@", 1) + "/simple\n"
	plan := w.plan(text)
	first := w.mustProvide(plan)
	if len(first.Warnings) != 1 || !strings.HasPrefix(first.Warnings[0], "requirements.txt has credentials") {
		t.Errorf("warnings %q", first.Warnings)
	}
	d := w.document(first.SHA256)
	if first.Plan.Mode != environment.Prebuilt || len(d.Wheels) != 0 || !slices.Equal(d.Requirements, []string{"six>=1"}) || !slices.Equal(d.Options, []string{"--index-url " + w.index.URL + "/simple"}) {
		t.Errorf("provided %+v, document %+v", first, d)
	}
	if !strings.Contains(first.Netrc, "login me") || !strings.Contains(first.Netrc, "password secret") {
		t.Errorf("the pod gets the credentials %q", first.Netrc)
	}
	if second := w.mustProvide(plan); second.SHA256 != first.SHA256 {
		t.Errorf("before the pod has chosen: %+v", second)
	}
	data := []byte("a wheel")
	putBlob := func() {
		_, err := w.store.PutBlob(context.Background(), sum(data), int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
		w.must(err)
	}
	putBlob()
	chosen := fmt.Sprintf(`{"version":1,"python":"3.12","wheels":[{"file":"six-1.0-py3-none-any.whl","sha256":%q,"size":7}]}`, sum(data))
	w.must(w.store.Create(context.Background(), store.Environment("job-1"), strings.NewReader(chosen), nil))
	third := w.mustProvide(plan)
	if d = w.document(third.SHA256); len(d.Wheels) != 1 || d.Wheels[0].SHA256 != sum(data) || third.Netrc != "" {
		t.Errorf("after the pod has chosen: %+v", d)
	}
	w.must(w.store.Delete(context.Background(), store.Environment("job-1")))
	if fourth := w.mustProvide(plan); fourth.SHA256 != third.SHA256 {
		t.Errorf("after the job was deleted: %+v", fourth)
	}
	w.must(w.store.Delete(context.Background(), store.Blob(sum(data))))
	if again := w.mustProvide(plan); again.SHA256 != first.SHA256 {
		t.Errorf("after the store has lost a wheel: %+v", again)
	}
	putBlob()
	w.must(w.store.Create(context.Background(), store.Environment("job-1"), strings.NewReader(chosen), nil))
	if again := w.mustProvide(plan); again.SHA256 != third.SHA256 {
		t.Errorf("after the pod has chosen again: %+v", again)
	}
	refreshed := w.plan(text, func(in *environment.Input) { in.RefreshDeps = true })
	if fifth := w.mustProvide(refreshed); fifth.SHA256 != first.SHA256 {
		t.Errorf("with --refresh-deps: %+v", w.document(fifth.SHA256))
	}
	w.must(w.store.Delete(context.Background(), store.Environment("job-1")))
	data = []byte("a newer wheel")
	putBlob()
	chosen = fmt.Sprintf(`{"version":1,"python":"3.12","wheels":[{"file":"six-2.0-py3-none-any.whl","sha256":%q,"size":13}]}`, sum(data))
	w.must(w.store.Create(context.Background(), store.Environment("job-1"), strings.NewReader(chosen), nil))
	if d = w.document(w.mustProvide(plan).SHA256); len(d.Wheels) != 1 || d.Wheels[0].SHA256 != sum(data) {
		t.Errorf("after the pod has chosen newer ones: %+v", d)
	}
	if _, err := w.provide(w.plan(text, bundled)); err == nil || !strings.Contains(err.Error(), "uv") {
		t.Errorf("bundled, without a resolver: %v", err)
	}
}

// TestFilesOfRequirements: the pod gets their paths, and what stands beside them.
func TestFilesOfRequirements(t *testing.T) {
	w := newWorld(t)
	root := t.TempDir()
	w.must(os.WriteFile(filepath.Join(root, "ours-1-py3-none-any.whl"), []byte("zip"), 0o600))
	text := "./ours-1-py3-none-any.whl[gpu] ; python_version > '3'\n"
	w.must(os.WriteFile(filepath.Join(root, "requirements.txt"), []byte(text), 0o600))
	wanted, err := deps.Find(deps.Options{Root: root, EntryDir: root, Cwd: root, Home: root})
	w.must(err)
	plan := w.plan("", prebuilt, func(in *environment.Input) { in.Root, in.Wanted = root, wanted })
	if d := w.document(w.mustProvide(plan).SHA256); !slices.Equal(d.Requirements, []string{strings.TrimSpace(text)}) {
		t.Errorf("the pod gets %q, want %q", d.Requirements, text)
	}
}

// TestCredentialsOfURLs: the pod gets those of requirements apart from them.
func TestCredentialsOfURLs(t *testing.T) {
	w := newWorld(t)
	plan := w.plan("a @ git+https://${TOKEN}@git.example/a@v1\nb @ https://me:hush@files.example/b.tar.gz\nc @ git+ssh://git@git.example/c\n", prebuilt)
	if _, err := w.provide(plan); err == nil || !strings.Contains(err.Error(), "requirements.txt:1: ") || !strings.Contains(err.Error(), "TOKEN is not set") {
		t.Errorf("without the variable: %v", err)
	}
	w.environ = []string{"TOKEN=hush"}
	done := w.mustProvide(plan)
	d := w.document(done.SHA256)
	if want := []string{"a @ git+https://git.example/a@v1", "b @ https://files.example/b.tar.gz", "c @ git+ssh://git@git.example/c"}; !slices.Equal(d.Requirements, want) {
		t.Errorf("the pod gets %q, want %q", d.Requirements, want)
	}
	if want := "machine git.example login hush password \"\"\nmachine files.example login me password hush\n"; done.Netrc != want {
		t.Errorf("the pod gets the credentials %q, want %q", done.Netrc, want)
	}
}

// TestSignedURLs: they are not in what the pod reads, since others can read it, too.
func TestSignedURLs(t *testing.T) {
	w := newWorld(t)
	w.wheel("six", "1.0", "x = 1")
	text := fmt.Sprintf("lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1.0\"\n"+
		"wheels = [{name = \"six-1.0-py3-none-any.whl\", url = \"%s/files/six-1.0-py3-none-any.whl?sig=hush\", hashes = {sha256 = %q}}]\n", w.index.URL, sum(w.files["six-1.0-py3-none-any.whl"]))
	limited := func(in *environment.Input) { in.UploadLimit = 1 }
	if d := w.document(w.mustProvide(w.planOf("pylock.toml", text, prebuilt, limited)).SHA256); len(d.Wheels) != 1 || d.Wheels[0].URL != "" {
		t.Errorf("the pod gets %+v", d)
	}
	for file, text := range map[string]string{
		"pylock.toml":      text + "[[packages]]\nname = \"ours\"\nvcs = {type = \"git\", url = \"https://git.example/ours\", commit-id = \"abc\"}\n",
		"requirements.txt": "x @ https://files.example/x.tar.gz?sig=hush\n",
	} {
		if _, err := w.provide(w.planOf(file, text, prebuilt)); err == nil || !strings.Contains(err.Error(), "has a signature") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s, which the pod would resolve: %v", file, err)
		}
	}
}

// TestABaseThatOnlyTheNodesCanRead: the pod can resolve requirements, but not read a lock.
func TestABaseThatOnlyTheNodesCanRead(t *testing.T) {
	w := newWorld(t)
	w.deny = func(*http.Request) int { return http.StatusForbidden }
	if d := w.document(w.mustProvide(w.plan("six>=1\n", prebuilt)).SHA256); !slices.Equal(d.Requirements, []string{"six>=1"}) {
		t.Errorf("the pod gets %q", d.Requirements)
	}
	_, err := w.provide(w.planOf("pylock.toml", "lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1.0\"\n"+
		"wheels = [{url = \"https://files.example/six-1.0-py3-none-any.whl\", hashes = {sha256 = \""+strings.Repeat("a", 64)+"\"}}]\n", prebuilt))
	if err == nil || !strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), "choosing the files of pylock.toml") || !strings.Contains(err.Error(), "--python") {
		t.Errorf("with a lock: %v", err)
	}
}

// TestALockThatHasToBeBuilt: what a lock names exactly is built exactly so.
func TestALockThatHasToBeBuilt(t *testing.T) {
	w := newWorld(t)
	w.wheel("six", "1.0", "x = 1")
	text := fmt.Sprintf(`lock-version = "1.0"
[[packages]]
name = "six"
version = "1.0"
wheels = [{name = "six-1.0-py3-none-any.whl", url = "%s/files/six-1.0-py3-none-any.whl", hashes = {sha256 = "%s"}}]
[[packages]]
name = "ours"
vcs = {type = "git", url = "https://me:secret@git.example/ours.git", commit-id = "abc"}
[[packages]]
name = "source"
version = "3"
sdist = {url = "https://files.example/source-3.tar.gz", hashes = {sha256 = "%[2]s"}}
`, w.index.URL, sum(w.files["six-1.0-py3-none-any.whl"]))
	plan := w.planOf("pylock.toml", text)
	done := w.mustProvide(plan)
	d := w.document(done.SHA256)
	hash := sum(w.files["six-1.0-py3-none-any.whl"])
	if want := []string{"ours @ git+https://git.example/ours.git@abc", "six @ " + w.index.URL + "/files/six-1.0-py3-none-any.whl#sha256=" + hash, "source @ https://files.example/source-3.tar.gz#sha256=" + hash}; !slices.Equal(d.Requirements, want) || !d.Complete || done.Plan.Mode != environment.Prebuilt {
		t.Errorf("the pod gets %q, want %q", d.Requirements, want)
	}
	if !strings.Contains(done.Plan.Why, "ours") {
		t.Errorf("why: %s", done.Plan.Why)
	}
	if want := "machine git.example login me password secret\n"; done.Netrc != want {
		t.Errorf("the pod gets the credentials %q, want %q", done.Netrc, want)
	}
	asked := w.planOf("pylock.toml", text, bundled)
	if _, err := w.provide(asked); err == nil || !strings.Contains(err.Error(), "ours") {
		t.Errorf("bundled: %v", err)
	}
	inCloud := w.planOf("pylock.toml", text, bundled)
	inCloud.Settings.Builder = "cloudbuild"
	if _, err := w.provide(inCloud); err == nil || !strings.Contains(err.Error(), "--project") {
		t.Errorf("--builder cloudbuild, without a project: %v", err)
	}
}

// TestFilesOfALock: the pod finds the files of a lock below the package root.
func TestFilesOfALock(t *testing.T) {
	w := newWorld(t)
	w.wheel("six", "1.0", "x = 1")
	data := w.files["six-1.0-py3-none-any.whl"]
	root := t.TempDir()
	w.must(os.MkdirAll(filepath.Join(root, "wheels"), 0o700))
	w.must(os.WriteFile(filepath.Join(root, "wheels", "six-1.0-py3-none-any.whl"), data, 0o600))
	text := fmt.Sprintf(`lock-version = "1.0"
[[packages]]
name = "ours"
version = "1.0"
sdist = {path = "ours-1.0.tar.gz", hashes = {sha256 = %[1]q}}
[[packages]]
name = "six"
version = "1.0"
wheels = [{path = "wheels/six-1.0-py3-none-any.whl", hashes = {sha256 = %[1]q}}]
`, sum(data))
	plan := w.planOf("pylock.toml", text, func(in *environment.Input) {
		in.Image, in.Root, in.Wanted.Dir, in.Images.Runtime = "prebuilt", root, root, "jax"
	})
	d := w.document(w.mustProvide(plan).SHA256)
	if want := []string{"./ours-1.0.tar.gz", "./wheels/six-1.0-py3-none-any.whl"}; !slices.Equal(d.Requirements, want) || len(d.Options) > 0 {
		t.Errorf("the pod gets %q and %q, want %q", d.Requirements, d.Options, want)
	}
}

// TestTheBaseStays: a base of the table has the digest that it had first, until newer versions are
// asked for.
func TestTheBaseStays(t *testing.T) {
	w := newWorld(t)
	table := func(in *environment.Input) { in.BaseImage, in.Images.Python = "", "3.12" }
	put := func(base v1.Image) {
		ref, err := name.ParseReference(w.host() + "/library/python:3.12-slim-bookworm")
		w.must(err)
		w.must(remote.Write(ref, base))
	}
	first := func(done environment.Provided) string {
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
	refresh := func(in *environment.Input) { in.RefreshDeps = true }
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
	custom := func(image string, change ...func(*environment.Input)) environment.Plan {
		return w.plan("six\n", append(change, func(in *environment.Input) { in.Image = image })...)
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
	w.mustProvide(custom(w.host()+"/none:1", func(in *environment.Input) { in.NoImageCheck = true }))
	if len(w.did("")) > 0 {
		t.Errorf("checked in spite of --no-image-check: %q", w.did(""))
	}
	arm := func(in *environment.Input) { in.Accelerator.Arch = "arm64" }
	if _, err := w.provide(custom(w.base(), arm)); !errors.As(err, &unusable) || !strings.Contains(err.Error(), "linux/arm64") {
		t.Errorf("an image for another machine: %v", err)
	}
	w.deny = func(*http.Request) int { return http.StatusForbidden }
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
	if done := w.mustProvide(plan); looked.Plan.Mode != environment.Prebuilt || looked.SHA256 != done.SHA256 {
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
	w.deny = func(r *http.Request) int {
		if r.Method == http.MethodPost {
			return http.StatusForbidden
		}
		return 0
	}
	if done := w.mustProvide(plan); done.Plan.Mode != environment.Prebuilt || done.SHA256 != sha256 {
		t.Errorf("provided %+v, want the list %s", done, sha256)
	}
}

// TestOutlook: what has to be built is built where that is possible.
func TestOutlook(t *testing.T) {
	const built, here, inPod = "Cloud Build makes the image", "this machine makes the image", "the pod installs them"
	for name, tt := range map[string]struct {
		text     string
		change   func(*environment.Input)
		how, why string
	}{
		"from git":                        {"ours @ git+https://git.example/ours", nil, built, "ours"},
		"from git, on Arm":                {"ours @ git+https://git.example/ours", func(in *environment.Input) { in.Accelerator.Arch = "arm64" }, inPod, "ours"},
		"from git, elsewhere":             {"ours @ git+https://git.example/ours", func(in *environment.Input) { in.ImageRepo = "ghcr.io/me/env" }, inPod, "ours"},
		"from git, never in Cloud Build":  {"ours @ git+https://git.example/ours", func(in *environment.Input) { in.Builder = "client" }, inPod, "ours"},
		"on a base that nobody knows yet": {"six", func(in *environment.Input) { in.BaseImage = "me/base:1" }, here, "depends on the base image"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			plan := w.planOf("requirements.txt", tt.text, func(in *environment.Input) {
				in.Images = api.Images{ImageRepo: "us-docker.pkg.dev/acme/kn-c/env"}
				if tt.change != nil {
					tt.change(in)
				}
			})
			maker := &provider.Provider{Images: &image.Client{}, Resolver: resolver.Resolver{LookPath: nowhere},
				Cloud: func(context.Context) (*cloudbuild.Client, error) {
					return nil, errors.New("an outlook contacts nothing")
				}}
			if o := maker.Outlook(plan); !strings.HasPrefix(o.How, tt.how) || !strings.Contains(o.Why, tt.why) {
				t.Errorf("the outlook is %+v, want %q because of %q", o, tt.how, tt.why)
			}
		})
	}
}
