package deps

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// TestFilesOfUV: uv writes only the names of wheels that are files of the project.
func TestFilesOfUV(t *testing.T) {
	const project = "version = 1\n[[package]]\nname = 'app'\nsource = { virtual = '.' }\ndependencies = [{ name = 'x' }]\n[[package]]\nname = 'x'\nversion = '1'\n"
	for name, c := range map[string]struct{ text, path, source string }{
		"a wheel":              {"source = { path = 'own/x-1-py3-none-any.whl' }\nwheels = [{ filename = 'x-1-py3-none-any.whl', hash = 'sha256:AAAA' }]", "/project/own/x-1-py3-none-any.whl", ""},
		"an absolute path":     {"source = { path = '/project/x-1-py3-none-any.whl' }\nwheels = [{ filename = 'x-1-py3-none-any.whl', hash = 'sha256:AAAA' }]", "/project/x-1-py3-none-any.whl", ""},
		"a directory of links": {"source = { registry = 'own' }\nwheels = [{ path = 'x-1-py3-none-any.whl', hash = 'sha256:AAAA' }]", "/project/own/x-1-py3-none-any.whl", ""},
		"a source archive":     {"source = { path = 'own/x-1.tar.gz' }\nsdist = { hash = 'sha256:AAAA' }", "", "own/x-1.tar.gz"},
		"one of the directory": {"source = { registry = 'own' }\nsdist = { path = 'x-1.tar.gz' }", "", "own/x-1.tar.gz"},
		"a part of a URL":      {"source = { url = 'https://h/x.zip', subdirectory = 'libs/x' }\nsdist = { hash = 'sha256:AAAA' }", "", "https://h/x.zip#subdirectory=libs/x"},
		"a part of a tree":     {"source = { git = 'https://h/x?subdirectory=libs%2Fx&rev=v1#abc' }", "", "git+https://h/x@abc#subdirectory=libs/x"},
	} {
		l, err := ReadUV([]byte(withHashes(project+c.text)), "app", lockOptions())
		if err != nil || len(l.Packages) != 1 {
			t.Errorf("%s: %+v, %v", name, l, err)
			continue
		}
		var got wheel.Source
		if p := l.Packages[0].Wheel; p != nil {
			got = *p
		}
		if got.Path != c.path || got.URL != "" || l.Packages[0].Source != c.source {
			t.Errorf("%s: the wheel is %+v, the source %q; want %q and %q", name, got, l.Packages[0].Source, c.path, c.source)
		}
	}
}

// TestOddTreeOfUV: a URL that can't be read is not one of the tree's root.
func TestOddTreeOfUV(t *testing.T) {
	const text = "version = 1\n[[package]]\nname = 'app'\nsource = { virtual = '.' }\ndependencies = [{ name = 'x' }]\n[[package]]\nname = 'x'\nversion = '1'\n" +
		"source = { git = 'https://h/x?subdirectory=libs%2Fx;y#abc' }\n"
	if _, err := ReadUV([]byte(text), "app", lockOptions()); err == nil || !strings.Contains(err.Error(), "package x: reading the URL https://h/x: invalid semicolon") {
		t.Errorf("got %v", err)
	}
}

// TestEnvironmentsOfUV: a lock for other systems alone lacks packages, so it is refused.
func TestEnvironmentsOfUV(t *testing.T) {
	t.Parallel()
	for environments, want := range map[string]string{
		"": "", "[]": "", "[\"sys_platform == 'linux'\"]": "", "[\"sys_platform == 'darwin'\", \"sys_platform == 'linux' and platform_machine == 'x86_64'\"]": "",
		"[\"sys_platform == 'darwin'\"]": "uv.lock: it is not for " + lockOptions().Target.String() + ": its environments are sys_platform == 'darwin'",
		"[\"nonsense\"]":                 "nonsense",
	} {
		text := "version = 1\n"
		if environments != "" {
			text += "supported-markers = " + environments + "\n"
		}
		o := lockOptions()
		o.Name = "uv.lock"
		_, err := ReadUV([]byte(text+"[[package]]\nname = 'app'\nsource = { virtual = '.' }\n"), "app", o)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", environments, err, want)
		}
	}
}

// TestLinksOfUV: uv writes no hashes of files in a directory of links, which may be anywhere.
func TestLinksOfUV(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, file := range []string{"links/x-1-py3-none-any.whl", "app/links/x-1-py3-none-any.whl"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := lockOptions()
	o.Dir, o.Root = filepath.Join(dir, "app"), filepath.Join(dir, "app")
	text := func(registry, files string) []byte {
		return []byte("version = 1\n[[package]]\nname = 'app'\nsource = { virtual = '.' }\ndependencies = [{ name = 'x' }]\n[[package]]\nname = 'x'\nversion = '1'\n" +
			"source = { registry = '" + registry + "' }\n" + files + "\n")
	}
	const one = "wheels = [{ path = 'x-1-py3-none-any.whl' }]"
	for name, c := range map[string]struct{ registry, files, path, want string }{
		"in the project":       {"links", one, "app/links/x-1-py3-none-any.whl", ""},
		"elsewhere":            {"../links", one, "links/x-1-py3-none-any.whl", ""},
		"absolute":             {filepath.Join(dir, "links"), one, "links/x-1-py3-none-any.whl", ""},
		"gone":                 {"../nowhere", one, "", "package x: reading a wheel: open " + filepath.Join(dir, "nowhere", "x-1-py3-none-any.whl")},
		"of an index":          {"https://pypi.org/simple", "wheels = [{ url = 'https://h/x-1-py3-none-any.whl' }]", "", "x-1-py3-none-any.whl has no SHA-256"},
		"outside by path":      {"https://pypi.org/simple", "wheels = [{ path = '../links/x-1-py3-none-any.whl' }]", "", "is outside the package root"},
		"another kind of hash": {"links", "wheels = [{ path = 'x-1-py3-none-any.whl', hash = 'md5:x' }]", "app/links/x-1-py3-none-any.whl", ""},
	} {
		l, err := ReadUV(text(c.registry, c.files), "app", o)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
			continue
		}
		sum := sha256.Sum256([]byte(c.path))
		if err != nil || len(l.Packages) != 1 || l.Packages[0].Wheel == nil {
			t.Errorf("%s: %+v, %v", name, l, err)
		} else if w := l.Packages[0].Wheel; w.Path != filepath.Join(dir, c.path) || w.SHA256 != hex.EncodeToString(sum[:]) || w.Size != int64(len(c.path)) {
			t.Errorf("%s: %+v", name, w)
		}
		if found, err := Unhashed(text(c.registry, c.files), o); err != nil || !slices.Equal(found, []string{filepath.Join(dir, c.path)}) {
			t.Errorf("%s: the wheels without hashes are %q, %v", name, found, err)
		}
	}
	if found, err := Unhashed(text("links", "sdist = { path = 'x-1.tar.gz' }"), o); err != nil || !slices.Equal(found, []string{filepath.Join(dir, "app/links/x-1.tar.gz")}) {
		t.Errorf("a source archive: %q, %v", found, err)
	}
	if found, err := Unhashed(text("links", "wheels = [{ path = 'x-1-py3-none-any.whl', hash = 'sha256:"+strings.Repeat("a", 64)+"' }]"), o); err != nil || len(found) > 0 {
		t.Errorf("with a hash: %q, %v", found, err)
	}
}

// TestStaleUV: a lock that does not fit what the project requires now is not used. What uv leaves out because it can
// never be needed makes no lock stale.
func TestStaleUV(t *testing.T) {
	const project = "version = 1\n[[package]]\nname = 'app'\nversion = '1'\nsource = { virtual = '.' }\ndependencies = [{ name = 'six' }]\n"
	const optional = "[package.optional-dependencies]\nplot = [{ name = 'attrs' }]\n"
	const six = "[[package]]\nname = 'six'\nversion = '1.17'\nsource = { registry = 'https://pypi.org/simple' }\n" +
		"wheels = [{ url = 'https://h/six-1.17-py3-none-any.whl', hash = 'sha256:AAAA' }]\n"
	never := func(name string) string {
		return "[package.metadata]\nrequires-dist = [{ name = 'six' }, { name = '" + name + "' }]\n"
	}
	for name, c := range map[string]struct {
		lock   string
		wanted []string
		err    string
	}{
		"all are there":                     {project + optional + six, []string{"Six>=1.16", "attrs", "App"}, ""},
		"one is missing":                    {project + six, []string{"six", "delta>1"}, "lacks delta, which pyproject.toml lists"},
		"for an older Python":               {project + six, []string{"six", "tomli>=2; python_version < '3.11'"}, ""},
		"for another system":                {project + six, []string{"six", "pywin32; sys_platform == 'win32'"}, ""},
		"for an environment that is locked": {project + never("av") + six, []string{"six", "av"}, ""},
		"overridden to never":               {"version = 1\n[manifest]\noverrides = [{ name = 'av', marker = \"sys_platform == 'never'\" }]\n" + strings.TrimPrefix(project, "version = 1\n") + six, []string{"six", "av"}, ""},
		"of a group":                        {project + "[package.metadata.requires-dev]\ndev = [{ name = 'av' }]\n" + six, []string{"six", "av"}, ""},
		"an older version":                  {project + six, []string{"six>=2"}, "pyproject.toml requires six>=2, and it has 1.17"},
		"overridden to an older version":    {"version = 1\n[manifest]\noverrides = [{ name = 'six', specifier = '<2' }]\n" + strings.TrimPrefix(project, "version = 1\n") + six, []string{"six>=2"}, ""},
		"a version for another Python":      {project + six, []string{"six>=1", "six>=2; python_version < '3.11'"}, ""},
		"a local version":                   {project + strings.NewReplacer("1.17", "1.17+cu124").Replace(six), []string{"six==1.17"}, ""},
		"another source":                    {project + strings.Replace(six, "registry = 'https://pypi.org/simple'", "url = 'https://h/six-1.17-py3-none-any.whl'", 1), []string{"six>=2"}, ""},
	} {
		o := lockOptions()
		o.Wanted = Wanted{Requirements: lines(c.wanted)}.Named()
		_, err := ReadUV([]byte(withHashes(c.lock)), "app", o)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v; want %q", name, err, c.err)
		}
	}
}

func lines(texts []string) []Line {
	var all []Line
	for _, text := range texts {
		all = append(all, Line{Text: text})
	}
	return all
}

// TestGroupsWithoutAProject: a pyproject.toml without [project] may have groups, which the lock has in its manifest.
func TestGroupsWithoutAProject(t *testing.T) {
	const text = "version = 1\n[manifest.dependency-groups]\ntrain = [{ name = 'six', extras = ['more'], specifier = '>=1' }, { name = 'gone', marker = \"sys_platform == 'win32'\" }]\n" +
		"[[package]]\nname = 'six'\nversion = '1.17'\nsource = { registry = 'https://h' }\nwheels = [{ url = 'https://h/six-1.17-py3-none-any.whl', hash = 'sha256:AAAA' }]\n" +
		"[package.optional-dependencies]\nmore = [{ name = 'b' }]\n" +
		"[[package]]\nname = 'b'\nversion = '1'\nsource = { registry = 'https://h' }\nwheels = [{ url = 'https://h/b-1-py3-none-any.whl', hash = 'sha256:BBBB' }]\n"
	for _, c := range []struct {
		groups, wanted []string
		packages       string
		err            string
	}{
		{nil, nil, "", ""},
		{[]string{"Train"}, []string{"six>=1"}, "b six", ""},
		{[]string{"train"}, []string{"six>=1", "other"}, "", "it is out of date and lacks other"},
		{[]string{"trian"}, nil, "", `it has no group "trian": it has train`},
	} {
		o := lockOptions()
		o.Groups, o.Wanted = c.groups, Wanted{Requirements: lines(c.wanted)}.Named()
		l, err := ReadUV([]byte(withHashes(text)), "", o)
		var names []string
		for _, p := range l.Packages {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); c.err == "" && (err != nil || got != c.packages || len(l.Local) > 0) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %s, %q, %v; want %s, %q", c.groups, got, l.Local, err, c.packages, c.err)
		}
	}
}
