package resolve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// TestIndexes: what resolves asks the indexes that it reads about, and others are named as ignored. No credentials are shown.
func TestIndexes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pip.conf")
	write(t, file, "[global]\nextra-index-url = https://me:s3cr3t@conf/simple\n", 0o600)
	const pip, uv = "https://me:s3cr3t@pip/simple", "https://uv/simple?token=s3cr3t"
	r := without(t, "PIP_INDEX_URL="+pip, "UV_DEFAULT_INDEX="+uv, "UV_FIND_LINKS=/srv/wheels", "PIP_CONFIG_FILE="+file)
	w := requirements(t, "--extra-index-url https://me:s3cr3t@ours/simple", "a")
	w.AddedOptions = []string{"--find-links https://runtime/links"}
	const ours, runtime = "https://ours/simple the project", "https://runtime/links the job's runtime"
	const pips, uvs, links = "https://pip/simple the variable PIP_INDEX_URL", "https://uv/simple?*** the variable UV_DEFAULT_INDEX", "/srv/wheels the variable UV_FIND_LINKS"
	conf := "https://conf/simple " + file
	for by, want := range map[resolve.Method][2][]string{
		resolve.UV:        {{ours, runtime, uvs, links}, {pips, conf}},
		resolve.Pip:       {{ours, runtime, pips, conf}, {uvs, links}},
		resolve.Hashes:    {{ours, runtime, pips, conf, links}, nil},
		resolve.Pod:       {{ours, runtime, pips, conf}, {links}},
		resolve.Elsewhere: {{ours, runtime, "https://pypi.org/simple the default"}, {pips, conf, links}},
	} {
		got, err := r.Indexes(w, by)
		if diff := cmp.Diff(want, [2][]string{lines(got.Asked), lines(got.Ignored)}); err != nil || diff != "" || got.NoIndex != "" {
			t.Errorf("%s: %v, no index because of %q\n%s", by, err, got.NoIndex, diff)
		}
	}
	r.Environ = append(r.Environ, "PIP_NO_INDEX=1")
	for by, want := range map[resolve.Method]string{resolve.UV: "", resolve.Pip: "the variable PIP_NO_INDEX", resolve.Hashes: "the variable PIP_NO_INDEX"} {
		got, err := r.Indexes(w, by)
		if err != nil || got.NoIndex != want || want != "" && strings.Contains(fmt.Sprint(got.Asked), "simple") {
			t.Errorf("%s: got %+v, %v; want none because of %q", by, got, err, want)
		}
	}
	r.Environ = []string{"ME=me", "TOKEN=s3cr3t", "PIP_CONFIG_FILE=" + os.DevNull}
	w = requirements(t, "--index-url https://${ME}:${TOKEN}@a/simple", "--extra-index-url https://b/${TOKEN}/simple", "--extra-index-url https://c/simple?x=${TOKEN}", "--find-links https://${TOKEN}@d/${TOKEN}", "a")
	want := []string{"https://a/simple the project", "https://b/${TOKEN}/simple the project", "https://c/simple?*** the project", "https://d/${TOKEN} the project"}
	got, err := r.Indexes(w, resolve.UV)
	if diff := cmp.Diff(want, lines(got.Asked)); err != nil || diff != "" {
		t.Errorf("variables: %v\n%s", err, diff)
	}
	w.Kind = deps.UVLock
	if got, err := r.Indexes(w, resolve.UVLock); err != nil || len(got.Asked)+len(got.Ignored) > 0 {
		t.Errorf("a lock: got %+v, %v", got, err)
	}
	w = requirements(t, "--index-url ftp://h", "a")
	if _, err := r.Indexes(w, resolve.UV); !is[*resolve.MistakeError](err) {
		t.Errorf("a mistake: got %v", err)
	}
}

// TestIndexesOfUV: uv asks the indexes of its user's configuration, and they are named where something else resolves.
func TestIndexesOfUV(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("configuration files are elsewhere")
	}
	t.Parallel()
	r := without(t, "PIP_CONFIG_FILE="+os.DevNull)
	r.Home = t.TempDir()
	dir := filepath.Join(r.Home, ".config", "uv")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, named := filepath.Join(dir, "uv.toml"), filepath.Join(r.Home, "named.toml")
	write(t, file, "extra-index-url = ['https://me:s3cr3t@more/simple']\n[[index]]\nurl = 'https://ours/simple'\ndefault = true\n[[index]]\nname = 'x'\nurl = 'https://some/simple'\nexplicit = true\n", 0o600)
	write(t, named, "index-url = 'https://named/simple'\n", 0o600)
	const pypi = "https://pypi.org/simple the default"
	ours, more := "https://ours/simple "+file, "https://more/simple "+file
	for name, c := range map[string]struct {
		by             resolve.Method
		variable       string
		option         string // of the project
		asked, ignored []string
	}{
		"uv":                      {by: resolve.UV, asked: []string{ours, more}},
		"pip":                     {by: resolve.Pip, asked: []string{pypi}, ignored: []string{ours, more}},
		"the pod":                 {by: resolve.Pod, asked: []string{pypi}, ignored: []string{ours, more}},
		"hashes":                  {by: resolve.Hashes, asked: []string{pypi}},
		"uv without":              {by: resolve.UV, variable: "UV_NO_CONFIG=1", asked: []string{pypi}},
		"uv with another file":    {by: resolve.UV, variable: "UV_CONFIG_FILE=" + named, asked: []string{"https://named/simple " + named}},
		"uv with all the same":    {by: resolve.UV, variable: "UV_NO_CONFIG=0", asked: []string{ours, more}},
		"uv with a variable":      {by: resolve.UV, variable: "UV_DEFAULT_INDEX=https://v/simple", asked: []string{"https://v/simple the variable UV_DEFAULT_INDEX", more}, ignored: []string{ours}},
		"uv and the project":      {by: resolve.UV, option: "--index-url https://p/simple", asked: []string{"https://p/simple the project", more}, ignored: []string{ours}},
		"uv with a file for none": {by: resolve.UV, variable: "UV_CONFIG_FILE=" + r.Home, asked: []string{pypi}},
	} {
		r := r
		r.Environ = append(slices.Clone(r.Environ), c.variable)
		got, err := r.Indexes(requirements(t, c.option, "a"), c.by)
		if diff := cmp.Diff([2][]string{c.asked, c.ignored}, [2][]string{lines(got.Asked), lines(got.Ignored)}); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	write(t, file, "no-index = true\nfind-links = ['https://links/p']\nextra-index-url = ['https://more/simple']\n", 0o600)
	got, err := r.Indexes(requirements(t, "--extra-index-url https://p/simple", "a"), resolve.UV)
	if diff := cmp.Diff([]string{"https://links/p " + file}, lines(got.Asked)); err != nil || diff != "" || got.NoIndex != file {
		t.Errorf("no index because of %q, %v\n%s", got.NoIndex, err, diff)
	}
	if got, err := r.Indexes(requirements(t, "a"), resolve.Pip); err != nil || got.NoIndex != "" {
		t.Errorf("pip: no index because of %q, %v", got.NoIndex, err)
	}
}

// TestCheck: a variable that is not set, or a hash that is none, stops a run before it asks anyone.
func TestCheck(t *testing.T) {
	t.Parallel()
	r := resolve.Resolver{Environ: []string{}}
	w := requirements(t, "a")
	if err := r.Check(w); err != nil {
		t.Error(err)
	}
	w.Remote = []deps.Line{{Text: "https://${TOKEN}@h/c.txt", File: "requirements.txt", Number: 2}}
	if err := r.Check(w); !is[*resolve.MistakeError](err) || !strings.HasPrefix(err.Error(), "requirements.txt:2: the variable TOKEN is not set") {
		t.Errorf("a file of a URL: %v", err)
	}
	w = requirements(t, "a==1 --hash=sha256:12")
	if err := r.Check(w); !is[*resolve.MistakeError](err) || !strings.Contains(err.Error(), "a SHA-256 has 64 hexadecimal digits") {
		t.Errorf("a hash that is none: %v", err)
	}
	w.Target = wheel.Target{}
	if err := r.Check(w); err != nil {
		t.Errorf("without a Python: %v", err)
	}
}

// TestResolveWithABrokenPipConf: pip says what is wrong, and what it quotes has no passwords.
func TestResolveWithABrokenPipConf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pip.conf")
	write(t, file, "index-url = https://me:s3cr3t@h/simple\n[global]\n", 0o600)
	r, target := pip(t, "PIP_CONFIG_FILE="+file)
	w := requirements(t, "a")
	w.Target = target
	if _, err := r.Resolve(t.Context(), w); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "s3cr3t") {
		t.Error(err)
	}
}

func lines(all []resolve.Index) (texts []string) {
	for _, i := range all {
		texts = append(texts, i.Address+" "+i.From)
	}
	return texts
}
