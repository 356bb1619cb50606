package deps

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"golang.org/x/tools/txtar"
)

// project writes the files of an archive into a new directory.
func project(t testing.TB, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// at returns the options for a project in dir, whose code is in a folder of it.
func at(dir, entry string) Options {
	return Options{Root: dir, EntryDir: filepath.Join(dir, entry), Cwd: dir, Home: filepath.Dir(dir)}
}

// want is what a test expects: the texts of lines.
type want struct {
	Kind                                      Kind
	Source                                    string
	Requirements, Dropped, Local, Constraints []string
	Options                                   []string
	RequiresPython                            string
	Warnings                                  int
}

func found(w Wanted) want {
	return want{w.Kind, w.Source, Shown(w.Requirements), Shown(w.Dropped), Shown(w.Local), Shown(w.Constraints), w.Options, w.RequiresPython, len(w.Warnings)}
}

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		archive string
		options func(*Options)
		want    want
	}{
		"nothing": {archive: "-- a.py --\n"},
		"the nearest file wins": {
			archive: "-- requirements.txt --\na\n-- sub/pyproject.toml --\n[project]\ndependencies = ['b']\n-- sub/deep/x.py --\n",
			options: func(o *Options) { o.EntryDir = filepath.Join(o.Root, "sub", "deep") },
			want:    want{Kind: Project, Source: "sub/pyproject.toml", Requirements: []string{"b"}},
		},
		"requirements.txt wins in a directory": {
			archive: "-- requirements.txt --\na\n-- pyproject.toml --\n[project]\ndependencies = ['b']\n-- pylock.toml --\n",
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a"}, Warnings: 1},
		},
		"directories of these names don't count": {
			archive: "-- requirements.txt/x --\n-- pyproject.toml --\n[project]\ndependencies = ['b']\n",
			want:    want{Kind: Project, Source: "pyproject.toml", Requirements: []string{"b"}},
		},
		"the search ends at the repository's root": {
			archive: "-- requirements.txt --\na\n-- repo/.git/HEAD --\n-- repo/x.py --\n",
			options: func(o *Options) { o.EntryDir = filepath.Join(o.Root, "repo") },
		},
		"a file above the package root": {
			archive: "-- requirements.txt --\na\n-c limits.txt\n-- limits.txt --\na<2\n-- sub/x.py --\n",
			options: func(o *Options) { o.Root, o.EntryDir = filepath.Join(o.Root, "sub"), filepath.Join(o.Root, "sub") },
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a"}, Constraints: []string{"a<2"}},
		},
		"a lock wins over its project": {
			archive: "-- uv.lock --\nversion = 1\n-- pyproject.toml --\n[project]\ndependencies = ['b']\n",
			want:    want{Kind: UVLock, Source: "uv.lock", Requirements: []string{"b"}},
		},
		"a lock of several tools": {
			archive: "-- pylock.toml --\nlock-version = '1.0'\n[[packages]]\nname = 'jax'\nversion = '0.5'\n[[packages]]\nname = 'local'\n",
			want:    want{Kind: PyLock, Source: "pylock.toml", Requirements: []string{"jax==0.5", "local"}},
		},
		"a lock without a project": {archive: "-- uv.lock --\nversion = 1\n"},
		"a file that is named": {
			archive: "-- requirements.txt --\na\n-- ci/dev.in --\nb\n-r ../requirements.txt\n",
			options: func(o *Options) { o.File = "ci/dev.in" },
			want:    want{Kind: Requirements, Source: "ci/dev.in", Requirements: []string{"b", "a"}},
		},
		"a requirements file as people write them": {
			archive: "-- requirements.txt --\n\ufeff# comment\n\n  numpy >= 1.2 # why\r\npandas[excel]==2.0 ; python_version < '3.12'\n" +
				"flask \\\n   >=2 \\\n  # ends it\n-i https://u:p@index/simple\n--extra-index-url=https://other\n--no-binary :all:\n" +
				"torch @ https://h/torch-1-py3-none-any.whl#sha256=ab\ngit+https://github.com/google/jax\nmissing\\\n",
			want: want{Kind: Requirements, Source: "requirements.txt",
				Requirements: []string{"numpy >= 1.2", "pandas[excel]==2.0 ; python_version < '3.12'", "flask    >=2", "torch @ https://h/torch-1-py3-none-any.whl#sha256=ab", "git+https://github.com/google/jax", "missing"},
				Options:      []string{"--index-url https://u:p@index/simple", "--extra-index-url https://other", "--no-binary :all:"}, Warnings: 1},
		},
		"as > of Windows PowerShell writes it": {
			archive: "-- requirements.txt --\n\xff\xfen\x00u\x00m\x00p\x00y\x00\r\x00\n\x00b\x00\r\x00\n\x00",
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"numpy", "b"}},
		},
		"in UTF-16 of the other order": {
			archive: "-- requirements.txt --\n\xfe\xff\x00a\x00\n\x00#\x00 \x00\xe9",
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a"}},
		},
		"the Python tool": {
			archive: "-- requirements.txt --\nKeras_Kinetic>=0.0.4\na\nkeras-kinetic # kn:keep\n",
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a", "keras-kinetic"}, Warnings: 1},
		},
		"a project beside it, as Hatch names it": {
			archive: "-- pyproject.toml --\n[project]\nname = 'app'\ndependencies = ['a', 'lib[fast] @ {root:uri}/libs/lib']\n-- libs/lib/pyproject.toml --\n[project]\nname = 'lib'\ndependencies = ['b']\noptional-dependencies.fast = ['c']\n",
			want:    want{Kind: Project, Source: "pyproject.toml", Requirements: []string{"a", "b", "c"}, Local: []string{"lib[fast] @ ./libs/lib"}},
		},
		"included files": {
			archive: "-- requirements.txt --\na\n-r reqs/base.txt\n-creqs/limits.txt\n--constraint=reqs/limits.txt\n-- reqs/base.txt --\nb\n-r ../requirements.txt\n-- reqs/limits.txt --\nb<3\n-r more.txt\n-- reqs/more.txt --\nc<1\n",
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a", "b"}, Constraints: []string{"b<3", "c<1"}},
		},
		"what jobs get anyway": {
			archive: "-- requirements.txt --\njax[tpu]>=0.4\nJax == 0.5\nlibtpu_nightly\njaxlib==1 \\\n  --hash=sha256:aa \\\n  --hash sha256:bb\njaxtyping\nJAX_LIB\njax==0.4.25 # kn:keep\njax @ https://h/jax.whl\n# jax\n#kn:keep\nlibtpu #kn:keep\n",
			want: want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"jaxtyping", "JAX_LIB", "jax==0.4.25"},
				Dropped: []string{"jax[tpu]>=0.4", "Jax == 0.5", "libtpu_nightly", "jaxlib==1", "jax @ https://h/jax.whl", "libtpu"}},
		},
		"projects in the package root": {
			archive: "-- requirements.txt --\n-e .\n./lib[fast]\n-e lib\nold @ ./old\n-- pyproject.toml --\n[project]\nname = 'x'\nrequires-python = '>=3.9'\ndependencies = ['a']\n" +
				"-- lib/pyproject.toml --\n[project]\ndependencies = ['b']\noptional-dependencies.fast = ['c']\n-- old/setup.py --\n",
			want: want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a", "b", "c"}, Local: []string{".", "./lib[fast]", "./lib", "old @ ./old"}, RequiresPython: ">=3.9"},
		},
		"a project with extras and groups": {
			archive: "-- pyproject.toml --\n[project]\nname = 'My_App'\ndependencies = [\n  'a', \"jax==0.4.25 # kn:keep\", 'jax',\n]\n[project.optional-dependencies]\nGPU_x = ['b', 'my-app[more]']\nmore = ['c']\n" +
				"[dependency-groups]\ndev = ['d', {include-group = 'test'}]\ntest = ['e']\n[[tool.uv.index]]\nurl = 'https://one'\ndefault = true\n[[tool.uv.index]]\nurl = 'https://two'\n",
			options: func(o *Options) { o.Extras, o.Groups = []string{"gpu-X"}, []string{"dev"} },
			want: want{Kind: Project, Source: "pyproject.toml", Requirements: []string{"a", "jax==0.4.25", "b", "c", "d", "e"}, Dropped: []string{"jax"},
				Options: []string{"--index-url https://one", "--extra-index-url https://two"}},
		},
		"dynamic dependencies": {
			archive: "-- pyproject.toml --\n[project]\ndynamic = ['dependencies']\n",
			want:    want{Kind: Project, Source: "pyproject.toml", Warnings: 1},
		},
		"dependencies of Poetry": {
			archive: "-- pyproject.toml --\n[tool.poetry.dependencies]\npython = '^3.9'\nnumpy = '*'\n",
			want:    want{Kind: Project, Source: "pyproject.toml", Requirements: []string{"numpy"}, RequiresPython: ">=3.9,<4"},
		},
		"metadata in the script": {
			archive: "-- requirements.txt --\na\n-- x.py --\n#!/usr/bin/env python3\n# /// script\n# requires-python = \">=3.11\"\n# dependencies = [\n#   \"b\",\n#\n#   \"c>1\",\n# ]\n# ///\nprint()\n",
			options: func(o *Options) { o.Script = filepath.Join(o.Root, "x.py") },
			want:    want{Kind: Script, Source: "x.py", Requirements: []string{"b", "c>1"}, RequiresPython: ">=3.11"},
		},
		"metadata without an end": {
			archive: "-- requirements.txt --\na\n-- x.py --\n# /// script\n# dependencies = []\n",
			options: func(o *Options) { o.Script = filepath.Join(o.Root, "x.py") },
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a"}, Warnings: 1},
		},
		"several options on a line": {
			archive: "-- requirements.txt --\n--index-url https://one --extra-index-url=https://two -r 'with blank.txt'\n-- with blank.txt --\na\n",
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a"}, Options: []string{"--index-url https://one", "--extra-index-url https://two"}},
		},
		"a script without metadata": {
			archive: "-- requirements.txt --\na\n-- x.py --\n# /// other\n# ///\nprint('# /// script')\n",
			options: func(o *Options) { o.Script = filepath.Join(o.Root, "x.py") },
			want:    want{Kind: Requirements, Source: "requirements.txt", Requirements: []string{"a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := at(project(t, c.archive), "")
			if c.options != nil {
				c.options(&o)
			}
			w, err := Find(o)
			got := found(w)
			got.Source = strings.TrimPrefix(got.Source, filepath.Dir(o.Root)+"/") // of a file above the root
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestHashes(t *testing.T) {
	w, err := Find(at(project(t, "-- requirements.txt --\n\na==1 \\\n  --hash=sha256:aa \\\n  --hash sha256:bb # both\n"), ""))
	want := []Line{{Text: "a==1", Hashes: []string{"sha256:aa", "sha256:bb"}, File: "requirements.txt", Number: 2}}
	if diff := cmp.Diff(want, w.Requirements, cmpopts.IgnoreUnexported(Line{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestFilesOfTheProject(t *testing.T) {
	dir := project(t, "-- requirements.txt --\nwheels/a-1-py3-none-any.whl\n./b-1.tar.gz\nc @ file:wheels/a-1-py3-none-any.whl\n--find-links wheels\n-- wheels/a-1-py3-none-any.whl --\n-- b-1.tar.gz --\n")
	w, err := Find(at(dir, ""))
	var paths []string
	for _, l := range w.Requirements {
		paths = append(paths, strings.TrimPrefix(l.Path, dir+"/"))
	}
	if diff := cmp.Diff([]string{"wheels/a-1-py3-none-any.whl", "b-1.tar.gz", "wheels/a-1-py3-none-any.whl"}, paths); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"--find-links " + dir + "/wheels"}, w.Options); diff != "" {
		t.Error(diff)
	}
}

func TestFindRejects(t *testing.T) {
	for name, c := range map[string]struct {
		archive string
		options func(*Options)
		want    string
	}{
		"a missing file":        {"-- requirements.txt --\na\n-r base.txt\n", nil, `requirements.txt:2: "-r base.txt": base.txt: no such file`},
		"a file outside":        {"-- requirements.txt --\n-r ../x.txt\n", nil, `requirements.txt:1: "-r ../x.txt": `},
		"a constraint outside":  {"-- requirements.txt --\n\n\n--constraint=/etc/passwd\n", nil, `requirements.txt:3: "--constraint=/etc/passwd": /etc/passwd is outside the package root`},
		"an included mistake":   {"-- requirements.txt --\n-r b.txt\n-- b.txt --\n\na b\n", nil, `b.txt:2: column 3 of "a b": `},
		"a project outside":     {"-- requirements.txt --\n-e ../other\n", nil, `requirements.txt:1: "../other": `},
		"a path outside":        {"-- requirements.txt --\na @ file:///etc/a.whl\n", nil, "outside the package root"},
		"a URL without TLS":     {"-- requirements.txt --\n-r http://h/r.txt\n", nil, "only https URLs and files of the project are read"},
		"a missing wheel":       {"-- requirements.txt --\n./a.whl\n", nil, `requirements.txt:1: "./a.whl": a.whl: no such file or directory`},
		"missing links":         {"-- requirements.txt --\nnumpy\n--find-links ./wheels\n", nil, `requirements.txt:2: --find-links ./wheels: there is no `},
		"no version":            {"-- requirements.txt --\nnumpy=1\n", nil, `requirements.txt:1: column 6 of "numpy=1": "=1" can't follow the name numpy`},
		"an unknown option":     {"-- requirements.txt --\n--requiremnt x\n", nil, "requirements.txt:1: --requiremnt is not an option of requirements files: did you mean"},
		"an option's value":     {"-- requirements.txt --\n-r\n", nil, "requirements.txt:1: -r needs a value"},
		"an unwanted value":     {"-- requirements.txt --\n--pre yes\n", nil, "yes is not an option"},
		"a value after =":       {"-- requirements.txt --\n--pre=yes\n", nil, "--pre takes no value"},
		"an open quote":         {"-- requirements.txt --\n-r 'x\n", nil, "requirements.txt:1: a closing ' is missing"},
		"a wrong option behind": {"-- requirements.txt --\na --pre\n", nil, "--pre can't follow a requirement"},
		"building":              {"-- requirements.txt --\na --config-settings x=y\n", nil, "for building packages"},
		"another encoding":      {"-- requirements.txt --\na\n\xff\xfe\n", nil, "requirements.txt:2: not UTF-8"},
		"a constraint's path":   {"-- requirements.txt --\n-c c.txt\n-- c.txt --\n./x\n", nil, "c.txt:1: "},
		"TOML":                  {"-- pyproject.toml --\n[project]\nx = \n", nil, "pyproject.toml:2:5: "},
		"a type":                {"-- pyproject.toml --\n[project]\ndependencies = 'a'\n", nil, "pyproject.toml:2:"},
		"a requirement":         {"-- pyproject.toml --\n[project]\ndependencies = [\n 'a b']\n", nil, `pyproject.toml:3: column 3 of "a b"`},
		"an extra": {"-- pyproject.toml --\n[project.optional-dependencies]\ngpu = []\n", func(o *Options) { o.Extras = []string{"gpuu"} },
			`pyproject.toml has no extra "gpuu": did you mean "gpu"?`},
		"a group":                      {"-- pyproject.toml --\n[project]\n", func(o *Options) { o.Groups = []string{"dev"} }, `pyproject.toml has no group "dev": it has none at all`},
		"a group that includes itself": {"-- pyproject.toml --\n[dependency-groups]\na = [{include-group = 'b'}]\nb = [{include-group = 'A'}]\n", func(o *Options) { o.Groups = []string{"a"} }, "includes itself"},
		"an entry of a group":          {"-- pyproject.toml --\n[dependency-groups]\na = [1]\n", func(o *Options) { o.Groups = []string{"a"} }, `the group "a" has 1`},
		"an extra of a text":           {"-- requirements.txt --\na\n", func(o *Options) { o.Extras = []string{"x"} }, "--extra x: requirements.txt has none"},
		"an extra of nothing":          {"-- x.py --\n", func(o *Options) { o.Groups = []string{"x"} }, "--group x: the project has no file"},
		"a file that is named":         {"-- x.py --\n", func(o *Options) { o.File = "dev.txt" }, "--requirements dev.txt: there is no file of that name"},
		"another lock":                 {"-- poetry.lock --\n", func(o *Options) { o.File = "poetry.lock" }, "only lock files of uv"},
		"a lock's TOML":                {"-- pylock.toml --\nx\n", nil, "pylock.toml:1:"},
		"a lock's extra":               {"-- uv.lock --\n-- pyproject.toml --\n", func(o *Options) { o.Extras = []string{"x"} }, `no extra "x"`},
		"metadata twice":               {"-- x.py --\n# /// script\n# ///\n\n# /// script\n# ///\n", script, "x.py:4: the script has metadata twice"},
		"metadata":                     {"-- x.py --\n\n# /// script\n# x = \n# ///\n", script, "x.py:3:"},
	} {
		t.Run(name, func(t *testing.T) {
			o := at(project(t, c.archive), "")
			if c.options != nil {
				c.options(&o)
			}
			if w, err := Find(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v; want %q", w, err, c.want)
			}
		})
	}
}

func script(o *Options) { o.Script = filepath.Join(o.Root, "x.py") }

func TestCredentialsAreHidden(t *testing.T) {
	w, err := Find(at(project(t, "-- requirements.txt --\na @ https://user:secret@h/a.whl\ngit+https://secret@h/r\nb @ https://user:se@secret@h/b.whl\nc @ https://h/c.whl?X-Signature=secret#sha256=ab\n"), ""))
	want := []string{"a @ https://***@h/a.whl", "git+https://***@h/r", "b @ https://***@h/b.whl", "c @ https://h/c.whl?***#sha256=ab"}
	if diff := cmp.Diff(want, Shown(w.Requirements)); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, line := range []string{"a @ https://u:secret@h/a.whl x", "-r http://u:secret@h/r.txt", "a --bad https://u:secret@h"} {
		if _, err := Find(at(project(t, "-- requirements.txt --\n"+line+"\n"), "")); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestWithModule(t *testing.T) {
	w, err := Find(at(project(t, "-- requirements.txt --\n# torch\nNumPy>=1.26  # pandas\nscikit_learn[all]==1\njax[tpu]\npyyaml\nhttps://h/x.whl\n"), ""))
	if err != nil {
		t.Fatal(err)
	}
	for module, want := range map[string]string{"numpy.random": "NumPy", "sklearn.ensemble": "scikit_learn", "jax": "jax", "yaml": "pyyaml", "torch": "", "pandas": "", "num": "", "": "", "https": ""} {
		if l, ok := w.WithModule(module); l.Name() != want || ok != (want != "") {
			t.Errorf("%s: got %v, %v; want %s", module, l, ok, want)
		}
	}
}

// What was read before a mistake is still known.
func TestMistakesHideNothing(t *testing.T) {
	for name, archive := range map[string]string{
		"a URL to include": "-- requirements.txt --\nflax\n-r http://h/r.txt\n",
		"Poetry":           "-- pyproject.toml --\n[tool.poetry.dependencies]\npython = '^3.9'\nflax = '^0.8'\n",
		"open metadata":    "-- requirements.txt --\nflax\n-- x.py --\n# /// script\n",
	} {
		o := at(project(t, archive), "")
		o.Script = filepath.Join(o.Root, "x.py")
		if !platform.IsFile(o.Script) {
			o.Script = ""
		}
		w, err := Find(o)
		if l, ok := w.WithModule("flax"); !ok || l.File == "" {
			t.Errorf("%s: got %+v, %v", name, w, err)
		}
	}
}

// Files that include each other many times are read once.
func TestFilesThatAreIncludedOften(t *testing.T) {
	archive := "-- requirements.txt --\n-r 1.txt\n-r 1.txt\n"
	for i := 1; i < 40; i++ {
		archive += fmt.Sprintf("-- %d.txt --\n-r %d.txt\n-r %d.txt\n", i, i+1, i+1)
	}
	w, err := Find(at(project(t, archive+"-- 40.txt --\na\n"), ""))
	if diff := cmp.Diff([]string{"a"}, Shown(w.Requirements)); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// A link must not lead out of the project.
func TestLinksOutside(t *testing.T) {
	dir := project(t, "-- requirements.txt --\n-r link.txt\n")
	outside := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(outside, []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(at(dir, "")); err == nil || !strings.Contains(err.Error(), "outside the package root") {
		t.Errorf("got %v", err)
	}
}

func FuzzRequirements(f *testing.F) {
	for _, text := range []string{"a==1 \\\n --hash=sha256:aa # kn:keep\n", "-r x\n-e .\n--pre\n", "./a[b]; os_name == 'nt'\nfile:///x#y\n", "\ufeffa\r\n#\n\\\n"} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "requirements.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := Find(at(dir, ""))
		if err != nil {
			if !strings.Contains(err.Error(), "requirements.txt") {
				t.Errorf("%q: the error names no file: %v", text, err)
			}
			return
		}
		for _, l := range append(w.Requirements, w.Dropped...) {
			if l.Text == "" || l.Number < 1 || l.Number > strings.Count(text, "\n")+1 {
				t.Errorf("%q: %+v", text, l)
			}
		}
	})
}

func FuzzScript(f *testing.F) {
	f.Add("# /// script\n# dependencies = ['a']\n# ///\n")
	f.Fuzz(func(t *testing.T, text string) {
		block, number, err := scriptBlock(text, "x.py")
		if (err != nil || number == 0) && block != "" {
			t.Errorf("%q: %q, %d, %v", text, block, number, err)
		}
	})
}

// BenchmarkFind reads 5,000 requirements, with and without the hashes of two files each.
func BenchmarkFind(b *testing.B) {
	const lines = 5000
	for name, hashes := range map[string]string{
		"plain":  "",
		"hashed": " \\\n    --hash=sha256:" + strings.Repeat("a", 64) + " \\\n    --hash=sha256:" + strings.Repeat("b", 64),
	} {
		b.Run(name, func(b *testing.B) {
			var text strings.Builder
			for i := range lines {
				fmt.Fprintf(&text, "package-%d[extra]==1.%d.3 ; python_version >= '3.9'%s\n", i, i%50, hashes)
			}
			dir := project(b, "-- requirements.txt --\n"+text.String())
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if w, err := Find(at(dir, "")); err != nil || len(w.Requirements) != lines {
					b.Fatal(len(w.Requirements), err)
				}
			}
		})
	}
}
