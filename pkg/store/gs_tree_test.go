package store_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// openTree opens the tree that the hash of "x" names.
func openTree(t *testing.T, s store.Store) *store.Tree {
	t.Helper()
	tree, err := store.OpenTree(s, hash("x"))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func treeFile(path, text string) store.TreeFile {
	return store.TreeFile{Path: path, Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// listTree lists a tree by path.
func listTree(t *testing.T, tree *store.Tree) map[string]store.TreeObject {
	t.Helper()
	all := map[string]store.TreeObject{}
	for o, err := range tree.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all[o.Path] = o
	}
	return all
}

// A file survives the faults of a network, whether it is sent in one request or in several.
func TestTreeFilesAndFaults(t *testing.T) {
	for name, text := range map[string]string{"small": "a tail", "large": strings.Repeat("x", store.Part) + "tail"} {
		for fault, do := range map[string]func(http.ResponseWriter, *http.Request, http.Handler){
			"reset": reset, "reset in the middle": resetMidBody, "lost answer": lostAnswer, "unavailable": answer(http.StatusServiceUnavailable, "try later"),
		} {
			t.Run(name+" "+fault, func(t *testing.T) {
				b := newBucket(t)
				s := b.open(t)
				tree := openTree(t, s)
				if len(listTree(t, tree)) > 0 { // from now on the server has answered
					t.Error("there is something")
				}
				b.fail(1, uploads, do)
				if _, err := tree.Put(t.Context(), treeFile("d/f", text), store.TreeObject{}); err != nil {
					t.Fatal(err)
				}
				if got := read(t, s, store.DataTree(hash("x"))+"d/f"); got != text {
					t.Errorf("%d bytes, want %d", len(got), len(text))
				}
			})
		}
	}
}

// What another size shows to be wrong is replaced; what is right is not even read.
func TestTreeReplacesOtherSizes(t *testing.T) {
	b := newBucket(t)
	s := b.open(t)
	tree := openTree(t, s)
	for _, tt := range []struct {
		text  string
		stale bool // what is known of the bucket is that it is empty
		want  bool
	}{{"cut o", false, true}, {"cut off", false, true}, {"cut off", false, false}, {"cut off", true, false}, {"other size", true, true}} {
		found := store.TreeObject{}
		if !tt.stale {
			found = listTree(t, tree)["d/f"]
		}
		written, err := tree.Put(t.Context(), treeFile("d/f", tt.text), found)
		if err != nil || written != tt.want {
			t.Errorf("%q: written %v, error %v, want %v", tt.text, written, err, tt.want)
		}
		if got := read(t, s, store.DataTree(hash("x"))+"d/f"); got != tt.text {
			t.Errorf("%q, want %q", got, tt.text)
		}
	}
}

// A source that fails leaves nothing behind, and its error is passed on.
func TestTreeSourcesThatFail(t *testing.T) {
	b := newBucket(t)
	tree := openTree(t, b.open(t))
	broken := errors.New("broken")
	for _, size := range []int64{5, store.Part + 5} {
		f := store.TreeFile{Path: "f", Size: size, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x", int(size))), &failing{broken})), nil
		}}
		if _, err := tree.Put(t.Context(), f, store.TreeObject{}); !errors.Is(err, broken) {
			t.Errorf("%d bytes: error %v, want the source's", size, err)
		}
	}
	if left := b.holds(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestTreeNames(t *testing.T) {
	b := newBucket(t)
	tree := openTree(t, b.open(t))
	for _, path := range []string{"", "/", "../x", "a//b", "a/../b", "."} {
		if _, err := tree.Put(t.Context(), treeFile(path, "x"), store.TreeObject{}); err == nil || !strings.Contains(err.Error(), "object name") {
			t.Errorf("%q: error %v, want one about the object name", path, err)
		}
	}
	hash := strings.Repeat("a", 64)
	for url, most := range map[string]int{"gs://acme": 1024 - len("data/") - 65, "gs://acme/team": 1024 - len("team/data/") - 65} {
		for size, fits := range map[int]bool{most: true, most + 1: false} {
			if err := store.CheckTreePath(url, hash, strings.Repeat("x", size)); (err == nil) != fits {
				t.Errorf("%d bytes in %s: error %v", size, url, err)
			}
		}
	}
	if _, err := store.OpenTree(b.open(t), "../x"); err == nil || !strings.Contains(err.Error(), "hexadecimal") {
		t.Errorf("a name that is no hash: error %v", err)
	}
	if slices.ContainsFunc(b.asked(), func(r string) bool { return strings.HasPrefix(r, http.MethodPost) }) {
		t.Error("something was sent")
	}
}
