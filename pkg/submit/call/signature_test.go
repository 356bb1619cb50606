package call

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSignatures(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "train.py"), `import os
def train(
    epochs: int = 3,  # how often, at most
    lr=0.1, *, names: dict[str, int] = {"a,b": 1}, sep=")",
    **rest,
): pass
async def serve(port): pass
def none(): pass
def first(a, /, b, *more, c=(1, 2)): pass
def sorts(key=lambda x, y: x, reverse=False): pass
class Model:
    def fit(self, x): pass
def broken(a, b="
`)
	want := []Signature{
		{"train", []string{"epochs", "lr", "names", "sep"}}, {"serve", []string{"port"}}, {"none", nil},
		{"first", []string{"b", "c"}}, {"sorts", []string{"key", "reverse"}}, {"broken", []string{"a"}},
	}
	for _, where := range []string{"train.py", filepath.Join(dir, "train.py"), "train"} {
		if diff := cmp.Diff(want, Signatures(where, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", where, diff)
		}
	}
	write(t, filepath.Join(dir, "src", "app", "x.py"), "def f(a): pass\n")
	if diff := cmp.Diff([]Signature{{"f", []string{"a"}}}, Signatures("app.x", dir)); diff != "" {
		t.Errorf("in src (-want +got):\n%s", diff)
	}
	if got := Signatures("gone.py", dir); got != nil {
		t.Errorf("of a file that isn't there: %v", got)
	}
}

func FuzzSignatures(f *testing.F) {
	for _, seed := range []string{"def f(a): pass", "def f(", "def f(a=')', #)\n b): 1", "def f(''", "def ü(ö,:=,)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, s := range signatures(source) {
			for _, name := range append(s.Params, s.Name) {
				if name == "" {
					t.Errorf("%q: %v", source, s)
				}
			}
		}
	})
}
