package deps

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestOriginsThatAreNotRead: an index must not be asked for a package of the same name, which anybody may have
// put there.
func TestOriginsThatAreNotRead(t *testing.T) {
	app := "-- pyproject.toml --\n[project]\nname = 'app'\ndependencies = [\n 'a',\n 'My_Lib[x]>=1']\n"
	for name, c := range map[string]struct {
		archive, want string
		options       func(*Options)
	}{
		"a workspace":             {app + "[tool.uv.sources]\nmy-lib = {workspace = true}\n", `pyproject.toml:5: "My_Lib[x]>=1" comes from the workspace, as [tool.uv.sources] says, which is used only with a lock: run uv lock`, nil},
		"an unread lock":          {app + "[tool.uv.sources]\nmy-lib = {workspace = true}\n-- uv.lock --\n", "which is used only with its lock: use --requirements uv.lock", func(o *Options) { o.File = "pyproject.toml" }},
		"Git":                     {app + "[tool.uv.sources]\nmy-lib = {git = 'https://me:secret@h/r', rev = 'x'}\n", `comes from the Git repository https://***@h/r, as`, nil},
		"a URL":                   {app + "[tool.uv.sources]\nMy_Lib.url = 'https://h/my_lib-1-py3-none-any.whl'\n", `comes from https://h/my_lib-1-py3-none-any.whl`, nil},
		"an index":                {app + "[tool.uv.sources]\nmy-lib.index = 'inner'\n", `comes from the index inner`, nil},
		"several":                 {app + "[tool.uv.sources]\nmy-lib = [{index = 'a', marker = \"python_version > '3.9'\"}, {index = 'b'}]\n", "comes from one of several sources", nil},
		"another one":             {app + "[tool.uv.sources]\nmy-lib.conda = 'a'\n", "comes from a source that is not known", nil},
		"no table":                {app + "[tool.uv.sources]\nmy-lib = true\n", "comes from a source that is not known", nil},
		"a marked path":           {app + "[tool.uv.sources]\nmy-lib = {path = 'lib', marker = 'x'}\n", "comes from the path lib, as", nil},
		"a path outside":          {app + "[tool.uv.sources]\nmy-lib.path = '../lib'\n", "outside the package root", nil},
		"a missing path":          {app + "[tool.uv.sources]\nmy-lib.path = 'lib'\n", `pyproject.toml:5: "My_Lib[x] @ ./lib": lib: no such file or directory`, nil},
		"of JAX":                  {"-- pyproject.toml --\n[project]\ndependencies = ['jax']\n[tool.uv.sources]\njax.index = 'i'\n", "comes from the index i", nil},
		"in an extra":             {"-- pyproject.toml --\n[project]\noptional-dependencies.e = ['b']\n[tool.uv.sources]\nb.index = 'i'\n", "comes from the index i", func(o *Options) { o.Extras = []string{"e"} }},
		"in a group":              {"-- pyproject.toml --\n[dependency-groups]\ng = ['b']\n[tool.uv.sources]\nb.index = 'i'\n", "comes from the index i", func(o *Options) { o.Groups = []string{"g"} }},
		"in a script":             {"-- x.py --\n# /// script\n# dependencies = ['b']\n# [tool.uv.sources]\n# b.index = 'i'\n# ///\n", `x.py:2: "b" comes from the index i, as [tool.uv.sources] says, which is not read in scripts: write "b @ URL"`, script},
		"in a local one":          {"-- requirements.txt --\n-e .\n-- pyproject.toml --\n[project]\ndependencies = ['b']\n[tool.uv.sources]\nb.index = 'i'\n", "comes from the index i", nil},
		"of the root":             {"-- pyproject.toml --\n[tool.uv.workspace]\nmembers = ['app']\n[tool.uv.sources]\nb.index = 'i'\n-- app/pyproject.toml --\n[project]\ndependencies = ['b']\n-- app/x.py --\n", `app/pyproject.toml:2: "b" comes from the index i, as [tool.uv.sources] of pyproject.toml says`, func(o *Options) { o.EntryDir = filepath.Join(o.Root, "app") }},
		"of Poetry":               {app + "[tool.poetry.dependencies]\nmy-lib = {path = 'lib'}\n", `comes from the path lib, as [tool.poetry.dependencies] says, which is not read: run poetry export -f requirements.txt -o requirements.txt`, nil},
		"of Poetry alone":         {"-- pyproject.toml --\n[tool.poetry.dependencies]\na = '1'\nb = {version = '1', source = 'i'}\n", "pyproject.toml:3: \"b==1\" comes from the index i, as [tool.poetry.dependencies] says, which is not read: run poetry export", nil},
		"of Poetry, with a group": {"-- pyproject.toml --\n[tool.poetry.dependencies]\nb = {version = '1', source = 'i'}\n[tool.poetry.group.ml.dependencies]\na = '1'\n", "requirements.txt --with ml, and leave out --extra and --group", func(o *Options) { o.Groups = []string{"ml"} }},
		"of a group of Poetry":    {"-- pyproject.toml --\n[tool.poetry.dependencies]\nb = '1'\n[tool.poetry.group.ml.dependencies]\na = {version = '1', source = 'i'}\n", `"a==1" comes from the index i, as [tool.poetry.group.ml.dependencies] says, which is not read`, func(o *Options) { o.Groups = []string{"ml"} }},
		"of Poetry's old group":   {"-- pyproject.toml --\n[tool.poetry.dependencies]\nb = '1'\n[tool.poetry.dev-dependencies]\na = {version = '1', source = 'i'}\n", `"a==1" comes from the index i, as [tool.poetry.dev-dependencies] says`, func(o *Options) { o.Groups = []string{"dev"} }},
		"of Poetry's own":         {app + "[tool.poetry.dependencies]\nmy-lib = {source = 'inner', version = '1'}\n", "comes from the index inner", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := at(project(t, c.archive), "")
			if c.options != nil {
				c.options(&o)
			}
			w, err := Find(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %+v, %v; want %q", w, err, c.want)
			}
		})
	}
}

func TestOrigins(t *testing.T) {
	const lib = "-- lib/pyproject.toml --\n[project]\nname = 'my.lib'\ndependencies = ['c']\noptional-dependencies.x = ['d']\n"
	for name, c := range map[string]struct {
		archive string
		want    want
	}{
		"a path in the package root": {
			"-- pyproject.toml --\n[project]\ndependencies = ['a', \"My_Lib[x]>=1; os_name == 'posix'\"]\n[tool.uv.sources]\nmy-lib = {path = 'lib', editable = true}\n" + lib,
			want{Kind: Project, Source: "pyproject.toml", Requirements: []string{"a", "c", "d"}, Local: []string{"My_Lib[x] @ ./lib ; os_name == 'posix'"}},
		},
		"of what is not required": {
			"-- pyproject.toml --\n[project]\ndependencies = ['a']\n[tool.uv.sources]\nb.index = 'x'\n",
			want{Kind: Project, Source: "pyproject.toml", Requirements: []string{"a"}},
		},
		"with a lock": {
			"-- pyproject.toml --\n[project]\nname = 'app'\ndependencies = ['b']\n[tool.uv.sources]\nb.index = 'x'\n-- uv.lock --\n",
			want{Kind: UVLock, Source: "uv.lock", Requirements: []string{"b"}},
		},
		"a path with a lock, which has what it needs": {
			"-- pyproject.toml --\n[project]\nname = 'app'\ndependencies = ['my-lib @ file:lib', 'b']\n-- uv.lock --\n" + lib,
			want{Kind: UVLock, Source: "uv.lock", Requirements: []string{"b"}, Local: []string{"my-lib @ file:lib"}},
		},
		"of Poetry": {
			"-- pyproject.toml --\n[project]\ndependencies = ['a']\n[tool.poetry.dependencies]\na = {version = '1', optional = true}\nb = '*'\n",
			want{Kind: Project, Source: "pyproject.toml", Requirements: []string{"a"}},
		},
		"a project that is local": {
			"-- requirements.txt --\n-e ./app\n-e ./lib\nmy_lib>=1\nb\n-- app/pyproject.toml --\n[project]\ndependencies = ['MY-LIB', 'a']\n[tool.uv.sources]\nmy-lib.workspace = true\n" + lib,
			want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a", "c", "b"}, Local: []string{"./app", "./lib"}},
		},
		"an extra of a project that is local": {
			"-- requirements.txt --\n-e ./lib\nmy_lib[x]\njax\n" + lib,
			want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"c", "d"}, Dropped: []string{"jax"}, Local: []string{"./lib"}},
		},
		"what uv export writes": {
			"-- requirements.txt --\n-e .\na==2 --hash=sha256:aa\nb==3 --hash=sha256:bb\nd==1 --hash=sha256:dd\n-- pyproject.toml --\n[project]\nname = 'app'\ndependencies = ['A[x]>=1', 'b<3', 'c', 'd @ https://h/d.whl']\n",
			want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"b<3", "c", "d @ https://h/d.whl", "a==2", "b==3", "d==1"}, Local: []string{"."}},
		},
		"projects with setup.py": {
			"-- requirements.txt --\n-e libs/one\n./two\nthree @ ./three\nlibs\none\nTWO\nthree\nfour\n-- libs/one/setup.py --\nsetup(\n    name='one',\n)\n-- two/setup.cfg --\n[metadata]\nname = two\n-- three/setup.py --\n",
			want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"libs", "four"}, Local: []string{"libs/one", "./two", "three @ ./three"}},
		},
		"extras of a path with a name": {
			"-- requirements.txt --\nmy-lib[x] @ ./lib\n" + lib,
			want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"c", "d"}, Local: []string{"my-lib[x] @ ./lib"}},
		},
		"a requirement that is listed, too": {
			"-- requirements.txt --\n-e ./app\nb==1\n-- app/pyproject.toml --\n[project]\ndependencies = ['b']\n[tool.uv.sources]\nb.index = 'inner'\n",
			want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"b", "b==1"}, Local: []string{"./app"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := Find(at(project(t, c.archive), ""))
			if diff := cmp.Diff(c.want, found(w), cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}
