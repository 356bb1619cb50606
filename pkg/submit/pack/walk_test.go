package pack_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// TestSymlinks has the package root at root, beside outside.
func TestSymlinks(t *testing.T) {
	for name, test := range map[string]struct {
		files          map[string]string
		want, warnings []string
	}{
		"a file": {
			files: map[string]string{"root/a": "", "root/b -> a": ""},
			want:  []string{"a", "b"},
		},
		"a file out of the root": {
			files: map[string]string{"outside/a": "", "root/b -> ../outside/a": ""},
			want:  []string{"b"},
		},
		"a directory out of the root": {
			files: map[string]string{"outside/sub/a": "", "root/lib -> ../outside": ""},
			want:  []string{"lib/sub/a"},
		},
		"a broken link": {
			files:    map[string]string{"root/a": "", "root/gone -> no/such": ""},
			want:     []string{"a"},
			warnings: []string{`skipped "gone": it is a broken symlink to "no/such"`},
		},
		"a link to itself": {
			files:    map[string]string{"root/a": "", "root/me -> me": ""},
			want:     []string{"a"},
			warnings: []string{`skipped "me": it is a broken symlink to "me"`},
		},
		"a loop": {
			files:    map[string]string{"root/d/a": "", "root/d/up -> ..": "", "root/d/here -> .": ""},
			want:     []string{"d/a"},
			warnings: []string{`skipped "d/here": its directory is already packaged as "d"`, `skipped "d/up": its directory is already packaged as "."`},
		},
		"a name for a directory that sorts before it": {
			files:    map[string]string{"root/z/a": "", "root/b -> z": ""},
			want:     []string{"z/a"},
			warnings: []string{`skipped "b": its directory is already packaged as "z"`},
		},
		"two names for a directory outside": {
			files:    map[string]string{"outside/a": "", "root/x -> ../outside": "", "root/y -> ../outside": ""},
			want:     []string{"x/a"},
			warnings: []string{`skipped "y": its directory is already packaged as "x"`},
		},
		"a directory outside that leads back": {
			files:    map[string]string{"outside/back -> ../root": "", "outside/a": "", "root/b": "", "root/lib -> ../outside": ""},
			want:     []string{"b", "lib/a"},
			warnings: []string{`skipped "lib/back": its directory is already packaged as "."`},
		},
		"the only name of an ignored directory": {
			files: map[string]string{"root/ignored/a": "", "root/b -> ignored": ""},
			want:  []string{"b/a"},
		},
		"an ignored link": {
			files: map[string]string{"root/a": "", "root/ignored -> no/such": "", "root/d/ignored -> ..": ""},
			want:  []string{"a", "d/"},
		},
		"a link into an excluded directory": {
			files: map[string]string{"root/excluded/sub/a": "", "root/b -> excluded/sub": "", "root/c -> excluded/sub/a": "", "root/d": ""},
			want:  []string{"d"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, test.files)
			root := filepath.Join(dir, "root")
			p := plan(t, pack.Options{
				Root:    root,
				Ignore:  func(rel string, _ bool) bool { return strings.HasSuffix(rel, "ignored") },
				Exclude: []string{filepath.Join(root, "excluded"), root, dir, filepath.Join(root, "missing")},
			})
			if diff := cmp.Diff(test.want, paths(p)); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.warnings, p.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRootBehindASymlink(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"real/a": "x", "real/excluded/b": "x", "link -> real": ""})
	p := plan(t, pack.Options{Root: filepath.Join(dir, "link"), Exclude: []string{filepath.Join(dir, "link", "excluded")}})
	if diff := cmp.Diff([]string{"a"}, paths(p)); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestIgnoreIsAskedFromTheTopDown(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a/b/c": "", "d": "", "skip/x/y": ""})
	asked := map[string]bool{}
	plan(t, pack.Options{Root: root, Ignore: func(rel string, isDir bool) bool {
		asked[rel] = isDir
		return rel == "skip"
	}})
	if diff := cmp.Diff(map[string]bool{"a": true, "a/b": true, "a/b/c": false, "d": false, "skip": true}, asked); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
}

// A home directory as the root must not package the cache that is written
// meanwhile: every plan would differ from the one before.
func TestTheCacheIsNotPackaged(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a": "x", ".cache/kinetic/old": "x", ".cache/b": "x"})
	p := plan(t, pack.Options{Root: root, CacheDir: filepath.Join(root, ".cache", "kinetic")})
	if diff := cmp.Diff([]string{".cache/b", "a"}, paths(p)); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestTheFilesThatAreExceptedAreNotPackaged(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a": "x", "d/out": "x", "out": "x", "err": "x", "link -> d/out": ""})
	var except []fs.FileInfo
	for _, name := range []string{"link", "err"} {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		except = append(except, info)
	}
	if diff := cmp.Diff([]string{"a", "out", "d/"}, paths(plan(t, pack.Options{Root: root, Except: except}))); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	for name, path := range map[string]string{"a file": "d/secret", "a directory": "d"} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, map[string]string{"a": "x", "d/secret": "x"})
			if err := os.Chmod(filepath.Join(root, path), 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, path), 0o700) })
			_, err := pack.New(t.Context(), pack.Options{Root: root})
			fileError(t, err, path, "permission denied: make it readable")
			p := plan(t, pack.Options{Root: root, Ignore: func(rel string, _ bool) bool { return rel == path }})
			if p.Index.Files[0].Path != "a" {
				t.Errorf("ignored, it still matters: %v", paths(p))
			}
		})
	}
}
