package pack_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// writeFiles makes files below dir, with their names as their text; see write.
func writeFiles(t *testing.T, dir string, files ...string) {
	t.Helper()
	texts := map[string]string{}
	for _, name := range files {
		texts[name] = name
	}
	write(t, dir, texts)
}

// In these cases all paths are relative to a fresh directory, whose home is
// "home"; "@" stands for the directory.
func TestFind(t *testing.T) {
	type layout struct {
		root, base string
		pythonPath []string
	}
	for name, test := range map[string]struct {
		files                         []string
		entry, cwd, given, pythonPath string
		want                          layout
	}{
		"no marker": {
			entry: "home/p/code", want: layout{root: "home/p/code", base: "home/p/code"},
		},
		"a marker above": {
			files: []string{"home/p/pyproject.toml"},
			entry: "home/p/src/train", cwd: "home/p/src",
			want: layout{root: "home/p", base: "home/p/src/train"},
		},
		"the nearest marker wins": {
			files: []string{"home/p/.git/", "home/p/sub/requirements.txt"},
			entry: "home/p/sub/code",
			want:  layout{root: "home/p/sub", base: "home/p/sub/code"},
		},
		"a worktree's .git is a file": {
			files: []string{"home/p/.git"},
			entry: "home/p/code", want: layout{root: "home/p", base: "home/p/code"},
		},
		"inside a package": {
			files: []string{"home/p/setup.cfg", "home/p/src/a/__init__.py", "home/p/src/a/b/__init__.py"},
			entry: "home/p/src/a/b", cwd: "home/p",
			want: layout{root: "home/p", base: "home/p/src"},
		},
		"a marker inside a package does not cut it": {
			files: []string{"home/p/a/__init__.py", "home/p/a/b/__init__.py", "home/p/a/b/setup.py"},
			entry: "home/p/a/b", want: layout{root: "home/p", base: "home/p"},
		},
		"a package of a marked directory that is a project itself": {
			files: []string{"home/p/requirements.txt", "home/p/a/__init__.py", "home/p/a/pyproject.toml"},
			entry: "home/p/a", want: layout{root: "home/p", base: "home/p"},
		},
		"the same where it says what is packaged": {
			files: []string{"home/p/.kineticignore", "home/p/a/__init__.py", "home/p/a/.git/"},
			entry: "home/p/a", want: layout{root: "home/p", base: "home/p"},
		},
		"a project that is a package, given": {
			files: []string{"home/p/a/__init__.py", "home/p/a/.git/"},
			entry: "home/p/a", given: "@/home/p/a", want: layout{root: "home/p/a", base: "home/p/a"},
		},
		"what is above a project that is a package, given": {
			files: []string{"home/p/a/__init__.py", "home/p/a/.git/"},
			entry: "home/p/a", given: "@/home/p", want: layout{root: "home/p", base: "home/p"},
		},
		"home is not adopted": {
			files: []string{"home/.git/", "pyproject.toml"},
			entry: "home/code", want: layout{root: "home/code", base: "home/code"},
		},
		"home is where it begins": {
			files: []string{"home/.git/", "home/__init__.py"},
			entry: "home", want: layout{root: "home", base: "home"},
		},
		"home as a container's, with what is packaged of it": {
			files: []string{"home/.kineticignore"},
			entry: "home", want: layout{root: "home", base: "home"},
		},
		"home, given": {
			files: []string{"home/.ssh/"},
			entry: "home", given: "~", want: layout{root: "home", base: "home"},
		},
		"the working directory is outside": {
			entry: "home/p", cwd: "elsewhere", want: layout{root: "home/p", base: "home/p"},
		},
		"the working directory has another name": {
			files: []string{"link -> home/p", "home/p/sub/"},
			entry: "home/p", cwd: "link/sub", want: layout{root: "home/p", base: "home/p"},
		},
		"a repository of documents": {
			files: []string{"home/Documents/.git/"}, entry: "home/Documents/exp", want: layout{root: "home/Documents", base: "home/Documents/exp"},
		},
		"a project in documents": {
			files: []string{"home/Documents/notes"}, entry: "home/Documents/exp", want: layout{root: "home/Documents/exp", base: "home/Documents/exp"},
		},
		"PYTHONPATH": {
			files: []string{"home/p/lib/", "home/p/x/site-packages/y/", "elsewhere/"},
			entry: "home/p", cwd: "home/p",
			pythonPath: "@/home/p/lib:@/home/p:@/home/p/missing:@/elsewhere::lib:@/home/p/x/site-packages/y:@/home/p/x",
			want:       layout{root: "home/p", base: "home/p", pythonPath: []string{"lib", "x"}},
		},
		"given": {
			files: []string{"home/p/sub/pyproject.toml"},
			entry: "home/p/sub", given: "@/home/p/../p/", want: layout{root: "home/p", base: "home/p/sub"},
		},
		"given, relative": {
			entry: "home/p/sub", cwd: "home/p/sub", given: "..",
			want: layout{root: "home/p", base: "home/p/sub"},
		},
		"given, with a tilde": {
			entry: "home/p/sub", given: "~/p", want: layout{root: "home/p", base: "home/p/sub"},
		},
		"given, a package itself": {
			files: []string{"home/p/a/__init__.py"},
			entry: "home/p/a", given: "@/home/p/a", want: layout{root: "home/p/a", base: "home/p/a"},
		},
		"given by another name": {
			files: []string{"link -> home/p", "home/p/sub/"},
			entry: "home/p/sub", given: "@/link", want: layout{root: "link", base: "link/sub"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, "home/")
			writeFiles(t, dir, test.files...)
			writeFiles(t, dir, test.entry+"/")
			path := func(rel string) string { return filepath.Join(dir, rel) }
			got, err := pack.FindProject(pack.ProjectOptions{
				EntryDir: path(test.entry), Cwd: path(test.cwd), Home: path("home"),
				PackageRoot: strings.ReplaceAll(test.given, "@", dir), PackageRootFrom: "--package-root",
				PythonPath: strings.ReplaceAll(test.pythonPath, "@", dir),
			})
			if err != nil {
				t.Fatal(err)
			}
			want := pack.Layout{
				SourceTree: api.SourceTree{Root: path(test.want.root), PackageBase: path(test.want.base)}, PythonPath: test.want.pythonPath,
			}
			if len(got.Warnings) > 0 != (test.want.root == "home") {
				t.Errorf("warnings %q", got.Warnings)
			}
			got.Warnings = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("layout (-want +got):\n%s", diff)
			}
		})
	}
}

// A script in the home directory must not upload its keys.
func TestFindRefusesWhatHoldsMoreThanAProject(t *testing.T) {
	for name, test := range map[string]struct {
		files       []string
		entry, what string
	}{
		"home":                         {entry: "home", what: "your home directory"},
		"the desktop":                  {files: []string{"home/Desktop/notes"}, entry: "home/Desktop", what: "your Desktop directory"},
		"home under another name":      {files: []string{"link -> home"}, entry: "link", what: "your home directory"},
		"a project, but a home in use": {files: []string{"home/.git/", "home/.ssh/"}, entry: "home", what: "your home directory"},
		"the same with settings":       {files: []string{"home/requirements.txt", "home/.config/"}, entry: "home", what: "your home directory"},
		"what is above home":           {entry: ".", what: "a system directory"},
		"a system directory":           {files: []string{"link -> /usr"}, entry: "link", what: "a system directory"},
		"no package goes up to home":   {files: []string{"home/__init__.py"}, entry: "home", what: "your home directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, "home/")
			writeFiles(t, dir, test.files...)
			entry := filepath.Join(dir, test.entry)
			_, err := pack.FindProject(pack.ProjectOptions{EntryDir: entry, Cwd: dir, Home: filepath.Join(dir, "home")})
			want := "the package root would be " + entry + ", " + test.what + ", and everything in it would be uploaded"
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "add --package-root "+entry) {
				t.Errorf("error %v, want %q and what to do", err, want)
			}
		})
	}
}

// A script in a project with an __init__.py must not upload the projects beside it.
func TestFindRefusesWhatIsAboveAProject(t *testing.T) {
	for name, test := range map[string]struct {
		files                []string
		entry, root, project string
	}{
		"a repository":     {[]string{"home/code/a/__init__.py", "home/code/a/.git/"}, "home/code/a", "home/code", "home/code/a"},
		"a project":        {[]string{"home/code/a/__init__.py", "home/code/a/pyproject.toml"}, "home/code/a", "home/code", "home/code/a"},
		"below its top":    {[]string{"home/code/a/__init__.py", "home/code/a/.git/", "home/code/a/b/__init__.py"}, "home/code/a/b", "home/code", "home/code/a"},
		"directly in home": {[]string{"home/a/__init__.py", "home/a/.git/"}, "home/a", "home", "home/a"},
		"a worktree":       {[]string{"code/b/__init__.py", "code/b/.git"}, "code/b", "code", "code/b"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, "home/")
			writeFiles(t, dir, test.files...)
			path := func(rel string) string { return filepath.Join(dir, rel) }
			_, err := pack.FindProject(pack.ProjectOptions{EntryDir: path(test.entry), Cwd: dir, Home: path("home")})
			want := fmt.Sprintf("the package root would be %[1]s, above the project %[2]s, which is a Python package, and everything in it would be uploaded: "+
				"to package only the project, add --package-root %[2]s or delete %[2]s/__init__.py; to package all of %[1]s, add --package-root %[1]s", path(test.root), path(test.project))
			if err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
}

func TestFindRejects(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, "p/code/", "q/", "file")
	for given, want := range map[string]string{
		dir + "/nope":     "there is no directory " + dir + "/nope",
		dir + "/file":     dir + "/file is not a directory",
		dir + "/q":        dir + "/q does not contain the code, which is in " + dir + "/p/code",
		dir + "/p/code/x": "there is no directory",
		"~":               "does not contain the code",
	} {
		_, err := pack.FindProject(pack.ProjectOptions{EntryDir: dir + "/p/code", Cwd: dir, Home: dir + "/q", PackageRoot: given, PackageRootFrom: "KINETIC_PACKAGE_ROOT"})
		if err == nil || !strings.Contains(err.Error(), "KINETIC_PACKAGE_ROOT="+given+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want the variable and %q", given, err, want)
		}
	}
}
