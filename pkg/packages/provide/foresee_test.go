package provide_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// foresee returns what a dry-run says of a plan. It has no store.
func (w *world) foresee(p decide.Plan) (string, bool) {
	w.t.Helper()
	w.mu.Lock()
	w.requests = nil
	w.mu.Unlock()
	maker := &provide.Provider{
		Images:   &image.Client{Memory: image.Memory{Dir: w.memory}},
		Resolver: resolve.Resolver{Environ: w.environ, LookPath: nowhere}, StoreURL: w.store.URL(),
	}
	foreseen, known, err := maker.Predict(context.Background(), p)
	w.must(err)
	if got := w.did(""); len(got) > 0 {
		w.t.Errorf("to foresee takes %q", got)
	}
	return foreseen.SHA256, known
}

// TestForesee: a dry-run names the packages that a run applies, as soon as they are known.
func TestForesee(t *testing.T) {
	w := newWorld(t)
	locked := w.plan(w.locked(w.wheel("six", "1.0", "x = 1")), prebuilt)
	if got, known := w.foresee(locked); known {
		t.Errorf("before a run has asked the index: %s", got)
	}
	provided := w.mustProvide(locked)
	if got, known := w.foresee(locked); !known || got != provided.SHA256 {
		t.Errorf("foresaw %s, %t; a run provides %s", got, known, provided.SHA256)
	}
	wish := w.plan("ours @ git+https://git.example/ours.git\n", prebuilt)
	got, known := w.foresee(wish)
	if provided = w.mustProvide(wish); !known || got != provided.SHA256 {
		t.Errorf("foresaw the wish %s, %t; a run provides %s", got, known, provided.SHA256)
	}
	if got, known := w.foresee(w.plan("", prebuilt)); !known || got != "" {
		t.Errorf("foresaw %s, %t of nothing", got, known)
	}
	if got, known := w.foresee(w.plan(w.locked(w.wheel("attrs", "1.0", "")))); !known || got != "" {
		t.Errorf("foresaw %s, %t of an image", got, known)
	}
}

// TestForeseeLinksThatThePodCannotRead: a dry-run says why this machine doesn't resolve, as a run does.
func TestForeseeLinksThatThePodCannotRead(t *testing.T) {
	w := newWorld(t)
	maker := &provide.Provider{Images: &image.Client{Memory: image.Memory{Dir: w.memory}}, Resolver: resolve.Resolver{Environ: w.environ, LookPath: nowhere}}
	_, known, err := maker.Predict(context.Background(), w.plan("--find-links "+t.TempDir()+"\nours\n", prebuilt))
	var mistake *resolve.MistakeError
	if known || !errors.As(err, &mistake) || !strings.Contains(err.Error(), "(not resolved here: there is neither uv nor python3)") {
		t.Errorf("got %t, %v", known, err)
	}
}

// TestIndexesOfVariables: the pod asks the indexes that variables and pip.conf name here, and none if they say so.
func TestIndexesOfVariables(t *testing.T) {
	for text, want := range map[string][]string{
		"": {"--index-url https://index.example/simple", "--extra-index-url https://more.example/simple", "--find-links https://links.example"},
		"no-index = true\n": {
			"--no-index", "--index-url https://index.example/simple", "--extra-index-url https://more.example/simple", "--find-links https://links.example",
		},
	} {
		w := newWorld(t)
		file := filepath.Join(t.TempDir(), "pip.conf")
		text = "[global]\nextra-index-url = https://more.example/simple\nfind-links = https://links.example\n" + text
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.environ = append(os.Environ(), "PIP_INDEX_URL=https://me:secret@index.example/simple", "PIP_CONFIG_FILE="+file, "PIP_FIND_LINKS=")
		done := w.mustProvide(w.plan("ours @ git+https://git.example/ours.git\n", prebuilt))
		if d := w.document(done.SHA256); !slices.Equal(d.Options, want) {
			t.Errorf("the pod gets %q, want %q", d.Options, want)
		}
		if !strings.Contains(done.Netrc, "machine index.example login me password secret") {
			t.Errorf("the pod gets the credentials %q", done.Netrc)
		}
	}
}

// TestNoIndexForThePod: a pod that may ask no index, and can't read the directory of links, is warned of.
func TestNoIndexForThePod(t *testing.T) {
	w := newWorld(t)
	w.environ = append(os.Environ(), "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/srv/wheels", "PIP_CONFIG_FILE="+os.DevNull)
	plan := w.plan("ours @ git+https://git.example/ours.git\nattrs\n", prebuilt)
	want := "the pod can't install packages, because the variable PIP_NO_INDEX disables package indexes, and /srv/wheels is on this machine"
	if done := w.mustProvide(plan); len(done.Warnings) != 1 || !strings.HasPrefix(done.Warnings[0], want) {
		t.Errorf("warned %q, want %q", done.Warnings, want)
	}
	w.environ = append(w.environ, "PIP_FIND_LINKS=https://links.example")
	if done := w.mustProvide(plan); len(done.Warnings) != 0 {
		t.Errorf("warned %q of links that the pod can read", done.Warnings)
	}
}
