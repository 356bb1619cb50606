package deps

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesOfProjectsAndIndexes(t *testing.T) {
	dir := project(t, "-- pyproject.toml --\n[project]\nname = 'My_App'\ndependencies = ['a']\n"+
		"[[tool.uv.index]]\nname = 'inner'\nurl = 'https://one/simple'\n[[tool.uv.index]]\nurl = 'https://two/simple'\n"+
		"-- uv.lock --\nversion = 1\n")
	w, err := Find(at(dir, "."))
	if err != nil || w.Kind != UVLock {
		t.Fatal(w.Kind, err)
	}
	if w.ProjectName != "My_App" {
		t.Errorf("the project is %q", w.ProjectName)
	}
	if diff := cmp.Diff(map[string]string{"https://one/simple": "inner"}, w.IndexNames); diff != "" {
		t.Error(diff)
	}
}

// TestMembersOfAWorkspace: their code is found as that of the project is, if uv would install them.
func TestMembersOfAWorkspace(t *testing.T) {
	dir := project(t, "-- pyproject.toml --\n[project]\nname = 'app'\n-- uv.lock --\nversion = 1\n"+
		"[[package]]\nname = 'app'\nsource = { editable = '.' }\ndependencies = [{ name = 'x' }, { name = 'lib' }]\n[[package]]\nname = 'lib'\nsource = { editable = 'packages/lib' }\noptional-dependencies.y = [{ name = 'copied' }, { name = 'app' }, { name = 'tools' }]\n"+
		"[[package]]\nname = 'unused'\nsource = { editable = 'unused' }\n"+
		"[[package]]\nname = 'copied'\nsource = { directory = 'copied' }\n[[package]]\nname = 'tools'\nsource = { virtual = 'tools' }\ndev-dependencies.d = [{ name = 'outer' }]\n"+
		"[[package]]\nname = 'outer'\nsource = { editable = '../outer' }\n"+
		"[[package]]\nname = 'x'\nsource = { registry = 'https://pypi.org/simple' }\n")
	w, err := Find(at(dir, "."))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{dir, filepath.Join(dir, "packages", "lib"), filepath.Join(dir, "copied"), filepath.Join(filepath.Dir(dir), "outer")}
	if diff := cmp.Diff(want, w.LocalDirs); diff != "" {
		t.Error(diff)
	}
	if len(w.Warnings) != 1 || !strings.HasPrefix(w.Warnings[0], "uv.lock: the project outer in "+want[3]+" is outside the package root "+dir) {
		t.Errorf("warnings: %q", w.Warnings)
	}
	if _, err := Find(at(project(t, "-- pyproject.toml --\n-- uv.lock --\n[[package]]\nname = 'x'\nsource = { editable = 3 }\n"), ".")); err == nil {
		t.Error("a lock that can't be read gives no error")
	}
}

// TestProjectsOfPyLock: their code is found, too, as with uv export --format pylock.toml.
func TestProjectsOfPyLock(t *testing.T) {
	dir := project(t, "-- pyproject.toml --\n[project]\nname = 'app'\n-- pylock.toml --\nlock-version = '1.0'\n"+
		"[[packages]]\nname = 'app'\ndirectory = { path = '.', editable = true }\n[[packages]]\nname = 'lib'\ndirectory = { path = 'packages', subdirectory = 'lib' }\n"+
		"[[packages]]\nname = 'outer'\ndirectory = { path = '../outer' }\n[[packages]]\nname = 'x'\nversion = '1'\n")
	w, err := Find(at(dir, "."))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{dir, filepath.Join(dir, "packages", "lib"), filepath.Join(filepath.Dir(dir), "outer")}
	if diff := cmp.Diff(want, w.LocalDirs); diff != "" {
		t.Error(diff)
	}
	if len(w.Warnings) != 1 || !strings.HasPrefix(w.Warnings[0], "pylock.toml: the project outer in "+want[2]+" is outside the package root "+dir) {
		t.Errorf("warnings: %q", w.Warnings)
	}
}

// TestFromRoot: Hatch and PDM have forms of their own for what is beside a project, or above it.
func TestFromRoot(t *testing.T) {
	const lib = "-- lib/pyproject.toml --\n[project]\nname = 'lib'\ndependencies = ['b']\n-- app/inner/pyproject.toml --\n[project]\nname = 'lib'\ndependencies = ['b']\n" +
		"-- app/none/pyproject.toml --\n[project]\nname = 'lib'\noptional-dependencies.b = ['b']\n"
	for text, want := range map[string]string{
		"[project]\nname = 'app'\ndependencies = ['lib @ {root:parent:uri}/lib']\n":                                                         "lib",
		"[project]\nname = 'app'\ndependencies = ['lib @ {root:uri}/inner']\n":                                                              "app/inner",
		"[project]\nname = 'app'\ndependencies = ['lib @ {root:parent:parent:uri}/lib']\n":                                                  "",
		"[project]\nname = 'app'\ndependencies = ['lib @ file:///${PROJECT_ROOT}/inner']\n":                                                 "app/inner",
		"[project]\nname = 'app'\ndependencies = ['lib @ file:///${PROJECT_ROOT}/../lib']\n":                                                "lib",
		"[project]\nname = 'app'\n[tool.pdm.dev-dependencies]\ndev = ['-e file:///${PROJECT_ROOT}/inner#egg=lib']\n":                        "app/inner",
		"[project]\nname = 'app'\n[dependency-groups]\ndev = ['-e file:///${PROJECT_ROOT}/inner#egg=lib', '-e file:///${PROJECT_ROOT}/']\n": "app/inner",
		"[project]\nname = 'app'\n[tool.pdm.dev-dependencies]\ndev = ['-e file:///${PROJECT_ROOT}/none#egg=lib[b]']\n":                      "app/none",
	} {
		dir := project(t, "-- app/pyproject.toml --\n"+text+lib)
		o := at(dir, "app")
		if strings.Contains(text, "dev") {
			o.Groups = []string{"dev"}
		}
		w, err := Find(o)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "outside the package root") {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err != nil || len(w.Requirements) != 1 || w.Requirements[0].Text != "b" || !slices.Contains(w.LocalDirs, filepath.Join(dir, want)) {
			t.Errorf("%s: requirements %v, projects %q, %v", text, w.Requirements, w.LocalDirs, err)
		}
	}
}

// TestExplicitIndexes: only packages that name such an index come from it, so that it is not asked for others.
func TestExplicitIndexes(t *testing.T) {
	const archive = "-- pyproject.toml --\n[project]\nname = 'app'\n[[tool.uv.index]]\nname = 'inner'\nurl = 'https://one'\nexplicit = true\n"
	for lock, want := range map[string]int{"": 0, "-- uv.lock --\n": 1} {
		w, err := Find(at(project(t, archive+lock), ""))
		if err != nil || len(w.Options) != want || len(w.IndexNames) != want {
			t.Errorf("with %q: %q, %v, %v", lock, w.Options, w.IndexNames, err)
		}
	}
}

// TestLockOfAWorkspace: the root's lock counts for a member without one.
func TestLockOfAWorkspace(t *testing.T) {
	const archive = "-- pyproject.toml --\n[tool.uv]\nindex = [{name = 'inner', url = 'https://one'}]\n[tool.uv.workspace]\nmembers = ['./packages/*/', 'deep/**']\nexclude = ['packages/odd']\n" +
		"-- packages/app/pyproject.toml --\n[project]\nname = 'app'\ndependencies = ['lib']\n[tool.uv]\nsources.lib.workspace = true\nindex-url = 'https://ignored'\n" +
		"-- packages/odd/pyproject.toml --\n[project]\nname = 'odd'\n-- deep/er/a/pyproject.toml --\n[project]\nname = 'deep'\n-- x.py --\n"
	const lock = "-- uv.lock --\n[[package]]\nname = 'app'\nsource.editable = 'packages/app'\ndependencies = [{name = 'lib'}]\n[[package]]\nname = 'lib'\nsource.editable = 'packages/lib'\n"
	for name, c := range map[string]struct{ entry, file, source, project, options string }{
		"a member":          {"packages/app", "", "uv.lock", "app", "--extra-index-url https://one"},
		"one that is named": {"", "packages/app/pyproject.toml", "uv.lock", "app", "--extra-index-url https://one"},
		"one that is deep":  {"deep/er/a", "", "uv.lock", "deep", "--extra-index-url https://one"},
		"no member":         {"packages/odd", "", "packages/odd/pyproject.toml", "odd", "--extra-index-url https://one"}, // [tool.uv] above it counts, as for uv
		"the root":          {"", "", "uv.lock", "", "--extra-index-url https://one"},
	} {
		dir := project(t, archive+lock)
		o := at(dir, c.entry)
		o.File = c.file
		w, err := Find(o)
		if got := strings.Join(w.Options, " "); err != nil || w.Source != c.source || w.ProjectName != c.project || got != c.options {
			t.Errorf("%s: got %s, %s, %s, %v", name, w.Source, w.ProjectName, got, err)
		}
		if w.Kind == UVLock && w.Dir != dir {
			t.Errorf("%s: paths in the lock are relative to %s", name, w.Dir)
		}
	}
	all := workspaceTable{Members: []string{"**/src/*", "libs/**"}, Exclude: []string{"**/old", "libs/**/tests"}}
	for member, want := range map[string]bool{
		"src/a": true, "x/y/src/a": true, "src": false, "x": false, "libs/a": true, "libs/a/b": true, "libs/old": false, "libs/a/old": false, "libs/tests": false, "libs/a/tests": false, "libs/a/tests/b": true,
	} {
		if all.has(member) != want {
			t.Errorf("%s is a member: %v", member, !want)
		}
	}
	if _, err := Find(at(project(t, archive), "packages/app")); err == nil || !strings.Contains(err.Error(), `"lib" comes from the workspace`) {
		t.Errorf("without a lock: %v", err)
	}
	for _, root := range []string{"x", "[tool.uv]\nworkspace = 1\n"} {
		if _, err := Find(at(project(t, strings.Replace(archive, "[tool.uv]\n", root+"\n[tool.uv]\n", 1)), "packages/app")); err == nil {
			t.Errorf("a root with %q gives no error", root)
		}
	}
}

// TestSettingsOfUV: those that change what is installed count, or a warning says that they don't.
func TestSettingsOfUV(t *testing.T) {
	const archive = "-- pyproject.toml --\n[project]\nname = 'app'\n[tool.uv]\nconstraint-dependencies = ['a<2']\noverride-dependencies = ['b==1']\nprerelease = 'allow'\nexclude-newer = 2026-01-01T00:00:00Z\n" +
		"[[tool.uv.index]]\nurl = 'https://one/links'\nformat = 'flat'\n" +
		"[[tool.uv.index]]\nurl = 'wheels'\nformat = 'flat'\n"
	dir := project(t, archive)
	w, err := Find(at(dir, "."))
	if err != nil || len(w.Constraints) != 1 || w.Constraints[0].Text != "a<2" || w.Constraints[0].File != "pyproject.toml" {
		t.Errorf("constraints %+v, %v", w.Constraints, err)
	}
	if diff := cmp.Diff([]string{"--find-links https://one/links", "--find-links " + filepath.Join(dir, "wheels")}, w.Options); diff != "" {
		t.Error(diff)
	}
	if len(w.Warnings) != 1 || !strings.Contains(w.Warnings[0], "pyproject.toml: without a lock, these settings of uv are ignored: exclude-newer, override-dependencies, prerelease: run uv lock") {
		t.Errorf("warnings %q", w.Warnings)
	}
	w, err = Find(at(project(t, archive+"-- uv.lock --\n"), "."))
	if err != nil || len(w.Constraints)+len(w.Warnings) > 0 {
		t.Errorf("with a lock: %+v, %v", w, err)
	}
	if _, err := Find(at(project(t, strings.Replace(archive, "a<2", "a b", 1)), ".")); err == nil || !strings.Contains(err.Error(), `pyproject.toml: column 3 of "a b"`) {
		t.Errorf("got %v", err)
	}
}
