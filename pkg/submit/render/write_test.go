package render

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	got := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		got[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func jobFiles(t *testing.T, name string) map[string][]byte {
	t.Helper()
	_, files, err := render(family[name], Overlay{}, testRunner, true)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteOverlayWritesWhereNothingIsLost(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"a missing directory": func(*testing.T, string) {},
		"an empty directory": func(t *testing.T, dir string) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"one of other jobs": func(t *testing.T, dir string) {
			for _, name := range []string{"v6e-8-everything", "cpu-debug", "cpu-map", "lws-cpu-everything"} {
				if err := WriteOverlay(dir, jobFiles(t, name)); err != nil {
					t.Fatal(err)
				}
			}
		},
		"one behind a link": func(t *testing.T, dir string) {
			real := t.TempDir()
			if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(real, dir); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "parent")
			dir := filepath.Join(parent, "overlay")
			prepare(t, dir)
			before, _ := os.Readlink(dir)
			want := jobFiles(t, "cpu")
			if err := WriteOverlay(dir, want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, readTree(t, dir+"/.")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if after, _ := os.Readlink(dir); after != before {
				t.Errorf("the link to %q is now one to %q", before, after)
			}
			entries, err := os.ReadDir(parent)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) != 1 {
				t.Errorf("it left something beside the overlay: %v", entries)
			}
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm()&0o055 != 0o055 {
				t.Errorf("others can't read it: %s", info.Mode())
			}
		})
	}
}

func TestWriteOverlayKeepsFilesOfOthers(t *testing.T) {
	ours := marker + " for job x.\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"somebody's directory":         {map[string]string{"notes.txt": "x"}, "the directory has files that kinetic did not write"},
		"somebody's kustomization":     {map[string]string{"kustomization.yaml": "resources: []\n"}, "the directory has files that kinetic did not write"},
		"ours with somebody's file":    {map[string]string{"kustomization.yaml": ours, "notes.txt": "x"}, "notes.txt was not written by kinetic and would be lost"},
		"ours in somebody's directory": {map[string]string{"kustomization.yaml": ours, ".git/config": "x"}, "not written by kinetic"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, c.files)
			before := readTree(t, dir)
			err := WriteOverlay(dir, jobFiles(t, "cpu"))
			wantError(t, err, c.want, "writing the overlay to "+dir)
			if diff := cmp.Diff(before, readTree(t, dir)); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
		})
	}
}

func TestWriteOverlayRefusesTheCurrentDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	wantError(t, WriteOverlay(".", jobFiles(t, "cpu")), "it is the current directory")
}

func TestWriteOverlayRefusesAFile(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"overlay": "x"})
	wantError(t, WriteOverlay(filepath.Join(dir, "overlay"), jobFiles(t, "cpu")), "not a directory")
}

func TestWriteOverlayThatFailsLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "overlay")
	if err := WriteOverlay(dir, map[string][]byte{"a": nil, "a/b": nil}); err == nil {
		t.Fatal("no error for a file that is a directory too")
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 0 {
		t.Errorf("it left %v", entries)
	}
}
