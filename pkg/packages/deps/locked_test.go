package deps

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// The hashes of the files in these tests.
var (
	hashA = strings.Repeat("a", 64)
	hashB = strings.Repeat("b", 64)
)

// options are for an ordinary machine.
func lockOptions() LockOptions {
	return LockOptions{Name: "the.lock", Dir: "/project", Root: "/project", Target: wheel.Target{Python: "3.12", Arch: "amd64", Libc: "glibc 2.36"}, FullPython: "3.12.7"}
}

// summary returns a lock in a few words: of each package its version, and its wheel or source.
func summary(l Lock) []string {
	var all []string
	for _, p := range l.Packages {
		from := p.Source
		if p.Wheel != nil {
			from = p.Wheel.File + " " + p.Wheel.SHA256[:1]
		}
		all = append(all, strings.Join(strings.Fields(p.Name+" "+p.Version+" "+from), " "))
	}
	for _, name := range l.Local {
		all = append(all, "local "+name)
	}
	return all
}

const pylockText = `
lock-version = "1.0"
requires-python = ">=3.9"
environments = ["sys_platform == 'win32'", "sys_platform == 'linux'"]
extras = ["gpu"]
dependency-groups = ["dev", "docs"]
default-groups = ["docs"]
created-by = "a tool"
[[packages]]
name = "Some.Name"
version = "1.0"
index = "https://pypi.org/simple"
[[packages.wheels]]
name = "some_name-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
url = "https://h/some_name-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
hashes = {sha256 = "BBBB"}
[[packages.wheels]]
url = "https://h/x/some_name-1.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl?q#f"
size = 12
hashes = {md5 = "x", sha256 = "AAAA"}
[[packages]]
name = "windows"
version = "1"
marker = "sys_platform == 'win32'"
[[packages]]
name = "fast"
version = "2"
marker = "'gpu' in extras"
[packages.archive]
url = "https://h/fast-2-py3-none-any.whl"
hashes = {sha256 = "AAAA"}
[[packages]]
name = "doc"
version = "3"
marker = "'docs' in dependency_groups"
[[packages.wheels]]
path = "wheels/doc-3-py3-none-any.whl"
hashes = {sha256 = "AAAA"}
[[packages]]
name = "built"
version = "4"
[packages.sdist]
url = "https://h/built-4.tar.gz"
hashes = {sha256 = "AAAA"}
[[packages.wheels]]
url = "https://h/built-4-cp312-cp312-win_amd64.whl"
hashes = {sha256 = "AAAA"}
[[packages]]
name = "cloned"
[packages.vcs]
type = "git"
url = "https://h/r"
commit-id = "0123"
subdirectory = "sub"
[[packages]]
name = "here"
[packages.directory]
path = "."
editable = true
`

// withHashes writes out the hashes of a text.
func withHashes(text string) string {
	return strings.NewReplacer("AAAA", hashA, "BBBB", hashB).Replace(text)
}

// TestPartOfAnArchive: a project in a directory of an archive is not the archive's own.
func TestPartOfAnArchive(t *testing.T) {
	text := "lock-version = '1.0'\n[[packages]]\nname = 'x'\narchive = { url = 'https://h/x.zip', subdirectory = 'libs/x', hashes = { sha256 = 'AAAA' } }\n"
	l, err := ReadPyLock([]byte(withHashes(text)), lockOptions())
	if err != nil || l.Packages[0].Source != "https://h/x.zip#subdirectory=libs/x" || l.Packages[0].SourceSHA256 != hashA {
		t.Errorf("%+v, %v", l, err)
	}
	_, err = ReadPyLock([]byte(withHashes(strings.Replace(text, "url = 'https://h/x.zip'", "path = 'x.zip'", 1))), lockOptions())
	if err == nil || !strings.Contains(err.Error(), "package x: a project in the directory libs/x of the archive x.zip can't be installed") {
		t.Errorf("of a file: %v", err)
	}
}

func TestReadPyLock(t *testing.T) {
	o := lockOptions()
	l, err := ReadPyLock([]byte(withHashes(pylockText)), o)
	want := []string{
		"built 4 https://h/built-4.tar.gz",
		"cloned git+https://h/r@0123#subdirectory=sub",
		"doc 3 doc-3-py3-none-any.whl a",
		"some-name 1.0 some_name-1.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl a",
		"local here",
	}
	if diff := cmp.Diff(want, summary(l)); diff != "" || err != nil {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
	var noFit *wheel.NoFitError
	if !errors.As(l.Packages[0].Why, &noFit) || !errors.Is(l.Packages[1].Why, ErrNoWheel) || l.Packages[2].Why != nil {
		t.Errorf("got %v, %v, %v", l.Packages[0].Why, l.Packages[1].Why, l.Packages[2].Why)
	}
	if l.Packages[0].SourceSHA256 != hashA || l.Packages[1].SourceSHA256 != "" || l.Packages[2].SourceSHA256 != "" {
		t.Errorf("the hashes of sources are %q, %q, %q", l.Packages[0].SourceSHA256, l.Packages[1].SourceSHA256, l.Packages[2].SourceSHA256)
	}
	if diff := cmp.Diff(&wheel.Source{File: "doc-3-py3-none-any.whl", Path: "/project/wheels/doc-3-py3-none-any.whl", SHA256: hashA}, l.Packages[2].Wheel); diff != "" {
		t.Error(diff)
	}
	if got := l.Packages[3].Wheel; got.Size != 12 || !strings.HasPrefix(got.URL, "https://h/x/") {
		t.Errorf("got %+v", got)
	}
	o.Extras = []string{"GPU"}
	if l, err = ReadPyLock([]byte(withHashes(pylockText)), o); err != nil || summary(l)[3] != "fast 2 fast-2-py3-none-any.whl a" {
		t.Errorf("with an extra: %v, %v", summary(l), err)
	}
}

const uvText = `
version = 1
revision = 3
requires-python = ">=3.11"
resolution-markers = ["python_full_version >= '3.12'", "python_full_version < '3.12'"]

[manifest]
members = ["app", "lib"]

[[package]]
name = "app"
version = "0.1.0"
source = { virtual = "." }
dependencies = [
    { name = "lib" },
    { name = "numpy", version = "2.0", source = { registry = "https://pypi.org/simple" }, marker = "python_full_version >= '3.12'" },
    { name = "numpy", version = "1.0", source = { registry = "https://pypi.org/simple" }, marker = "python_full_version < '3.12'" },
    { name = "web", extra = ["tls"] },
    { name = "colorama", marker = "sys_platform == 'win32'" },
    { name = "cpu-only", marker = "extra == 'extra-3-app-cpu'" },
]

[package.optional-dependencies]
cpu = [{ name = "forked" }]

[package.dev-dependencies]
dev = [{ name = "pytest" }]

[[package]]
name = "lib"
version = "0.1.0"
source = { editable = "lib" }
dependencies = [{ name = "cloned" }, { name = "app" }]

[[package]]
name = "numpy"
version = "1.0"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "numpy"
version = "2.0"
source = { registry = "https://pypi.org/simple" }
sdist = { url = "https://h/numpy-2.0.tar.gz", hash = "sha256:BBBB", size = 7 }
wheels = [
    { url = "https://h/numpy-2.0-cp312-cp312-manylinux_2_17_aarch64.whl", hash = "sha256:BBBB", size = 5 },
    { url = "https://h/numpy-2.0-cp312-cp312-manylinux_2_17_x86_64.whl", hash = "sha256:AAAA", size = 6 },
]

[[package]]
name = "web"
version = "3"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "web", extra = ["more"] }]
wheels = [{ url = "https://h/web-3-py3-none-any.whl", hash = "sha256:AAAA" }]

[package.optional-dependencies]
tls = [{ name = "crypto" }]
more = [{ name = "extra-of-itself" }]

[[package]]
name = "crypto"
version = "4"
source = { registry = "wheels" }
wheels = [{ path = "crypto-4-py3-none-any.whl", hash = "sha256:AAAA" }]

[[package]]
name = "extra-of-itself"
version = "1"
source = { url = "https://h/source.zip" }
sdist = { hash = "sha256:AAAA" }

[[package]]
name = "cloned"
version = "1"
source = { git = "https://h/r?subdirectory=s&rev=v1#0123" }

[[package]]
name = "colorama"
version = "1"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "cpu-only"
version = "1"
source = { path = "own/cpu_only-1-py3-none-any.whl" }
wheels = [{ filename = "cpu_only-1-py3-none-any.whl", hash = "sha256:AAAA" }]

[[package]]
name = "forked"
version = "1"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version < '3.12'"]

[[package]]
name = "forked"
version = "2"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version >= '3.12'"]

[[package]]
name = "pytest"
version = "8"
source = { registry = "https://pypi.org/simple" }
`

func TestReadUV(t *testing.T) {
	ordinary := []string{
		"cloned 1 git+https://h/r@0123#subdirectory=s",
		"crypto 4 crypto-4-py3-none-any.whl a",
		"extra-of-itself 1 https://h/source.zip",
		"numpy 2.0 numpy-2.0-cp312-cp312-manylinux_2_17_x86_64.whl a",
		"web 3 web-3-py3-none-any.whl a",
		"local app", "local lib",
	}
	for name, c := range map[string]struct {
		extras, groups []string
		more           []string
	}{
		"as it is":      {},
		"with an extra": {extras: []string{"cpu"}, more: []string{"cpu-only 1 cpu_only-1-py3-none-any.whl a", "forked 2"}},
		"with a group":  {groups: []string{"Dev"}, more: []string{"pytest 8"}},
	} {
		o := lockOptions()
		o.Extras, o.Groups = c.extras, c.groups
		l, err := ReadUV([]byte(withHashes(uvText)), "App", o)
		got := map[string]bool{}
		for _, p := range summary(l) {
			got[p] = true
		}
		if i := slices.IndexFunc(l.Packages, func(p Package) bool { return p.Name == "extra-of-itself" }); i < 0 || l.Packages[i].SourceSHA256 != hashA {
			t.Errorf("%s: no hash of the source: %+v", name, l.Packages)
		}
		want := map[string]bool{}
		for _, p := range append(ordinary, c.more...) {
			want[p] = true
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestRejectedLocks(t *testing.T) {
	const one = "lock-version = '1.0'\n"
	const project = "version = 1\n[[package]]\nname = 'app'\nsource = { virtual = '.' }\n"
	for name, c := range map[string]struct {
		pylock, uv string
		change     func(*LockOptions)
		want       string
	}{
		"TOML":                {pylock: "lock-version = \n", want: "the.lock:1:"},
		"a newer format":      {pylock: "lock-version = '2.0'", want: `the.lock: its lock-version is "2.0": only 1.0 can be read`},
		"another Python":      {pylock: one + "requires-python = '>=3.13'", want: "it requires Python >=3.13, but the job has Python 3.12.7"},
		"another environment": {pylock: one + "environments = [\"sys_platform == 'win32'\"]", want: "it is not for Python 3.12 on linux/amd64"},
		"a marker":            {pylock: one + "[[packages]]\nname = 'x'\nmarker = 'nonsense'", want: `package x: marker "nonsense"`},
		"two versions":        {pylock: one + "[[packages]]\nname = 'x'\nversion = '1'\n[[packages]]\nname = 'X'\nversion = '2'", want: "package x appears twice for this environment, as 1 and 2"},
		"a package's Python":  {pylock: one + "[[packages]]\nname = 'x'\nrequires-python = '<3'", want: "package x: it requires Python <3"},
		"an extra":            {pylock: one + "extras = ['a', 'b']", change: func(o *LockOptions) { o.Extras = []string{"c"} }, want: `it has no extra "c": it has a, b`},
		"a group":             {uv: project, change: func(o *LockOptions) { o.Groups = []string{"c"} }, want: `it has no group "c": it has none at all`},
		"no hash":             {pylock: one + "[[packages]]\nname = 'x'\n[[packages.wheels]]\nurl = 'https://h/x-1-py3-none-any.whl'", want: "package x: x-1-py3-none-any.whl has no SHA-256"},
		"a file outside":      {pylock: one + "[[packages]]\nname = 'x'\n[[packages.wheels]]\npath = '../x-1-py3-none-any.whl'\nhashes = {sha256 = 'AAAA'}", want: "/x-1-py3-none-any.whl is outside the package root /project"},
		"no wheel's name":     {pylock: one + "[[packages]]\nname = 'x'\n[[packages.wheels]]\nurl = 'https://h/x.whl'", want: "is not the file name of a wheel"},
		"a newer uv":          {uv: "version = 2", want: "its version is 2: only 1 can be read"},
		"another project":     {uv: "version = 1", want: "it does not have the project app: run uv lock"},
		"a missing package":   {uv: project + "dependencies = [{ name = 'x' }]", want: "package app needs x, which is there 0 times"},
		"an unclear package":  {uv: project + "dependencies = [{ name = 'x' }]\n[[package]]\nname = 'x'\nversion = '1'\n[[package]]\nname = 'x'\nversion = '2'\n", want: "which is there 2 times"},
	} {
		t.Run(name, func(t *testing.T) {
			o := lockOptions()
			if c.change != nil {
				c.change(&o)
			}
			_, err := ReadPyLock([]byte(withHashes(c.pylock)), o)
			if c.uv != "" {
				_, err = ReadUV([]byte(c.uv), "app", o)
			}
			if err == nil || !strings.HasPrefix(err.Error(), "the.lock:") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := ReadUV([]byte("version = 1\n[[package]]\nname = 'a'\nsource = { virtual = '.' }\n[[package]]\nname = 'b'\nsource = { editable = 'b' }\n"), "", lockOptions()); err == nil || !strings.Contains(err.Error(), "several projects, a, b") {
		t.Errorf("two projects: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pylockText)
	f.Add(uvText)
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func() (Lock, error){
			func() (Lock, error) { return ReadPyLock([]byte(withHashes(text)), lockOptions()) },
			func() (Lock, error) { return ReadUV([]byte(withHashes(text)), "", lockOptions()) },
		} {
			l, err := read()
			if err != nil && !strings.HasPrefix(err.Error(), "the.lock:") {
				t.Errorf("%q: the error names no file: %v", text, err)
			}
			for _, p := range l.Packages {
				if (p.Wheel == nil) == (p.Why == nil) || p.Wheel != nil && len(p.Wheel.SHA256) != 64 {
					t.Errorf("%q: %+v", text, p)
				}
			}
		}
	})
}

func TestPins(t *testing.T) {
	line := func(text string, hashes ...string) Line {
		return Line{Text: text, Hashes: hashes, File: "r.txt", Number: 3}
	}
	good := line("Some.Name[x]==1.0", "sha256:"+strings.ToUpper(hashA), "md5:x")
	got, complete, err := Pins([]Line{good, line("old==1; python_version < '3'", "sha256:"+hashA)}, lockOptions())
	if diff := cmp.Diff([]Pin{{Name: "some-name", Version: "1.0", Hashes: []string{hashA}}}, got); diff != "" || !complete || err != nil {
		t.Errorf("%v, %v (-want +got)\n%s", complete, err, diff)
	}
	for _, l := range []Line{line("a==1"), line("a>=1", "sha256:"+hashA), line("a==1.*", "sha256:"+hashA), line("a @ https://h/a.whl", "sha256:"+hashA), line("https://h/a.whl", "sha256:"+hashA)} {
		if got, complete, err := Pins([]Line{good, l}, lockOptions()); got != nil || complete || err != nil {
			t.Errorf("%s: got %v, %v, %v", l.Text, got, complete, err)
		}
	}
	for want, l := range map[string]Line{
		"r.txt:3: --hash=sha256:abc: a SHA-256 has 64": line("a==1", "sha256:abc"),
		"r.txt:3: a==1 has no hash that begins with":   line("a==1", "sha512:abc"),
		`r.txt:3: marker "os_name ~= '1'": `:           line("a==1; os_name ~= '1'", "sha256:"+hashA),
	} {
		if _, _, err := Pins([]Line{l}, lockOptions()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	again := Line{Text: "some-name==1", Hashes: []string{"sha256:" + hashB, "sha256:" + hashA}, File: "more.txt", Number: 1}
	if got, complete, err := Pins([]Line{again, good, again}, lockOptions()); len(got) != 1 || !slices.Equal(got[0].Hashes, []string{hashA}) || !complete || err != nil {
		t.Errorf("one pin on several lines: %v, %v, %v", got, complete, err)
	}
	for text, want := range map[string]string{
		"some-name==1": "r.txt:3 and more.txt:1: they have no hash of some-name in common",
		"some-name==2": "r.txt:3 and more.txt:1: some-name is 1.0 in one and 2 in the other",
	} {
		other := Line{Text: text, Hashes: []string{"sha256:" + hashB}, File: "more.txt", Number: 1}
		if _, _, err := Pins([]Line{good, other}, lockOptions()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
