package resolve

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// environ returns variables as os.Environ does.
func environ(variables map[string]string) (all []string) {
	for name, value := range variables {
		all = append(all, name+"="+value)
	}
	return all
}

func TestBases(t *testing.T) {
	variables := map[string]string{"PIP_EXTRA_INDEX_URL": "https://extra/simple https://second/simple", "HOST": "h"}
	r := Resolver{Environ: environ(variables)}
	for name, c := range map[string]struct {
		options, want []string
	}{
		"none":             {nil, []string{deps.PyPI, "https://extra/simple", "https://second/simple"}},
		"the last counts":  {[]string{"--extra-index-url https://x", "--index-url https://y", "--index-url https://${HOST}/z"}, []string{"https://h/z", "https://x", "https://extra/simple", "https://second/simple"}},
		"no index":         {[]string{"--index-url https://y", "--no-index"}, nil},
		"on this machine":  {[]string{"--index-url file:///a%20b/simple"}, []string{"file:///a%20b/simple", "https://extra/simple", "https://second/simple"}},
		"links are no one": {[]string{"--index-url /i", "--find-links https://links"}, []string{"file:///i", "https://extra/simple", "https://second/simple"}},
	} {
		s, err := r.readSources(c.options, nil)
		if diff := cmp.Diff(c.want, s.Bases()); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func TestFileURLs(t *testing.T) {
	for _, path := range []string{"/a/b c#d?e", "/ü"} {
		u, err := url.Parse(FileURL(path))
		if err != nil || LocalFile(u) != path {
			t.Errorf("%s: %v %v", path, u, err)
		}
	}
}

func TestExplain(t *testing.T) {
	s := newIndexServer(t, map[string][]IndexFile{
		"a": {{Name: "a-1-py3-none-any.whl"}, {Name: "a-2.tar.gz"}, {Name: "a-3rc1.tar.gz"}, {Name: "nonsense"}},
		"b": {{Name: "b-1-cp27-cp27m-win_amd64.whl"}, {Name: "b-1.tar.gz"}},
	})
	s.html = true // in which no file is withdrawn
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c_x-7.zip"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"a": "2", "a<2": "", "a>2": "", "b": "1", "c.x": "7", "d": ""} {
		r, err := requirement.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		sources, err := Resolver{Environ: []string{}}.readSources([]string{"--index-url " + s.URL + "/simple", "--find-links " + dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Explain(t.Context(), nil, sources, r, indexTarget)
		if err != nil || (p.Why != nil) != (want != "") || p.Why != nil && (p.Version != want || p.Source == "") {
			t.Errorf("%s: got %+v, %v; want %q", text, p, err, want)
		}
	}
}

func TestLocateRejects(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for _, f := range []wheel.Source{{URL: "ftp://h/a"}, {URL: "https://h/a"}, {URL: "https://["}, {URL: "file://" + gone}, {Path: gone}} {
		if got, err := Locate(f); err == nil {
			t.Errorf("%+v: got %+v", f, got)
		}
	}
}

func FuzzSources(f *testing.F) {
	f.Add("--index-url https://me:pass@h/simple")
	f.Add("--find-links file:///a%20b")
	f.Add("--extra-index-url https://${A}@[::1]:80/x?y#z")
	f.Fuzz(func(t *testing.T, option string) {
		s, err := Resolver{Environ: []string{"A=v"}}.readSources([]string{option}, nil)
		if err != nil {
			return
		}
		for _, source := range s.All() {
			if source.url == nil && source.Dir == "" {
				t.Errorf("%q is nowhere", option)
			}
			if source.url != nil && source.url.User != nil {
				t.Errorf("%q: the credentials are in the URL twice", option)
			}
		}
	})
}
