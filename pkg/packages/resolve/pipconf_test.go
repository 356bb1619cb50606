package resolve

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// TestPipConf: the indexes of pip's configuration are asked as pip asks them.
func TestPipConf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("configuration files are elsewhere")
	}
	const user, old, site, named = ".config/pip/pip.conf", ".pip/pip.conf", "venv/pip.conf", "named.conf"
	index := func(host string) string { return "[global]\nindex-url = https://" + host + "/simple\n" }
	for name, c := range map[string]struct {
		files, variables map[string]string
		options          []string
		want             []string // without /simple
	}{
		"none":                    {want: []string{"pypi.org"}},
		"the user's":              {files: map[string]string{user: index("me:s3cr3t@a")}, want: []string{"me:s3cr3t@a"}},
		"extra ones":              {files: map[string]string{user: "[global]\n# a comment\nExtra_Index_URL: \n    https://a/simple\n; and\n    https://me:x@b/simple\ntimeout = 3\n"}, want: []string{"pypi.org", "a", "me:x@b"}},
		"for install alone":       {files: map[string]string{site: index("a"), user: "[install]\nindex-url = https://b/simple\n[list]\nindex-url = https://c/simple\n"}, want: []string{"b"}},
		"the old place":           {files: map[string]string{old: index("a"), user: index("b")}, want: []string{"b"}},
		"the machine's":           {files: map[string]string{"etc/pip.conf": index("a"), "etc/xdg/pip/pip.conf": index("b")}, want: []string{"a"}},
		"the old place alone":     {files: map[string]string{old: index("a")}, want: []string{"a"}},
		"a virtual environment":   {files: map[string]string{user: index("a"), site: index("b")}, want: []string{"b"}},
		"one that is named":       {files: map[string]string{user: "[global]\nextra-index-url = https://a/simple\n", site: index("b"), named: index("c")}, variables: map[string]string{"PIP_CONFIG_FILE": "HOME/" + named}, want: []string{"c"}},
		"a named one is missing":  {files: map[string]string{user: index("a")}, variables: map[string]string{"PIP_CONFIG_FILE": "HOME/none"}, want: []string{"a"}},
		"none is wanted":          {files: map[string]string{user: index("a")}, variables: map[string]string{"PIP_CONFIG_FILE": os.DevNull}, want: []string{"pypi.org"}},
		"a variable":              {files: map[string]string{user: index("a") + "extra-index-url = https://b/simple\n"}, variables: map[string]string{"PIP_INDEX_URL": "https://c/simple"}, want: []string{"c", "b"}},
		"a variable of uv":        {files: map[string]string{user: index("a")}, variables: map[string]string{"UV_DEFAULT_INDEX": "https://c/simple"}, want: []string{"c"}},
		"the project's":           {files: map[string]string{user: index("a") + "extra-index-url = https://b/simple\n"}, options: []string{"--index-url https://c/simple"}, want: []string{"c", "b"}},
		"braces are no variables": {files: map[string]string{user: "[global]\nindex-url = https://${USER}:${PASSWORD}@a/simple\n"}, variables: map[string]string{"USER": "me", "PASSWORD": "s3cr3t"}, want: []string{"$%7BUSER%7D:$%7BPASSWORD%7D@a"}},
		"nor in variables":        {variables: map[string]string{"USER": "me", "PIP_INDEX_URL": "https://${USER}@a/simple"}, want: []string{"$%7BUSER%7D@a"}},
		"no index":                {files: map[string]string{user: index("a") + "no-index = True\n"}},
		"no index for install":    {files: map[string]string{user: index("a") + "[install]\nno_index = yes\n"}, options: []string{"--index-url https://c/simple"}},
		"indexes again":           {files: map[string]string{user: index("a") + "no-index = 1\n"}, variables: map[string]string{"PIP_NO_INDEX": "off"}, want: []string{"a"}},
		"no index by a variable":  {variables: map[string]string{"PIP_NO_INDEX": "1"}},
		"uv has no such variable": {variables: map[string]string{"UV_NO_INDEX": "true"}, want: []string{"pypi.org"}},
		"empty":                   {files: map[string]string{user: "[global]\nno-index =\n"}, variables: map[string]string{"PIP_NO_INDEX": ""}, want: []string{"pypi.org"}},
		"links are no indexes":    {files: map[string]string{user: "[global]\nfind-links = https://l\n  wheels\n"}, variables: map[string]string{"UV_FIND_LINKS": "https://m"}, want: []string{"pypi.org"}},
		"elsewhere":               {files: map[string]string{"xdg/pip/pip.conf": index("a"), user: index("b")}, variables: map[string]string{"XDG_CONFIG_HOME": "HOME/xdg"}, want: []string{"a"}},
	} {
		home := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(home, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		variables := map[string]string{"VIRTUAL_ENV": "HOME/venv"}
		for name, value := range c.variables {
			variables[name] = value
		}
		r := Resolver{Home: home, root: home, Environ: environ(variables)}
		for i := range r.Environ {
			r.Environ[i] = strings.Replace(r.Environ[i], "HOME/", home+"/", 1)
		}
		s, err := r.readSources(c.options, nil)
		var got []string
		for _, base := range s.Bases() {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(base, "https://"), "/simple"))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// TestLinks: directories of links count wherever pip and uv have them from.
func TestLinks(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "pip.conf")
	if err := os.WriteFile(file, []byte("[global]\nfind-links = "+filepath.Join(home, "a")+"\n  ~/b\n  c\n  https://h/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("c")
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string][]string{
		"":                         {filepath.Join(home, "a"), filepath.Join(home, "b"), here},
		"PIP_FIND_LINKS=/x=1 /y,2": {"/x=1", "/y,2"},
		"UV_FIND_LINKS=/x,/y":      {filepath.Join(home, "a"), filepath.Join(home, "b"), here, "/x", "/y"},
	} {
		variable, value, _ := strings.Cut(set, "=")
		r := Resolver{Home: home, root: home, Environ: []string{"PIP_CONFIG_FILE=" + file, variable + "=" + value}}
		s, err := r.readSources(nil, nil)
		if diff := cmp.Diff(want, s.Dirs()); err != nil || diff != "" {
			t.Errorf("with %s: %v %s", set, err, diff)
		}
	}
}

// TestPipConfRejects: a mistake names the file or the variable, and shows no credentials.
func TestPipConfRejects(t *testing.T) {
	for text, want := range map[string]string{
		"index-url = ftp://me:s3cr3t@a":           "is not an https, http or file URL",
		"find-links = https://me:s3cr3t@h:port/x": "is not a URL",
		"no-index = perhaps":                      `no-index is "perhaps": expected true or false`,
	} {
		file := filepath.Join(t.TempDir(), "pip.conf")
		if err := os.WriteFile(file, []byte("[global]\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := Resolver{root: t.TempDir(), Environ: []string{"PIP_CONFIG_FILE=" + file}}
		_, err := r.readSources([]string{"--index-url " + deps.PyPI}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	r := Resolver{Environ: []string{"PIP_NO_INDEX=x"}}
	if _, err := r.readSources(nil, nil); err == nil || !strings.HasPrefix(err.Error(), "the variable PIP_NO_INDEX: ") {
		t.Errorf("got %v", err)
	}
}
