package deps

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// TestPoetry: dependencies of Poetry are read as PEP 508 can express them.
func TestPoetry(t *testing.T) {
	const lib = "-- lib/pyproject.toml --\n[tool.poetry]\nname = 'lib'\n[tool.poetry.dependencies]\nb = '1.0'\n"
	for name, c := range map[string]struct {
		toml           string
		extras, groups []string
		want           []string
	}{
		"ranges": {toml: "[tool.poetry.dependencies]\na='^1.2.3'\nb='~1.2'\nc='*'\nd='>=1,<2'\ne='1.4.*'\nf='2.0'\ng='^0.2.3'\nh='^0.0.3'\ni='~=1.2'\nj='^0'\nk='~1'\nl='!=1.1'\nm='^1.0rc1'\nn='= 1.2'\n",
			want: []string{"a>=1.2.3,<2", "b>=1.2,<1.3", "c", "d>=1,<2", "e==1.4.*", "f==2.0", "g>=0.2.3,<0.3", "h>=0.0.3,<0.0.4", "i~=1.2", "j>=0,<1", "k>=1,<2", "l!=1.1", "m>=1.0rc1,<2", "n==1.2"}},
		"extras and markers": {toml: "[tool.poetry.dependencies]\na={version='^1', extras=['x','y'], markers=\"os_name == 'posix' or os_name == 'nt'\", platform='linux'}\n",
			want: []string{`a[x,y]>=1,<2 ; sys_platform == "linux" and (os_name == 'posix' or os_name == 'nt')`}},
		"for a Python": {toml: "[tool.poetry.dependencies]\na={version='1', python='^3.9'}\nb={version='2', python='~2.7 || >=3.8'}\nc=[{version='1', python='<3.10'}, {version='2', python='>=3.10'}]\n",
			want: []string{`a==1 ; (python_version >= "3.9" and python_version < "4")`,
				`b==2 ; (python_version >= "2.7" and python_version < "2.8" or python_version >= "3.8")`,
				`c==1 ; (python_version < "3.10")`, `c==2 ; (python_version >= "3.10")`}},
		"for a minor Python": {toml: "[tool.poetry.dependencies]\na={version='1', python='<=3.10'}\nb={version='2', python='3.10'}\nc={version='3', python='>3.10.2'}\nd={version='4', python='3.10.*'}\ne={version='5', python='*'}\n",
			want: []string{`a==1 ; (python_version <= "3.10")`, `b==2 ; (python_version == "3.10")`, `c==3 ; (python_full_version > "3.10.2")`,
				`d==4 ; (python_version == "3.10.*")`, `e==5 ; (python_version >= "0")`}},
		"blanks for and": {toml: "[tool.poetry.dependencies]\na={version='>=1 <2', python='>= 3.9 <3.13'}\nb='>=1 , < 2'\nc=' * '\n",
			want: []string{`a>=1,<2 ; (python_version >= "3.9" and python_version < "3.13")`, "b>=1,<2", "c"}},
		"places": {toml: "[tool.poetry.dependencies]\na={git='https://h/a.git', tag='v1', subdirectory='s'}\nb={url='https://h/b-1-py3-none-any.whl'}\nlib={path='lib', develop=true}\nc={git='git@h:me/c.git'}\n" + lib,
			want: []string{"a @ git+https://h/a.git@v1#subdirectory=s", "b @ https://h/b-1-py3-none-any.whl", "c @ git+ssh://***@h/me/c.git"}},
		"extras": {toml: "[tool.poetry.dependencies]\na='1'\nb={version='2', optional=true}\nc={version='3', optional=true}\n[tool.poetry.extras]\nplot=['b']\n",
			extras: []string{"Plot"}, want: []string{"a==1", "b==2"}},
		"groups": {toml: "[tool.poetry.dependencies]\na='1'\n[tool.poetry.group.train.dependencies]\nb='2'\n[tool.poetry.dev-dependencies]\nc='3'\n",
			groups: []string{"train"}, want: []string{"a==1", "b==2"}},
		"a group with others": {toml: "[tool.poetry.dependencies]\na='1'\n[tool.poetry.group.ml]\ninclude-groups=['Train', 'dev']\n[tool.poetry.group.train.dependencies]\nb='2'\n[tool.poetry.dev-dependencies]\nc='3'\n",
			groups: []string{"ml"}, want: []string{"a==1", "b==2", "c==3"}},
		"a source of another group": {toml: "[tool.poetry.dependencies]\na='1'\n[tool.poetry.group.train.dependencies]\na={version='1', source='i'}\n",
			want: []string{"a==1"}},
		"the old group dev": {toml: "[tool.poetry.dependencies]\na='1'\n[tool.poetry.dev-dependencies]\nc='3'\n",
			groups: []string{"dev"}, want: []string{"a==1", "c==3"}},
		"beside [project]": {toml: "[project]\nname='x'\ndependencies=['a>=1']\n[tool.poetry.dependencies]\na={version='1', optional=true}\nb='1'\n",
			want: []string{"a>=1"}},
		"[project] has none": {toml: "[project]\nname='x'\nversion='1'\n[tool.poetry.dependencies]\nb='1'\n",
			want: []string{"b==1"}},
		"dynamic ones": {toml: "[project]\nname='x'\ndynamic=['dependencies']\n[tool.poetry.dependencies]\nb='1'\n",
			want: []string{"b==1"}},
		"groups of PDM": {toml: "[project]\nname='x'\ndependencies=['a']\n[tool.pdm.dev-dependencies]\ntest=['b', 'c>1']\n",
			groups: []string{"test"}, want: []string{"a", "b", "c>1"}},
		"the old group of uv": {toml: "[project]\nname='x'\ndependencies=['a']\n[tool.uv]\ndev-dependencies=['b']\n",
			groups: []string{"dev"}, want: []string{"a", "b"}},
	} {
		o := at(project(t, "-- pyproject.toml --\n"+c.toml), "")
		o.Extras, o.Groups = c.extras, c.groups
		w, err := Find(o)
		want := c.want
		if name == "places" { // what the local project needs follows its place in the table
			want = append(want, "b==1.0")
		}
		if diff := cmp.Diff(want, Shown(w.Requirements)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
		if strings.Contains(name, "group") && len(c.groups) > 0 && strings.Contains(fmt.Sprint(w.Warnings), "is not installed") {
			t.Errorf("%s: %q", name, w.Warnings)
		}
		for _, l := range w.Requirements {
			if _, err := requirement.Parse(l.Text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if l.Number == 0 {
				t.Errorf("%s: %s has no line", name, l.Text)
			}
		}
	}
}

// TestPythonOfPoetry: of Python, a version of two numbers is every patch version of it.
func TestPythonOfPoetry(t *testing.T) {
	for python, want := range map[string]string{
		"^3.9": ">=3.9,<4", ">=3.9,<3.13": ">=3.9,<3.13", ">=3.9 <3.12": ">=3.9,<3.12", ">= 3.9": ">=3.9", "~3.9": ">=3.9,<3.10", "3.9.*": "==3.9.*",
		"<=3.12": "<3.13", ">3.9": ">3.9", "3.12": "==3.12.*", "!=3.11": "!=3.11", "3": "==3.*", "*": "",
		"<=3.12.1": "<=3.12.1", ">3.9.1": ">3.9.1", "3.12.1": "==3.12.1", "3.13rc1": "==3.13rc1", "3.9 || 3.11": "",
	} {
		w, err := Find(at(project(t, "-- pyproject.toml --\n[tool.poetry.dependencies]\npython = '"+python+"'\na = '1'\n"), ""))
		if err != nil || w.RequiresPython != want {
			t.Errorf("%s: %q, %v; want %q", python, w.RequiresPython, err, want)
		}
		if _, err := requirement.ParseSpecifiers(want); err != nil {
			t.Errorf("%s: %v", python, err)
		}
	}
}

func TestPoetryRejects(t *testing.T) {
	for name, c := range map[string]struct{ toml, want string }{
		"two ranges":      {"a='^1 || ^3'", "pyproject.toml:2: a: a requirement can't have || between versions"},
		"a hyphen range":  {"a='1 - 2'", `"-" is not a version`},
		"no version":      {"a='^x'", `pyproject.toml:2: a: "x" is not a version`},
		"a number":        {"a=1", "pyproject.toml:2: a: a dependency is a version or a table"},
		"an index":        {"a={version='1', source='inner'}", "comes from the index inner, as [tool.poetry.dependencies] says"},
		"a path outside":  {"a={path='../a'}", "outside the package root"},
		"a condition":     {"a='>>1'", `">1" is not a version`},
		"Python's ranges": {"a={version='1', python='^x'}", "a: python: "},
	} {
		_, err := Find(at(project(t, "-- pyproject.toml --\n[tool.poetry.dependencies]\n"+c.toml+"\n"), ""))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestSourcesOfTools: an index that a project names is asked, so that nobody else's package of the same name is taken.
func TestSourcesOfTools(t *testing.T) {
	for name, c := range map[string]struct {
		toml string
		want []string
		err  string
	}{
		"a primary one of Poetry":  {toml: "[[tool.poetry.source]]\nname='inner'\nurl='https://inner/simple'\n", want: []string{"--index-url https://inner/simple"}},
		"two and PyPI":             {toml: "[[tool.poetry.source]]\nname='a'\nurl='https://a'\npriority='primary'\n[[tool.poetry.source]]\nname='PyPI'\n", want: []string{"--index-url https://a", "--extra-index-url https://pypi.org/simple"}},
		"a supplemental one":       {toml: "[[tool.poetry.source]]\nname='a'\nurl='https://a'\npriority='supplemental'\n", want: []string{"--extra-index-url https://a"}},
		"an explicit one":          {toml: "[[tool.poetry.source]]\nname='a'\nurl='https://a'\npriority='explicit'\n"},
		"an old secondary one":     {toml: "[[tool.poetry.source]]\nname='a'\nurl='https://a'\nsecondary=true\n", want: []string{"--extra-index-url https://a"}},
		"one of PDM":               {toml: "[[tool.pdm.source]]\nname='inner'\nurl='https://inner'\n[[tool.pdm.source]]\nname='l'\nurl='https://l'\ntype='find_links'\n", want: []string{"--extra-index-url https://inner", "--find-links https://l"}},
		"PDM's in PyPI's place":    {toml: "[[tool.pdm.source]]\nname='pypi'\nurl='https://inner'\n", want: []string{"--index-url https://inner"}},
		"PDM's for some packages":  {toml: "[[tool.pdm.source]]\nname='inner'\nurl='https://inner'\ninclude_packages=['a*']\n", err: "[[tool.pdm.source]] inner has include_packages"},
		"both kinds, and uv's own": {toml: "[[tool.poetry.source]]\nname='a'\nurl='https://a'\n[[tool.uv.index]]\nurl='https://b'\n", want: []string{"--extra-index-url https://b", "--index-url https://a"}},
	} {
		w, err := Find(at(project(t, "-- pyproject.toml --\n[project]\nname='x'\ndependencies=['acme-internal>=1']\n"+c.toml), ""))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", name, err, c.err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, w.Options, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// TestOverlooked: a project is not taken for one that needs nothing without a word.
func TestOverlooked(t *testing.T) {
	const ruff = "-- pyproject.toml --\n[tool.ruff]\nline-length = 100\n"
	const app = "-- pyproject.toml --\n[project]\nname = 'app'\ndependencies = ['a']\n"
	const poetry = "-- pyproject.toml --\n[tool.poetry.dependencies]\na = '1'\n"
	const locked = "[[package]]\nname = 'sympy'\nversion = '1.14'\n[[package]]\nname = 'triton'\nversion = '3'\n[[package]]\nname = 'torch'\nversion = '2.9.0'\n"
	const uvLocked = locked + "dependencies = [{name = 'sympy'}, {name = 'triton', marker = \"sys_platform == 'linux'\"}]\n"
	const pdmLocked = locked + "dependencies = ['SymPy>=1.13', 'triton; sys_platform == \"linux\"', 'absent']\n"
	const poetryLocked = locked + "[package.dependencies]\nsympy = '>=1.13'\ntriton = {version = '3', markers = 'x'}\n"
	for name, c := range map[string]struct {
		archive, source, want string
		entry                 string
	}{
		"setup.py":                          {archive: "-- setup.py --\nsetup(install_requires=['a'])\n", want: "setup.py is not read: run uv pip compile setup.py -o requirements.txt"},
		"one that needs nothing":            {archive: "-- setup.py --\nsetup(name='x')\n"},
		"setup.cfg with a build system":     {archive: "-- pyproject.toml --\n[build-system]\nrequires = ['setuptools']\n-- setup.cfg --\n[options]\ninstall_requires =\n  a\n", want: "setup.cfg is not read: run uv pip compile setup.cfg"},
		"Pipfile":                           {archive: "-- Pipfile --\n-- Pipfile.lock --\n", want: "Pipfile is not read: run pipenv requirements > requirements.txt"},
		"a lock of another name":            {archive: "-- pylock.gpu.toml --\n", want: "pylock.gpu.toml is not read: add --requirements pylock.gpu.toml"},
		"a lock alone":                      {archive: "-- poetry.lock --\n", want: "poetry.lock is not read: run poetry export -f requirements.txt -o requirements.txt"},
		"conda":                             {archive: "-- environment.yml --\n", want: "environment.yml is not read: list its packages in requirements.txt"},
		"pip-tools":                         {archive: "-- requirements.in --\na\n", want: "requirements.in is not read: add --requirements requirements.in"},
		"a folder":                          {archive: "-- requirements/base.txt --\na\n", want: "requirements/base.txt is not read: add --requirements requirements/base.txt"},
		"no extension":                      {archive: "-- requirements --\na\n", want: "requirements is not read: add --requirements requirements"},
		"a capital":                         {archive: "-- Requirements.txt --\na\n", want: "Requirements.txt is not read: add --requirements Requirements.txt"},
		"a word before":                     {archive: "-- gpu-requirements.txt --\na\n", want: "gpu-requirements.txt is not read: add --requirements gpu-requirements.txt"},
		"one letter less":                   {archive: "-- requirement.txt --\na\n", want: "requirement.txt is not read: add --requirements requirement.txt"},
		"short for conda":                   {archive: "-- env.yml --\ndependencies: [a]\n", want: "env.yml is not read: list its packages in requirements.txt"},
		"pip-tools in a folder":             {archive: "-- requirements/gpu.in --\na\n", want: "requirements/gpu.in is not read: add --requirements requirements/gpu.in"},
		"another name":                      {archive: "-- requirements-gpu.txt --\na\n", want: "requirements-gpu.txt is not read: add --requirements requirements-gpu.txt"},
		"pixi":                              {archive: "-- pyproject.toml --\n[tool.pixi.dependencies]\na = '*'\n", want: "[tool.pixi] in pyproject.toml is not read: list its packages"},
		"pixi beside [project]":             {archive: "-- pyproject.toml --\n[project]\nname = 'x'\n[tool.pixi.dependencies]\na = '*'\n", source: "pyproject.toml", want: "[tool.pixi] in pyproject.toml is not read"},
		"pixi.toml":                         {archive: "-- pixi.toml --\n", want: "pixi.toml is not read"},
		"above the code":                    {archive: "-- setup.py --\nsetup(install_requires=['a'])\n-- src/x.py --\n", entry: "src", want: "setup.py is not read"},
		"poetry.lock beside [project]":      {archive: app + "-- poetry.lock --\n", source: "pyproject.toml", want: "poetry.lock is not read, because pyproject.toml is: for its versions, run poetry export"},
		"pdm.lock beside [project]":         {archive: app + "-- pdm.lock --\n", source: "pyproject.toml", want: "pdm.lock is not read, because pyproject.toml is: for its versions, type pdm export"},
		"uv.lock beside requirements":       {archive: "-- requirements.txt --\na\n-- uv.lock --\n", source: "requirements.txt", want: "uv.lock is not read, because requirements.txt is: for its versions, add --requirements uv.lock"},
		"uv.lock below the root":            {archive: "-- src/requirements.txt --\na\n-- src/uv.lock --\n", entry: "src", source: "src/requirements.txt", want: "src/uv.lock is not read, because src/requirements.txt is: for its versions, add --requirements src/uv.lock"},
		"a pin beside uv.lock":              {archive: "-- requirements.txt --\ntorch==2.9.0\n-- uv.lock --\n" + uvLocked, source: "requirements.txt", want: "uv.lock is not read, because requirements.txt is: for its versions, add --requirements uv.lock"},
		"a pin beside poetry.lock":          {archive: "-- requirements.txt --\ntorch==2.9.0\n-- poetry.lock --\n" + poetryLocked, source: "requirements.txt", want: "poetry.lock is not read, because requirements.txt is: for its versions, run poetry export"},
		"a pin beside pdm.lock":             {archive: "-- requirements.txt --\ntorch==2.9.0\n-- pdm.lock --\n" + pdmLocked, source: "requirements.txt", want: "pdm.lock is not read, because requirements.txt is: for its versions, type pdm export"},
		"another version than uv.lock's":    {archive: "-- requirements.txt --\ntorch==2.8.0\nsympy==1.14\n-- uv.lock --\n" + uvLocked, source: "requirements.txt", want: "uv.lock is not read, because requirements.txt is"},
		"a pin in [project]":                {archive: strings.Replace(app, "'a'", "'torch==2.9.0'", 1) + "-- poetry.lock --\n" + poetryLocked, source: "pyproject.toml", want: "poetry.lock is not read, because pyproject.toml is"},
		"a pin, and JAX, which is left out": {archive: "-- requirements.txt --\njax==0.7\ntorch==2.9.0\nsympy==1.14\n-- uv.lock --\n" + uvLocked, source: "requirements.txt", want: "uv.lock is not read, because requirements.txt is"},
		"a lock that can't be read":         {archive: "-- requirements.txt --\ntorch==2.9.0\n-- pdm.lock --\nno TOML\n", source: "requirements.txt", want: "pdm.lock is not read, because requirements.txt is"},
		"exported from uv.lock":             {archive: "-- requirements.txt --\nTorch==2.9.0\nsympy==1.14 ; python_version > '3'\n-- uv.lock --\n" + uvLocked, source: "requirements.txt"},
		"exported from poetry.lock":         {archive: "-- requirements.txt --\ntorch==2.9.0\nsympy==1.14\n-- poetry.lock --\n" + poetryLocked, source: "requirements.txt"},
		"exported from pdm.lock":            {archive: "-- requirements.txt --\ntorch==2.9.0\nsympy==1.14\n-- pdm.lock --\n" + pdmLocked, source: "requirements.txt"},
		"hashes beside a lock":              {archive: "-- requirements.txt --\ntorch==2.8.0 --hash=sha256:00\n-- uv.lock --\n" + uvLocked, source: "requirements.txt"},
		"Rye":                               {archive: app + "-- requirements.lock --\na==1\n", source: "pyproject.toml", want: "requirements.lock is not read, because pyproject.toml is: for its versions, add --requirements requirements.lock"},
		"Rye alone":                         {archive: "-- requirements.lock --\na==1\n", want: "requirements.lock is not read: add --requirements requirements.lock"},
		"conda of MLflow":                   {archive: "-- conda.yaml --\ndependencies: [pytorch]\n", want: "conda.yaml is not read: list its packages in requirements.txt, with"},
		"conda for GPUs":                    {archive: "-- environment-gpu.yml --\ndependencies: [pytorch]\n", want: "environment-gpu.yml is not read: list its packages in requirements.txt, with"},
		"conda for GPUs, in another form":   {archive: "-- environment_gpu.yaml --\nname: x\ndependencies:\n- pytorch\n", want: "environment_gpu.yaml is not read: list its packages"},
		"more in conda for GPUs":            {archive: app + "-- environment-gpu.yml --\ndependencies: [pytorch]\n", source: "pyproject.toml", want: "environment-gpu.yml is not read: list its packages in pyproject.toml"},
		"conda for developers":              {archive: app + "-- environment-dev.yml --\ndependencies: [pytest]\n", source: "pyproject.toml"},
		"another environment":               {archive: "-- environment-gpu.yml --\nname: staging\n"},
		"conda-lock":                        {archive: "-- conda-lock.yml --\n", want: "conda-lock.yml is not read: list its packages in requirements.txt, with"},
		"conda-lock with a name":            {archive: "-- gpu.conda-lock.yml --\n", want: "gpu.conda-lock.yml is not read"},
		"conda-lock beside [project]":       {archive: app + "-- conda-lock.yml --\n", source: "pyproject.toml", want: "conda-lock.yml is not read: list its packages in pyproject.toml"},
		"a project that lists packages":     {archive: app + "-- setup.py --\nsetup(install_requires=['a'])\n-- requirements-dev.txt --\n", source: "pyproject.toml"},
		"settings of tools hide nothing":    {archive: "-- requirements.txt --\ntorch\n-- src/x.py --\n" + strings.Replace(ruff, "pyproject", "src/pyproject", 1), entry: "src", source: "requirements.txt"},
		"a [project] without any":           {archive: "-- pyproject.toml --\n[project]\nname = 'x'\n-- environment.yaml --\n", source: "pyproject.toml", want: "environment.yaml is not read"},
		"more in conda":                     {archive: app + "-- environment.yml --\n", source: "pyproject.toml", want: "environment.yml is not read: list its packages"},
		"more in a folder":                  {archive: app + "-- requirements/base.txt --\n-- requirements/ci.txt --\n", source: "pyproject.toml", want: "requirements/base.txt is not read: list its packages in pyproject.toml"},
		"an empty file and a folder":        {archive: "-- requirements.txt --\n-- requirements/gpu.txt --\n", source: "requirements.txt", want: "requirements/gpu.txt is not read: add --requirements"},
		"only for developers":               {archive: app + "-- requirements/dev.txt --\n-- requirements/tests.txt --\n", source: "pyproject.toml"},
		"an empty file beside conda":        {archive: "-- requirements.txt --\n# none\n-- environment.yml --\n", source: "requirements.txt", want: "environment.yml is not read"},
		"an empty file beside setup.py":     {archive: "-- requirements.txt --\n-- setup.py --\nsetup(install_requires=['a'])\n", source: "requirements.txt", want: "setup.py is not read"},
		"a file beside conda":               {archive: "-- requirements.txt --\na\n-- environment.yml --\n", source: "requirements.txt"},
		"an empty file":                     {archive: "-- requirements.txt --\n" + app, source: "requirements.txt", want: "pyproject.toml is not read, because requirements.txt is, which lacks a: add --requirements pyproject.toml to read it instead, or the line -e . to requirements.txt to read both"},
		"[project] with more":               {archive: "-- requirements.txt --\nb\n" + app, source: "requirements.txt", want: "pyproject.toml is not read, because requirements.txt is, which lacks a:"},
		"[project] with the same":           {archive: "-- requirements.txt --\nA==1\nb\n" + app, source: "requirements.txt"},
		"[project] that is installed":       {archive: "-- requirements.txt --\n-e .\n" + app, source: "requirements.txt"},
		"[project] of requirements.txt":     {archive: "-- requirements.txt --\na\n-- pyproject.toml --\n[project]\nname = 'app'\ndynamic = ['dependencies']\n", source: "requirements.txt"},
		"Poetry with more":                  {archive: "-- requirements.txt --\nb\n" + poetry, source: "requirements.txt", want: "pyproject.toml is not read, because requirements.txt is, which lacks a:"},
		"pylock.toml beside requirements":   {archive: "-- requirements.txt --\ntorch\n-- pylock.toml --\n" + app, source: "requirements.txt", want: "pylock.toml is not read, because requirements.txt is: for its versions, add --requirements pylock.toml"},
		"exported from pylock.toml":         {archive: "-- requirements.txt --\ntorch==2.9.0\nsympy==1.14\n-- pylock.toml --\n" + strings.ReplaceAll(locked, "[[package]]", "[[packages]]"), source: "requirements.txt"},
		"[project] with a marker":           {archive: "-- requirements.txt --\na\n" + strings.Replace(app, "'a'", "'a', \"colorama; sys_platform == 'win32'\"", 1), source: "requirements.txt"},
		"[project] with an egg":             {archive: "-- requirements.txt --\ngit+https://g/x#egg=A\n" + app, source: "requirements.txt"},
		"[project] with a wheel":            {archive: "-- requirements.txt --\n./a-1.0-py3-none-any.whl\n-- a-1.0-py3-none-any.whl --\n" + app, source: "requirements.txt"},
		"[project] with a URL":              {archive: "-- requirements.txt --\ngit+https://g/x\n" + app, source: "requirements.txt"},
		"uv's settings hide nothing":        {archive: "-- requirements.txt --\ntorch\n-- src/pyproject.toml --\n[tool.uv]\npackage = false\n", entry: "src", source: "requirements.txt"},
		"PDM's settings":                    {archive: "-- requirements.txt --\ntorch\n-- src/pyproject.toml --\n[tool.pdm]\ndistribution = false\n", entry: "src", source: "src/pyproject.toml", want: "requirements.txt is not read, because src/pyproject.toml is: add --requirements requirements.txt"},
		"Poetry's settings":                 {archive: app + "-- src/pyproject.toml --\n[tool.poetry]\npackage-mode = false\n", entry: "src", source: "src/pyproject.toml", want: "pyproject.toml is not read, because src/pyproject.toml is: add --requirements pyproject.toml"},
		"a group for developers":            {archive: "-- pylock.toml --\n-- src/x/pyproject.toml --\n[dependency-groups]\ndev = ['ruff']\n", entry: "src/x", source: "src/x/pyproject.toml", want: "pylock.toml is not read, because src/x/pyproject.toml is: add --requirements pylock.toml"},
		"tools above a group":               {archive: ruff + "-- src/pyproject.toml --\n[dependency-groups]\ndev = ['ruff']\n", entry: "src", source: "src/pyproject.toml"},
		"requirements above a project":      {archive: "-- requirements.txt --\ntorch\n" + strings.Replace(app, "py", "src/py", 1), entry: "src", source: "src/pyproject.toml"},
		"Poetry's group":                    {archive: poetry + "[tool.poetry.group.ml.dependencies]\nb = '1'\n[tool.poetry.group.dev.dependencies]\nc = '1'\n", source: "pyproject.toml", want: "pyproject.toml: Poetry's group ml is not installed: add --group ml if"},
		"Poetry's group of groups":          {archive: poetry + "[tool.poetry.group.ml]\ninclude-groups = ['dev']\n[tool.poetry.group.dev.dependencies]\nc = '1'\n", source: "pyproject.toml", want: "pyproject.toml: Poetry's group ml is not installed: add --group ml if"},
		"Poetry's optional group":           {archive: poetry + "[tool.poetry.group.ml]\noptional = true\n[tool.poetry.group.ml.dependencies]\nb = '1'\n", source: "pyproject.toml"},
		"a group beside a local project":    {archive: poetry + "lib = {path = 'lib'}\n[tool.poetry.group.ml.dependencies]\nb = '1'\n-- lib/pyproject.toml --\n[project]\nname = 'lib'\n", source: "pyproject.toml", want: "pyproject.toml: Poetry's group ml is not installed"},
		"that of a local project":           {archive: "-- pyproject.toml --\n[tool.poetry.dependencies]\nlib = {path = 'lib'}\n" + strings.Replace(poetry, "py", "lib/py", 1) + "[tool.poetry.group.ml.dependencies]\nb = '1'\n", source: "pyproject.toml"},
	} {
		dir := project(t, c.archive)
		o := at(dir, c.entry)
		o.EntryDir = filepath.Join(dir, c.entry)
		w, err := Find(o)
		got := strings.Join(w.Warnings, "\n")
		if err != nil || w.Source != c.source || (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: source %q, warnings %q, %v; want %q, %q", name, w.Source, got, err, c.source, c.want)
		}
	}
}
