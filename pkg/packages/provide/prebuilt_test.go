package provide_test

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

	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

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
	limited := w.plan(w.locked(w.wheel("big", "1.0", "z = 1")), prebuilt, func(in *decide.Input) { in.UploadLimit = 1 })
	d = w.document(w.mustProvide(limited).SHA256)
	if len(d.Wheels) != 1 || d.Wheels[0].URL != w.index.URL+"/files/big-1.0-py3-none-any.whl" || len(w.did("index/files/")) > 0 {
		t.Errorf("what is more than the limit: %+v with %q", d, w.did("index"))
	}
	w.sizeless = true
	limited = w.plan(w.locked(w.wheel("huge", "1.0", "z = 3")), prebuilt, func(in *decide.Input) { in.UploadLimit = 1 })
	d = w.document(w.mustProvide(limited).SHA256)
	if got := w.did("index/files/"); len(d.Wheels) != 1 || d.Wheels[0].URL == "" || !slices.Equal(got, []string{"HEAD index/files/huge-1.0-py3-none-any.whl"}) {
		t.Errorf("what is more than the limit, from an index that tells no sizes: %+v with %q", d, got)
	}
	w.sizeless = false
	private := strings.Replace(w.locked(w.wheel("bigger", "1.0", "z = 2")), "://", "://me:hush@", 1)
	limited = w.plan(private, prebuilt, func(in *decide.Input) { in.UploadLimit = 1 })
	d = w.document(w.mustProvide(limited).SHA256)
	if len(d.Wheels) != 1 || d.Wheels[0].URL != "" || len(w.did("index/files/")) != 1 {
		t.Errorf("what is more than the limit, and the pod can't fetch: %+v with %q", d, w.did("index"))
	}
}

// TestUnpinnedWithTwoLogins: a pod that resolves has one login for a host.
func TestUnpinnedWithTwoLogins(t *testing.T) {
	w := newWorld(t)
	index := func(user string) string {
		return strings.Replace(w.index.URL, "://", "://"+user+":secret@", 1) + "/" + user + "/simple\n"
	}
	done := w.mustProvide(w.plan("six\n--index-url " + index("one") + "--extra-index-url " + index("two")))
	if len(done.Warnings) != 1 || !strings.HasPrefix(done.Warnings[0], "127.0.0.1 has several logins") {
		t.Errorf("warnings %q", done.Warnings)
	}
}

// TestUnpinned: without a resolver here the pod resolves, and later jobs get what it chose.
func TestUnpinned(t *testing.T) {
	w := newWorld(t)
	text := "six>=1\n--index-url " + strings.Replace(w.index.URL, "://", "://me:secret@", 1) + "/simple\n"
	plan := w.plan(text)
	first := w.mustProvide(plan)
	d := w.document(first.SHA256)
	if first.Plan.Mode != decide.Prebuilt || len(d.Wheels) != 0 || !slices.Equal(d.Requirements, []string{"six>=1"}) || !slices.Equal(d.Options, []string{"--index-url " + w.index.URL + "/simple"}) {
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
	refreshed := w.plan(text, func(in *decide.Input) { in.RefreshDeps = true })
	// A warm host remembers what a document was resolved to, so this is another one.
	if d = w.document(w.mustProvide(refreshed).SHA256); d.Refresh != "job-1" || !slices.Equal(d.Requirements, []string{"six>=1"}) || len(d.Wheels) != 0 {
		t.Errorf("with --refresh-deps: %+v", d)
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
	plan := w.plan("", prebuilt, func(in *decide.Input) { in.Root, in.Wanted = root, wanted })
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

// TestNetrcOfURLs: the pod gets what .netrc has for the very hosts of requirements.
func TestNetrcOfURLs(t *testing.T) {
	w := newWorld(t)
	netrc := filepath.Join(t.TempDir(), "netrc")
	text := "machine files.example login me password \"hush hush\"\nmachine plain.example login me password hush\ndefault login any password hush\n"
	w.must(os.WriteFile(netrc, []byte(text), 0o600))
	w.environ = []string{"NETRC=" + netrc}
	text = "a @ https://files.example/a-1-py3-none-any.whl\nb @ git+https://files.example/b@v1\nc @ git+https://public.example/c\nd @ http://plain.example/d.tar.gz\n--index-url https://index.example/simple\n"
	done := w.mustProvide(w.plan(text, prebuilt))
	if want := "machine index.example login any password hush\nmachine files.example login me password \"hush hush\"\n"; done.Netrc != want {
		t.Errorf("the pod gets the credentials %q, want %q", done.Netrc, want)
	}
	if d := fmt.Sprint(w.document(done.SHA256)); strings.Contains(d, "hush") || !strings.Contains(d, "a @ https://files.example/a-1") {
		t.Errorf("the pod reads %s", d)
	}
	lock := fmt.Sprintf("lock-version = \"1.0\"\n[[packages]]\nname = \"a\"\nversion = \"1\"\nwheels = [{url = \"https://files.example/a-1-py3-none-any.whl\", hashes = {sha256 = %q}}]\n"+
		"[[packages]]\nname = \"c\"\nvcs = {type = \"git\", url = \"https://public.example/c\", commit-id = \"abc\"}\n", strings.Repeat("a", 64))
	if done = w.mustProvide(w.planOf("pylock.toml", lock, prebuilt)); done.Netrc != "machine pypi.org login any password hush\nmachine files.example login me password \"hush hush\"\n" {
		t.Errorf("for a lock, the pod gets the credentials %q", done.Netrc)
	}
	private, err := resolve.Resolver{Environ: w.environ, Token: func(context.Context) (string, error) { return "", errors.New("not needed") }}.Private(t.Context(), resolve.Request{})
	w.must(err)
	for address, want := range map[string]bool{
		"https://files.example/a": true, "https://public.example/a": false, "http://files.example/a": true, "https://eu-python.pkg.dev/a": true, "https://public.example/a?sig=x": true,
	} {
		if private(address) != want {
			t.Errorf("private %s: %v", address, !want)
		}
	}
	old := func(in *decide.Input) { in.BaseImage, in.Images.Python = "", "3.10" }
	var mistake *resolve.MistakeError
	text = strings.NewReplacer("git+https://files.example/b@v1", "https://files.example/b.tar.gz", "git+https://public.example/c", "https://public.example/c.tar.gz").Replace(text)
	if _, err := w.provide(w.plan(text, prebuilt, old)); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "pip for Python 3.10 can't read a password with whitespace") {
		t.Errorf("on Python 3.10: %v", err)
	}
}

// TestSignedURLs: they are not in what the pod reads, since others can read it, too.
func TestSignedURLs(t *testing.T) {
	w := newWorld(t)
	w.wheel("six", "1.0", "x = 1")
	text := fmt.Sprintf("lock-version = \"1.0\"\n[[packages]]\nname = \"six\"\nversion = \"1.0\"\n"+
		"wheels = [{name = \"six-1.0-py3-none-any.whl\", url = \"%s/files/six-1.0-py3-none-any.whl?sig=hush\", hashes = {sha256 = %q}}]\n", w.index.URL, sum(w.files["six-1.0-py3-none-any.whl"]))
	limited := func(in *decide.Input) { in.UploadLimit = 1 }
	if d := w.document(w.mustProvide(w.planOf("pylock.toml", text, prebuilt, limited)).SHA256); len(d.Wheels) != 1 || d.Wheels[0].URL != "" {
		t.Errorf("the pod gets %+v", d)
	}
	for file, text := range map[string]string{
		"pylock.toml":      text + "[[packages]]\nname = \"ours\"\nvcs = {type = \"git\", url = \"https://git.example/ours\", commit-id = \"abc\"}\n",
		"requirements.txt": "x @ https://files.example/x.tar.gz?sig=hush\n",
	} {
		var mistake *resolve.MistakeError
		if _, err := w.provide(w.planOf(file, text, prebuilt)); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "has a secret") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s, which the pod would resolve: %v", file, err)
		}
	}
}

// TestABaseThatOnlyTheNodesCanRead: the pod can resolve requirements, but not read a lock.
func TestABaseThatOnlyTheNodesCanRead(t *testing.T) {
	w := newWorld(t)
	w.refuse(func(*http.Request) int { return http.StatusForbidden })
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
	if want := []string{"ours @ git+https://git.example/ours.git@abc", "six @ " + w.index.URL + "/files/six-1.0-py3-none-any.whl#sha256=" + hash, "source @ https://files.example/source-3.tar.gz#sha256=" + hash}; !slices.Equal(d.Requirements, want) || !d.Complete || done.Plan.Mode != decide.Prebuilt {
		t.Errorf("the pod gets %q, want %q", d.Requirements, want)
	}
	if !strings.Contains(done.Plan.Why, "ours") {
		t.Errorf("why: %s", done.Plan.Why)
	}
	if want := "machine git.example login me password secret\n"; done.Netrc != want {
		t.Errorf("the pod gets the credentials %q, want %q", done.Netrc, want)
	}
	linked := w.planOf("pylock.toml", text, func(in *decide.Input) { in.Wanted.Options = []string{"--find-links " + t.TempDir()} })
	if l := w.document(w.mustProvide(linked).SHA256); !slices.Equal(l.Requirements, d.Requirements) || len(l.Options) > 0 {
		t.Errorf("with links of this machine, the pod gets %q and %q", l.Requirements, l.Options)
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
	plan := w.planOf("pylock.toml", text, func(in *decide.Input) {
		in.Image, in.Root, in.Wanted.Dir, in.Runtime = "prebuilt", root, root, "jax"
	})
	d := w.document(w.mustProvide(plan).SHA256)
	if want := []string{"./ours-1.0.tar.gz", "./wheels/six-1.0-py3-none-any.whl"}; !slices.Equal(d.Requirements, want) || len(d.Options) > 0 {
		t.Errorf("the pod gets %q and %q, want %q", d.Requirements, d.Options, want)
	}
}

// TestLinksThatThePodCannotRead: it would ignore them, and take packages of the same names from an index.
func TestLinksThatThePodCannotRead(t *testing.T) {
	w := newWorld(t)
	for _, place := range []string{t.TempDir(), "file:///wheels", "FILE:/wheels"} {
		var mistake *resolve.MistakeError
		if _, err := w.provide(w.plan("--find-links "+place+"\nours\n", prebuilt)); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "the pod can't read this machine's files") || !strings.Contains(err.Error(), "(not resolved here: ") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// TestGitInThePod: the images of the table have no Git, and the pod would find that out on its accelerator.
func TestGitInThePod(t *testing.T) {
	w := newWorld(t)
	known := func(in *decide.Input) { in.BaseImage, in.Images.Python = "", "3.12" }
	var mistake *resolve.MistakeError
	if _, err := w.provide(w.plan(fromGit, prebuilt, known)); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "the image python:3.12-slim-bookworm has no Git: name one that has it, such as --base-image python:3.12-bookworm") {
		t.Errorf("got %v", err)
	}
	w.mustProvide(w.plan(fromGit, prebuilt)) // with a base of the user's own
}

// TestVariablesThatThePodLacks: with an index that it can't find, it would take packages from another one.
func TestVariablesThatThePodLacks(t *testing.T) {
	w := newWorld(t)
	w.environ = []string{"HOST=pypi.example", "TOKEN=hush"}
	for _, text := range []string{"--extra-index-url https://${HOST}/simple\nours\n", "--extra-index-url https://pypi.example/${TOKEN}/\nours\n", "a @ git+https://${HOST}/a\n"} {
		var mistake *resolve.MistakeError
		_, err := w.provide(w.plan(text, prebuilt))
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "which only this machine has") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
