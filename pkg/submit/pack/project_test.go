package pack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

func planProject(t *testing.T, root string, opts pack.PlanOptions) *pack.Plan {
	t.Helper()
	p, err := pack.PlanProject(t.Context(), pack.Layout{SourceTree: api.SourceTree{Root: root}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pathsOf(p *pack.Plan) []string {
	var list []string
	for _, f := range p.Index.Files {
		list = append(list, f.Path)
	}
	return list
}

func ignoreFile(t *testing.T, root, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, pack.IgnoreFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExcludes(t *testing.T) {
	always := []string{".git/HEAD", "sub/.git", "a/__pycache__/x.pyc"}
	byDefault := []string{
		".venv/x", "a/venv/x", "node_modules/x", ".tox/x", ".mypy_cache/x", ".ruff_cache/x", ".pytest_cache/x",
		".ipynb_checkpoints/x", ".DS_Store", "a/.DS_Store", "env/pyvenv.cfg", "env/bin/python", "a/py3/pyvenv.cfg",
	}
	kept := []string{".env", ".gitignore", "a/x.pyc", "b/venv", "build/x", "a/env/x", "dist/x", "x.egg-info/PKG-INFO"}
	for name, test := range map[string]struct {
		rules    string
		defaults bool
		want     []string
	}{
		"by default":                        {defaults: true, want: kept},
		"without the defaults":              {want: append(append([]string{}, byDefault...), kept...)},
		"no rule brings them back":          {defaults: true, rules: "!.git\n!.venv\n!.DS_Store\n!*/", want: append([]string{pack.IgnoreFile}, kept...)},
		"a rule leaves out what is left":    {rules: "venv/\n.*\n*_modules\nbuild\nenv\npy3\n", want: []string{"a/x.pyc", "b/venv", "dist/x", "x.egg-info/PKG-INFO"}},
		"the ignore file itself is package": {defaults: true, rules: "*\n!" + pack.IgnoreFile, want: []string{pack.IgnoreFile}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFiles(t, root, always...)
			writeFiles(t, root, byDefault...)
			writeFiles(t, root, kept...)
			if test.rules != "" {
				ignoreFile(t, root, test.rules)
			}
			got := map[string]bool{}
			for _, p := range pathsOf(planProject(t, root, pack.PlanOptions{NoDefaultExcludes: !test.defaults})) {
				got[p] = true
			}
			want := map[string]bool{}
			for _, p := range test.want {
				want[p] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIgnoreFileOfASubdirectoryIsNotRead(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, "a/x")
	ignoreFile(t, filepath.Join(root, "a"), "x")
	if diff := cmp.Diff([]string{"a/.kineticignore", "a/x"}, pathsOf(planProject(t, root, pack.PlanOptions{}))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestStoreInTheRootIsNotPackaged(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, "train.py", "store/blobs/x", "out/model")
	p := planProject(t, root, pack.PlanOptions{Options: pack.Options{Exclude: []string{filepath.Join(root, "store"), filepath.Join(root, "out")}}})
	if diff := cmp.Diff([]string{"train.py"}, pathsOf(p)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Outputs that were copied into the project are not its code. They are in no package, and said.
func TestFetchedOutputsAreNotPackaged(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, "train.py", "models/pretrained/.kinetic-outputs", "models/pretrained/a/model.pt", "models/own.pt", "out/.kinetic-outputs", "out/x")
	p := planProject(t, root, pack.PlanOptions{NoDefaultExcludes: true})
	if diff := cmp.Diff([]string{"models/own.pt", "train.py"}, pathsOf(p)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"models/pretrained", "out"}, p.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if p = planProject(t, filepath.Join(root, "out"), pack.PlanOptions{}); len(p.Index.Files) == 0 || p.LeftOut != nil {
		t.Errorf("%q without %q: the package root itself is always packaged", pathsOf(p), p.LeftOut)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, "x")
	ignoreFile(t, root, "# first\n[a")
	file := filepath.Join(root, pack.IgnoreFile)
	_, err := pack.PlanProject(t.Context(), pack.Layout{SourceTree: api.SourceTree{Root: root}}, pack.PlanOptions{})
	if err == nil || !strings.Contains(err.Error(), file+`: line 2: pattern "[a"`) {
		t.Errorf("a bad rule: error %v, want file, line and pattern", err)
	}

	ignoreFile(t, root, "")
	writeFiles(t, root, "loop/x -> /proc/self/mem")
	_, err = pack.PlanProject(t.Context(), pack.Layout{SourceTree: api.SourceTree{Root: root}}, pack.PlanOptions{})
	if _, statErr := os.Stat("/proc/self/mem"); statErr != nil {
		t.Skip("no file here that cannot be read by anyone")
	}
	if err == nil || !strings.Contains(err.Error(), `"loop/x"`) || !strings.HasSuffix(err.Error(), "make it readable or exclude it in "+file) {
		t.Errorf("an unreadable file: error %v, want its name and both ways out", err)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, root, pack.IgnoreFile+"/")
	_, err = pack.PlanProject(t.Context(), pack.Layout{SourceTree: api.SourceTree{Root: root}}, pack.PlanOptions{})
	if err == nil || !strings.Contains(err.Error(), "reading the ignore rules: read "+file) {
		t.Errorf("an ignore file that is a directory: error %v, want its name", err)
	}
}
