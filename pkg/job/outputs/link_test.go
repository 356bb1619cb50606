package outputs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func TestInside(t *testing.T) {
	for _, tt := range []struct{ name, target, want string }{
		{"latest", "step-1", "step-1"},
		{"deep/best", "../step-1/a", "../step-1/a"},
		{"deep/best", "./b/../a", "a"},
		{"deep/best", "../../a", ""},
		{"deep/er/best", inPod + "/step-1/a", "../../step-1/a"},
		{"best", inPod + "/../a", ""},
		{"best", inPod + "s/a", ""},
		{"best", "/etc/passwd", ""},
	} {
		if got := inside(inPod, tt.name, tt.target); got != tt.want {
			t.Errorf("%s -> %s: got %q, want %q", tt.name, tt.target, got, tt.want)
		}
	}
}

// The links of a job in pods are in its index alone.
func TestCopyOfSavedLinks(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"a1/outputs/step-1/a": "new",
		"a1/outputs/latest":   "what the link was before",
		store.Sync("a1", 0):   `{"version": 2, "files": [{"path": "step-1/a", "size": 3}, {"path": "latest", "link": "step-1"}, {"path": "deep/best", "link": "../step-1/a"}, {"path": "bad", "link": "/etc"}]}`,
	} {
		if err := s.Create(t.Context(), name, strings.NewReader(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Of(&job.Job{Handle: api.Handle{JobID: "a1"}, Store: s})
	if err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	if err := os.Symlink("step-0", filepath.Join(target, "latest")); err != nil {
		t.Fatal(err)
	}
	copied := copyLinked(t, dir, target)
	if copied.Files != 3 || copied.Same != 0 {
		t.Errorf("the first time: %+v", copied)
	}
	for _, name := range []string{"latest/a", "deep/best"} {
		if data, err := os.ReadFile(filepath.Join(target, name)); err != nil || string(data) != "new" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if copied = copyLinked(t, dir, target); copied.Same != 3 {
		t.Errorf("the second time: %+v", copied)
	}
}

// The path of a link is that of what it leads to, also in the middle.
func TestPathsOfLinks(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"a1/outputs/step-1/a": "new",
		store.Sync("a1", 0): `{"version": 2, "files": [{"path": "step-1/a", "size": 3}, {"path": "latest", "link": "step-1"}, {"path": "deep/best", "link": "../latest/a"}, ` +
			`{"path": "round", "link": "round"}, {"path": "gone", "link": "step-0"}]}`,
	} {
		if err := s.Create(t.Context(), name, strings.NewReader(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Of(&job.Job{Handle: api.Handle{JobID: "a1"}, Store: s})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"step-1/a":  "step-1/a",
		"latest/a":  "step-1/a",
		"deep/best": "step-1/a",
		"latest":    `output "step-1" is a directory`,
		"round":     `output "round" is a broken link`,
		"gone":      `no output named "step-0"`,
		"step-11":   `did you mean "step-1"`,
		"lates":     `did you mean "latest"`,
	} {
		got := ""
		if f, err := dir.File(t.Context(), at); err == nil {
			got = f.Name
		} else {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
	}
}

func copyLinked(t *testing.T, dir *Dir, target string) Copied {
	t.Helper()
	files, _, err := dir.WithLinks(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Below(files, "")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(target)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	copied, err := dir.Copy(t.Context(), plan, folder, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

// A link may not lead out of the directory that it is copied to, nor replace a file there.
func TestLinksThatAreRefused(t *testing.T) {
	target := t.TempDir()
	folder, err := os.OpenRoot(target)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := os.WriteFile(filepath.Join(target, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{"best": "which is outside the copied directory", "er/file": "", "file": "something else has this name"} {
		link := "../a"
		if to == "file" {
			link = "a"
		}
		_, err := Transfer{File{Name: "deep/" + to, Link: link}, to}.link(folder)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", to, err, want)
		}
	}
}
