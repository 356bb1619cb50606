package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

var hashA = strings.Repeat("a", 64)

const (
	wheelA = `{ url = "https://me:` + secret + `@h/a-1-py3-none-any.whl", hash = "sha256:%s" }`
	uvLock = `version = 1
[[package]]
name = "app"
source = { virtual = "." }
dependencies = [{ name = "a" }, { name = "git" }]
[[package]]
name = "other"
source = { editable = "other" }
[[package]]
name = "a"
version = "1"
source = { registry = "https://h/simple" }
wheels = [` + wheelA + `]
[[package]]
name = "git"
version = "2"
source = { git = "https://example.com/git?rev=main#c0ffee" }
`
)

func TestUVLock(t *testing.T) {
	t.Parallel()
	w := project(t, map[string]string{"pyproject.toml": "[project]\nname = 'app'\ndependencies = ['a']\n", "uv.lock": fmt.Sprintf(uvLock, hashA)})
	w.Options = []string{"--index-url https://me:" + secret + "@h/simple"}
	env, err := without(t).Resolve(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a==1 a-1-py3-none-any.whl", "git==2 from git+https://example.com/git@c0ffee"}, described(env.Packages)); diff != "" {
		t.Error(diff)
	}
	if u := env.Packages[0].Wheel.URL; u != "https://h/a-1-py3-none-any.whl" {
		t.Error(u)
	}
	if env.By != resolve.UVLock {
		t.Errorf("by %s", env.By)
	}
	var build *resolve.NeedsBuildError
	if err := env.NeedsBuild(); !errors.As(err, &build) || len(build.Packages) != 1 || !strings.Contains(err.Error(), "git 2 from git+https://example.com/git@c0ffee (it has no wheel)") {
		t.Errorf("got %v", err)
	}
}

func TestPyLock(t *testing.T) {
	t.Parallel()
	text := "lock-version = '1.0'\nrequires-python = '%s'\n[[packages]]\nname = 'a'\nversion = '1'\nwheels = [{ %s, hashes = { sha256 = '%s' } }]\n"
	data := wheelOf(t, "a-1-py3-none-any.whl")
	for name, c := range map[string]struct{ text, want string }{
		"a URL":           {fmt.Sprintf(text, ">=3.9", "url = 'https://h/a-1-py3-none-any.whl'", hashA), ""},
		"a path":          {fmt.Sprintf(text, ">=3.9", "path = 'a-1-py3-none-any.whl'", sum(data)), ""},
		"another content": {fmt.Sprintf(text, ">=3.9", "path = 'a-1-py3-none-any.whl'", hashA), "package a: "},
		"another Python":  {fmt.Sprintf(text, ">=3.13", "url = 'https://h/a-1-py3-none-any.whl'", hashA), "choose another with --python"},
		"another target":  {fmt.Sprintf(text, ">=3.9", "url = 'https://h/a-1-cp39-cp39-win_amd64.whl'", hashA), "package a of pylock.toml can't be installed: no wheel of a 1 fits Python 3.12"},
		"garbage":         {"lock-version = 'x'\n", "pylock.toml: its lock-version is \"x\""},
	} {
		env, err := without(t).Resolve(t.Context(), project(t, map[string]string{"a-1-py3-none-any.whl": string(data), "pylock.toml": c.text}))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err == nil && (env.By != resolve.PyLock || len(env.Packages) != 1) {
			t.Errorf("%s: got %+v", name, env)
		}
		if name == "another target" && !is[*wheel.NoFitError](err) {
			t.Errorf("%s: the error is a %T", name, err)
		}
	}
}

func TestHashes(t *testing.T) {
	t.Parallel()
	a, b := wheelOf(t, "a-1-py3-none-any.whl"), wheelOf(t, "b-2-py3-none-any.whl")
	s := newServer(t, map[string][]byte{"a-1-py3-none-any.whl": a, "b-2-py3-none-any.whl": b, "c-3.tar.gz": []byte("c")})
	s.password = secret
	disk := t.TempDir()
	write(t, filepath.Join(disk, "simple", "a", "index.html"), `<a href="../../f/a-1-py3-none-any.whl#sha256=`+sum(a)+`">a</a>`, 0o644)
	write(t, filepath.Join(disk, "f", "a-1-py3-none-any.whl"), string(a), 0o644)
	pinA, pinB := "a[x]==1 --hash=sha256:"+sum(a), "b==2 --hash=sha256:"+sum(b)
	const nobody = "http://127.0.0.1:1/simple"
	for name, c := range map[string]struct {
		lines   []string
		added   []string
		environ []string
		netrc   string
		pip     string // pip.conf
		want    []string
		wantErr string
		mistake bool
	}{
		"credentials in the URL": {lines: []string{"--index-url " + s.withLogin("me", secret), pinA, pinB}, want: []string{"a " + s.URL, "b " + s.URL}},
		"credentials in .netrc":  {lines: []string{"--index-url " + s.URL + "/simple", pinA}, netrc: "machine 127.0.0.1 login me password " + secret, want: []string{"a " + s.URL}},
		"no credentials":         {lines: []string{"--index-url " + s.URL + "/simple", pinA}, wantErr: "finding the wheels of requirements.txt: asking the index " + s.URL + "/simple for a: it requires credentials"},
		"wrong credentials":      {lines: []string{"--index-url " + s.withLogin("me", "wrong-pass"), pinA}, wantErr: "it does not accept the credentials"},
		"pip's variable":         {lines: []string{pinA}, environ: []string{"PIP_INDEX_URL=" + s.withLogin("me", secret)}, want: []string{"a " + s.URL}},
		"uv's variables": {
			lines: []string{pinA}, want: []string{"a " + s.URL},
			environ: []string{"UV_DEFAULT_INDEX=" + s.withLogin("me", secret), "UV_INDEX=in=" + s.URL + "/simple", "UV_INDEX_IN_USERNAME=me", "UV_INDEX_IN_PASSWORD=" + secret},
		},
		"pip's before uv's":         {lines: []string{pinA}, environ: []string{"UV_INDEX_URL=" + nobody, "PIP_INDEX_URL=" + s.withLogin("me", secret)}, want: []string{"a " + s.URL}},
		"pip's configuration":       {lines: []string{pinA}, pip: "[global]\nindex-url = " + s.withLogin("me", secret) + "\n", want: []string{"a " + s.URL}},
		"its credentials are wrong": {lines: []string{pinA}, pip: "[global]\nindex-url = " + s.withLogin("me", "wrong-pass") + "\n", wantErr: "it does not accept the credentials"},
		"the file before variables": {lines: []string{"--index-url " + s.withLogin("me", secret), pinA}, environ: []string{"PIP_INDEX_URL=" + nobody}, want: []string{"a " + s.URL}},
		"a variable that is wrong":  {lines: []string{pinA}, environ: []string{"PIP_EXTRA_INDEX_URL=x"}, wantErr: "the variable PIP_EXTRA_INDEX_URL: x is not a URL", mistake: true},
		"an index on this machine":  {lines: []string{"--index-url file://" + filepath.ToSlash(disk) + "/simple", pinA}, want: []string{"a " + filepath.Join(disk, "f", "a-1-py3-none-any.whl")}},
		"links on this machine": {
			lines: []string{"--index-url " + nobody, "--find-links " + filepath.Join(disk, "f"), pinA}, want: []string{"a " + filepath.Join(disk, "f", "a-1-py3-none-any.whl")},
		},
		"links and an index": {
			lines: []string{"--index-url " + s.withLogin("me", secret), "--find-links " + filepath.Join(disk, "f"), pinA, pinB}, want: []string{"a " + filepath.Join(disk, "f", "a-1-py3-none-any.whl"), "b " + s.URL},
		},
		"no index": {lines: []string{"--no-index", pinA}, wantErr: "requirements.txt:2: a==1: no file matches any of its hashes, and --no-index disables package indexes: put its file", mistake: true},
		"no index for pip": {
			lines: []string{"--index-url " + s.withLogin("me", secret), pinA}, environ: []string{"PIP_NO_INDEX=1"}, mistake: true,
			wantErr: "no file matches any of its hashes, and the variable PIP_NO_INDEX disables package indexes: put",
		},
		"no index in pip.conf": {
			lines: []string{"--index-url " + s.withLogin("me", secret), pinA}, pip: "[global]\nno-index = true\n", mistake: true, wantErr: "pip.conf disables package indexes: put its file",
		},
		"links in pip.conf": {
			lines: []string{pinA}, pip: "[global]\nno-index = true\nfind-links = " + filepath.Join(disk, "f") + "\n", want: []string{"a " + filepath.Join(disk, "f", "a-1-py3-none-any.whl")},
		},
		"braces in pip.conf": {
			lines: []string{pinA}, pip: "[global]\nindex-url = " + s.withLogin("me", "${P}") + "\n", environ: []string{"P=" + secret}, wantErr: "it does not accept the credentials",
		},
		"a source archive": {lines: []string{"--index-url " + s.withLogin("me", secret), "c==3 --hash=sha256:" + sum([]byte("c"))}, want: []string{"c from " + s.URL + "/files/c-3.tar.gz"}},
		"another hash":     {lines: []string{"--index-url " + s.withLogin("me", secret), "a==1 --hash=sha256:" + hashA}, wantErr: "1 files of that version, with other hashes", mistake: true},
		"nowhere":          {lines: []string{"--index-url " + s.withLogin("me", secret), "nowhere==1 --hash=sha256:" + hashA}, wantErr: "requirements.txt:2: nowhere==1: no file matches any of its hashes: asking the index " + s.URL + "/simple for nowhere: it has no such project: correct its version", mistake: true},
		"no such version":  {lines: []string{"--index-url " + s.withLogin("me", secret), "a==2 --hash=sha256:" + hashA}, wantErr: "requirements.txt:2: a==2: no file matches any of its hashes: the index " + s.URL + "/simple has 1 files of a, none of version 2: correct", mistake: true},
		"a variable in the path": {
			lines: []string{"--index-url " + nobody + "/${P}", pinA}, environ: []string{"P=" + secret}, wantErr: "asking the index " + nobody + "/${P} for a: ",
		},
		"nobody there":    {lines: []string{"--index-url " + nobody, pinA}, wantErr: "asking the index " + nobody},
		"added and there": {lines: []string{"--index-url " + s.withLogin("me", secret), pinA}, added: []string{"A[x]>=1"}, want: []string{"a " + s.URL}},
		"added":           {lines: []string{pinA}, added: []string{"jax"}, wantErr: "install uv"},
		"added, newer":    {lines: []string{pinA}, added: []string{"a>1"}, wantErr: "install uv"},
		"added, an extra": {lines: []string{pinA}, added: []string{"a[y]"}, wantErr: "install uv"},
		"links elsewhere": {lines: []string{"--find-links " + s.URL, pinA}, wantErr: "install uv"},
		"no hash":         {lines: []string{pinA, "b==2"}, wantErr: "install uv"},
		"a bad hash":      {lines: []string{"a==1 --hash=sha256:x"}, wantErr: "requirements.txt:1: --hash=sha256:x", mistake: true},
		"a constraint":    {lines: []string{"-c limits.txt", pinA}, wantErr: "a<1 (limits.txt:1), a[x]==1 (requirements.txt:2) conflict with each other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := without(t, c.environ...)
			r.Home = t.TempDir()
			write(t, filepath.Join(r.Home, ".netrc"), c.netrc, 0o600)
			if c.pip != "" {
				file := filepath.Join(r.Home, "pip.conf")
				write(t, file, c.pip, 0o600)
				r.Environ = append(r.Environ, "PIP_CONFIG_FILE="+file)
			}
			w := project(t, map[string]string{"requirements.txt": strings.Join(c.lines, "\n") + "\n", "limits.txt": "a<1\n"})
			w.Added = c.added
			env, err := r.Resolve(t.Context(), w)
			if err != nil {
				if c.wantErr == "" || !strings.Contains(err.Error(), c.wantErr) || strings.Contains(err.Error(), "-pass") {
					t.Errorf("got %v, want %q", err, c.wantErr)
				}
				if is[*resolve.MistakeError](err) != c.mistake {
					t.Errorf("the error is a %T: %v", err, err)
				}
				return
			}
			var got []string
			for _, p := range env.Packages {
				switch {
				case p.Wheel == nil:
					got = append(got, p.Name+" from "+p.Source)
				case p.Wheel.Path != "":
					got = append(got, p.Name+" "+p.Wheel.Path)
				default:
					got = append(got, p.Name+" "+strings.TrimSuffix(p.Wheel.URL, "/files/"+p.Wheel.File))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || c.wantErr != "" || env.By != resolve.Hashes {
				t.Errorf("by %s, want error %q\n%s", env.By, c.wantErr, diff)
			}
		})
	}
}

// Credentials go to the indexes that they are for, and to no other host.
func TestClient(t *testing.T) {
	t.Parallel()
	var got string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		got += fmt.Sprintf("%s %s:%s\n", r.URL.Path, user, password)
	})
	elsewhere := httptest.NewServer(handler)
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler(w, r)
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)+"/target", http.StatusFound)
		}
		if r.URL.Path == "/moved/port" {
			http.Redirect(w, r, elsewhere.URL+"/target", http.StatusFound)
		}
	}))
	defer s.Close()
	r := without(t)
	r.Home = t.TempDir()
	write(t, filepath.Join(r.Home, ".netrc"), "machine netrc.example login you password from-netrc\ndefault login any password for-all\n", 0o600)
	r.Token = func(context.Context) (string, error) { return "t0ken", nil }
	w := requirements(t, "--index-url "+strings.Replace(s.URL, "://", "://me:"+secret+"@", 1), "a")
	client, err := r.Client(w)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		s.URL + "/a":          "/a me:" + secret + "\n",
		s.URL + "/moved":      "/moved me:" + secret + "\n/target :\n",
		s.URL + "/moved/port": "/moved/port me:" + secret + "\n/target :\n",
		elsewhere.URL + "/b":  "/b :\n",
		strings.Replace(s.URL, "://", "://own:login@", 1) + "/c": "/c own:login\n",
	} {
		got = ""
		answer, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}

	var sent *http.Request
	r.HTTP = &http.Client{Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
		sent = request
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
	})}
	if client, err = r.Client(w); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"https://netrc.example/a":              "you:from-netrc",
		"http://netrc.example/a":               ":",
		"https://us-python.pkg.dev/a":          "oauth2accesstoken:t0ken",
		"http://us-python.pkg.dev/a":           ":",
		"https://us-python.pkg.dev.evil.com/a": ":",
		"https://other.example/a":              ":",
	} {
		answer, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if user, password, _ := sent.BasicAuth(); user+":"+password != want {
			t.Errorf("%s: got %s:%s, want %s", address, user, password, want)
		}
	}
	if _, err := r.Client(requirements(t, "--index-url x", "a")); err == nil {
		t.Error("no error for an index that is no URL")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
