package submit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// TestMetadataOfProjects: importlib.metadata knows projects that travel with a job, as if they were installed.
func TestMetadataOfProjects(t *testing.T) {
	t.Setenv(platform.CallerPython, "no-python")
	own := func(r *api.Request, _ *config.Target) { r.Image = "me/mine:1" }
	command := func(r *api.Request, _ *config.Target) {
		r.Invocation = api.Invocation{Command: true, Args: []string{"python3", "-m", "p"}}
	}
	const fixed, dynamic = "[project]\nname = \"My.P\"\nversion = \"1-2\"\n", "[project]\nname = \"my-p\"\ndynamic = [\"version\"]\n"
	const info = "Metadata-Version: 2.1\nName: my-p\nVersion: 3.dev1\n"
	tests := map[string]struct {
		files  map[string]string
		change func(*api.Request, *config.Target)
		want   string // what is added, and the directories on sys.path
	}{
		"a version":                   {map[string]string{"pyproject.toml": fixed}, nil, "my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD projects.pth | "},
		"of a command":                {map[string]string{"pyproject.toml": fixed, "src/p.py": ""}, command, "my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD projects.pth | "},
		"beside requirements":         {map[string]string{"pyproject.toml": fixed, "requirements.txt": "six\n"}, nil, "my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD projects.pth | "},
		"in src, beside requirements": {map[string]string{"pyproject.toml": fixed, "requirements.txt": "six\n", "src/p.py": ""}, nil, "my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD projects.pth | "},
		"of a setup.py":               {map[string]string{"setup.py": "", "src/p.py": ""}, nil, "projects.pth | "},
		"of no project":               {map[string]string{"requirements.txt": "six\n", "src/p.py": ""}, nil, " | "},
		"in an image of our own":      {map[string]string{"pyproject.toml": fixed}, own, "my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD projects.pth | "},
		"entry points": {map[string]string{"pyproject.toml": fixed + "scripts.x = \"p:f\"\nentry-points.g.y = \"p:g\"\n"}, nil,
			"my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD my_p-1_2.dist-info/entry_points.txt projects.pth | "},
		"of Poetry":                           {map[string]string{"pyproject.toml": "[tool.poetry]\nname = \"q\"\nversion = \"2\"\n"}, nil, "projects.pth q-2.dist-info/METADATA q-2.dist-info/RECORD | "},
		"unknown":                             {map[string]string{"pyproject.toml": dynamic}, nil, "projects.pth | "},
		"as installed":                        {map[string]string{"pyproject.toml": dynamic, ".venv/lib/python3.12/site-packages/my_p-3.dist-info/METADATA": info}, own, "my_p-3.dev1.dist-info/METADATA my_p-3.dev1.dist-info/RECORD projects.pth | "},
		"of an egg-info that is not packaged": {map[string]string{"pyproject.toml": dynamic, "src/my_p.egg-info/PKG-INFO": info, ".kineticignore": "*.egg-info\n"}, nil, "my_p-3.dev1.dist-info/METADATA my_p-3.dev1.dist-info/RECORD projects.pth | src"},
		"of an egg-info that is":              {map[string]string{"pyproject.toml": dynamic, "src/my_p.egg-info/PKG-INFO": info}, nil, "projects.pth | src"},
		"members":                             {map[string]string{"requirements.txt": "-e ./a\n-e ./b\n", "a/pyproject.toml": fixed, "b/pyproject.toml": strings.ReplaceAll(fixed, "My.P", "b")}, nil, "b-1_2.dist-info/METADATA b-1_2.dist-info/RECORD my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD projects.pth | a b"},
		"of a job that submits this one":      {map[string]string{"requirements.txt": "-e ./a\n", "a/pyproject.toml": fixed, ".kinetic-metadata/b-1.dist-info/METADATA": info, ".kinetic-metadata/projects.pth": "../b\n"}, nil, "my_p-1_2.dist-info/METADATA my_p-1_2.dist-info/RECORD projects.pth | a"},
		"without a name":                      {map[string]string{"requirements.txt": "six\n", "pyproject.toml": "[tool.ruff]\n"}, nil, " | "},
		"with a name that is none":            {map[string]string{"pyproject.toml": "[project]\nname = \"../x\"\nversion = \"1\"\n"}, nil, "projects.pth | "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := planOf(t, tt.files, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			var added []string
			for _, f := range p.Files.Index.Files {
				if path, found := strings.CutPrefix(f.Path, api.MetadataDir+"/"); found {
					added = append(added, path)
				}
			}
			path := slices.DeleteFunc(slices.Clone(p.call.SysPath), func(dir string) bool { return dir == "" })
			if got := strings.Join(added, " ") + " | " + strings.Join(path, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestBuiltVersionOfAnEnvironment: the project may be installed in an environment that is elsewhere, as conda's are.
func TestBuiltVersionOfAnEnvironment(t *testing.T) {
	env := t.TempDir()
	python := filepath.Join(env, "bin", "python3"+filepath.Ext(os.Args[0])) // as the test has: .exe on Windows
	for file, text := range map[string]string{python: "", filepath.Join(env, "lib/python3.12/site-packages/My.P-3.dist-info/METADATA"): "Name: my-p\nVersion: 3\n"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(platform.CallerPython, python)
	if got := builtVersion("my_p", t.TempDir(), t.TempDir()); got != "" {
		t.Errorf("version %q of what is no environment", got)
	}
	if err := os.WriteFile(filepath.Join(env, "pyvenv.cfg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := builtVersion("my_p", t.TempDir(), t.TempDir()); got != "3" {
		t.Errorf("version %q, want 3", got)
	}
}

// TestBuiltVersionOfPattern: a directory's name is no pattern.
func TestBuiltVersionOfPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "q[1]")
	if err := os.MkdirAll(filepath.Join(dir, "q.egg-info"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "q.egg-info", "PKG-INFO"), []byte("Name: q\nVersion: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := builtVersion("q", dir, dir); got != "2" {
		t.Errorf("version %q, want 2", got)
	}
}
