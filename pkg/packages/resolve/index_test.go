package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

var (
	hashOfA     = strings.Repeat("a", 64)
	hashB       = strings.Repeat("b", 64)
	indexTarget = wheel.Target{Python: "3.12", Arch: "amd64", Libc: "glibc 2.36"}
)

// indexServer is an index with pages in JSON (PEP 691) or HTML (PEP 503).
type indexServer struct {
	*httptest.Server
	html     bool
	password string // of the user "me", "" for nobody
	pages    map[string][]IndexFile

	mu    sync.Mutex
	asked []string
}

func newIndexServer(t *testing.T, pages map[string][]IndexFile) *indexServer {
	s := &indexServer{pages: pages}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *indexServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	s.mu.Unlock()
	if user, password, _ := r.BasicAuth(); s.password != "" && (user != "me" || password != s.password) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	files, ok := s.pages[strings.Trim(strings.TrimPrefix(r.URL.Path, "/simple"), "/")]
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case s.html || !strings.Contains(r.Header.Get("Accept"), typeJSON):
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		fmt.Fprint(w, `<!DOCTYPE html><html><head><base href="/files/"></head><body><a name="x">no link</a>`)
		for _, f := range files {
			fragment := ""
			if f.SHA256 != "" {
				fragment = "#sha256=" + f.SHA256
			}
			fmt.Fprintf(w, `<a href="%s%s" data-requires-python="%s">%s</a><br/>`, f.Name, fragment, "&gt;=3.9", f.Name)
		}
	default:
		w.Header().Set("Content-Type", typeJSON)
		fmt.Fprint(w, `{"meta":{"api-version":"1.1"},"files":[`)
		for i, f := range files {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, `{"filename":%q,"url":"../../files/%s#x","hashes":{"sha256":%q},"requires-python":">=3.9","size":%d,"yanked":"because"}`, f.Name, f.Name, f.SHA256, f.Size)
		}
		fmt.Fprint(w, `]}`)
	}
}

func TestFiles(t *testing.T) {
	s := newIndexServer(t, map[string][]IndexFile{"some-name": {{Name: "some_name-1.0-py3-none-any.whl", SHA256: hashOfA, Size: 5}, {Name: "some_name-1.0.tar.gz"}}})
	for _, isHTML := range []bool{false, true} {
		s.html = isHTML
		got, err := Files(t.Context(), nil, s.URL+"/simple/", "Some.Name")
		want := []IndexFile{
			{Name: "some_name-1.0-py3-none-any.whl", URL: s.URL + "/files/some_name-1.0-py3-none-any.whl", SHA256: hashOfA, Size: 5, Yanked: true},
			{Name: "some_name-1.0.tar.gz", URL: s.URL + "/files/some_name-1.0.tar.gz", Yanked: true},
		}
		if isHTML {
			want[0].Size, want[0].Yanked, want[1].Yanked = 0, false, false
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("HTML %v: %v (-want +got)\n%s", isHTML, err, diff)
		}
	}
}

func TestCredentials(t *testing.T) {
	s := newIndexServer(t, map[string][]IndexFile{"a": {}})
	s.password = "s3cr3t"
	host := strings.TrimPrefix(s.URL, "http://")
	for name, c := range map[string]struct{ base, want string }{
		"in the URL": {base: "http://me:s3cr3t@" + host},
		"none":       {base: s.URL, want: "it requires credentials: add them to ~/.netrc"},
		"wrong ones": {base: "http://me:wrong@" + host, want: "it does not accept the credentials"},
	} {
		_, err := Files(t.Context(), nil, c.base, "a")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "wrong@") || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("%s: the error has the password: %v", name, err)
		}
	}
}

// Credentials are passed on within a server, not to another one, nor to another port of the same.
func TestRedirects(t *testing.T) {
	var passed string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passed = r.Header.Get("Authorization")
	}))
	defer elsewhere.Close()
	u, err := url.Parse(elsewhere.URL)
	if err != nil {
		t.Fatal(err)
	}
	var first *httptest.Server
	to := ""
	first = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if passed = r.Header.Get("Authorization"); r.URL.Path != "/moved/" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	defer first.Close()
	for name, c := range map[string]struct {
		to   string
		want bool
	}{
		"another host":    {"http://localhost:" + u.Port() + "/simple/a/", false},
		"another port":    {elsewhere.URL + "/simple/a/", false},
		"the same server": {"/moved/", true},
	} {
		to = c.to
		_, err = Files(t.Context(), nil, strings.Replace(first.URL, "http://", "http://me:s3cr3t@", 1), "a")
		if err != nil || (passed != "") != c.want {
			t.Errorf("%s: it got %q; %v", name, passed, err)
		}
	}
}

// What an index refuses is looked for in the others: the hash decides.
func TestFindBesideRefusals(t *testing.T) {
	status := http.StatusForbidden
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer refusing.Close()
	second := newIndexServer(t, map[string][]IndexFile{"a": {{Name: "a-1-py3-none-any.whl", SHA256: hashOfA}}})
	find := func(name string, bases ...string) error {
		_, err := Find(t.Context(), nil, bases, []deps.Pin{{Name: name, Version: "1", Hashes: []string{hashOfA}}}, indexTarget)
		return err
	}
	for want, code := range map[string]int{"it refuses access: 403 Forbidden": http.StatusForbidden, "it requires credentials": http.StatusUnauthorized} {
		status = code
		if err := find("a", refusing.URL, second.URL); err != nil {
			t.Error(err)
		}
		var missing *MissingError
		if err := find("b", refusing.URL, second.URL); !errors.As(err, &missing) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a MissingError with %q", err, want)
		}
		if err := find("a", refusing.URL); err == nil || errors.As(err, &missing) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	status = http.StatusUnauthorized // with credentials that it does not accept
	if err := find("a", strings.Replace(refusing.URL, "http://", "http://me:wrong@", 1), second.URL); err == nil || !strings.Contains(err.Error(), "it does not accept the credentials") {
		t.Errorf("got %v", err)
	}
}

func TestIndexesThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "it refuses access"},
		"broken":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "it answers 502 Bad Gateway"},
		"not JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", typeJSON)
			fmt.Fprint(w, "<")
		}, "reading its page: "},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "<a")
		}, "reading its page: unexpected EOF"},
		"without end": {func(w http.ResponseWriter, _ *http.Request) { endless(w) }, "larger than 64 MiB"},
	} {
		s := httptest.NewServer(c.handler)
		_, err := Files(t.Context(), nil, s.URL, "a")
		s.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	for _, base := range []string{"nonsense", "http://[", "http://127.0.0.1:1/x"} {
		if files, err := Files(t.Context(), nil, base, "a"); err == nil {
			t.Errorf("%s: got %v", base, files)
		}
	}
}

// TestIndexFailsNowAndThen: what may pass is asked again, and nothing else.
func TestIndexFailsNowAndThen(t *testing.T) {
	cut := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "<a")
	}
	for name, c := range map[string]struct {
		fail  func(http.ResponseWriter)
		asked int
	}{
		"overloaded": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, 3},
		"broken":     {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, 3},
		"cut off":    {cut, 3},
		"reset":      {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 3},
		"missing":    {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, 1},
		"forbidden":  {func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, 1},
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked < 3 {
				c.fail(w)
				return
			}
			fmt.Fprint(w, `<a href="a-1.tar.gz">`)
		}))
		files, err := Files(t.Context(), nil, s.URL, "a")
		s.Close()
		if asked != c.asked || (err == nil) != (c.asked == 3) || len(files) != c.asked/3 {
			t.Errorf("%s: asked %d times: got %v, %v", name, asked, files, err)
		}
	}
}

// endless writes a page that never ends.
func endless(w http.ResponseWriter) {
	for line := []byte("<br/>" + strings.Repeat(" ", 1<<14)); ; {
		if _, err := w.Write(line); err != nil {
			return
		}
	}
}

func TestFind(t *testing.T) {
	first := newIndexServer(t, map[string][]IndexFile{
		"numpy": {
			{Name: "numpy-2.0-cp312-cp312-win_amd64.whl", SHA256: hashOfA},
			{Name: "numpy-2.0-cp312-cp312-manylinux_2_17_x86_64.whl", SHA256: hashOfA, Size: 9},
			{Name: "numpy-2.0-cp312-cp312-manylinux_2_28_x86_64.whl", SHA256: hashB},
			{Name: "numpy-2.0.tar.gz", SHA256: hashOfA},
		},
		"other": {{Name: "other-1-py3-none-any.whl", SHA256: hashB}},
		"both":  {{Name: "both-1.tar.gz", SHA256: hashB}},
		"built": {{Name: "built-1-cp39-cp39-linux_x86_64.whl", SHA256: hashB}},
	})
	second := newIndexServer(t, map[string][]IndexFile{
		"other": {{Name: "other-1-py3-none-any.whl", SHA256: hashOfA}},
		"built": {{Name: "built-1.tar.gz", SHA256: hashOfA}},
		"old":   {{Name: "old-1-cp39-cp39-linux_x86_64.whl", SHA256: hashOfA}},
		"both":  {{Name: "both-1-py3-none-any.whl", SHA256: hashOfA}},
	})
	pins := []deps.Pin{{Name: "numpy", Version: "2.0", Hashes: []string{hashOfA}}, {Name: "other", Version: "1", Hashes: []string{hashOfA}},
		{Name: "built", Version: "1", Hashes: []string{hashOfA, hashB}}, {Name: "old", Version: "1", Hashes: []string{hashOfA}},
		{Name: "both", Version: "1", Hashes: []string{hashOfA, hashB}}}
	found, err := Find(t.Context(), nil, []string{first.URL + "/simple", second.URL + "/simple"}, pins, indexTarget)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&wheel.Source{File: "numpy-2.0-cp312-cp312-manylinux_2_17_x86_64.whl", URL: first.URL + "/files/numpy-2.0-cp312-cp312-manylinux_2_17_x86_64.whl", SHA256: hashOfA, Size: 9}, found[0].Wheel); diff != "" {
		t.Error(diff)
	}
	if found[0].SourceSHA256 != "" {
		t.Errorf("a wheel that was chosen has the hash of a source: %+v", found[0])
	}
	if w := found[1].Wheel; w == nil || !strings.HasPrefix(w.URL, second.URL) {
		t.Errorf("got %+v", w)
	}
	if p := found[2]; p.Wheel != nil || p.Source != second.URL+"/files/built-1.tar.gz" || p.SourceSHA256 != hashOfA || !errors.Is(p.Why, deps.ErrNoWheel) {
		t.Errorf("got %+v", p)
	}
	var noFit *wheel.NoFitError
	if p := found[3]; p.Wheel != nil || !errors.As(p.Why, &noFit) {
		t.Errorf("got %+v", p)
	}
	if w := found[4].Wheel; w == nil || !strings.HasPrefix(w.URL, second.URL) {
		t.Errorf("a source archive came before a wheel of another index: %+v", found[4])
	}
	second.Close()
	found, err = Find(t.Context(), nil, []string{first.URL + "/simple", second.URL + "/simple"},
		[]deps.Pin{{Name: "both", Version: "1", Hashes: []string{hashB}}}, indexTarget)
	if err != nil || found[0].Source != first.URL+"/files/both-1.tar.gz" {
		t.Errorf("without the second index: got %+v, %v", found, err)
	}
	// The second index may have the wheel that the lock allows, so that it must not be left out silently.
	if _, err := Find(t.Context(), nil, []string{first.URL + "/simple", second.URL + "/simple"}, pins[4:], indexTarget); err == nil {
		t.Error("an index that may have the wheel was left out")
	}
	for _, path := range second.asked {
		if strings.Contains(path, "numpy") {
			t.Error("the second index was asked for what the first has")
		}
	}
}

func TestFindRejects(t *testing.T) {
	s := newIndexServer(t, map[string][]IndexFile{
		"wrong":  {{Name: "wrong-1-py3-none-any.whl", SHA256: hashB}, {Name: "wrong-1.tar.gz", SHA256: hashB}},
		"old":    {{Name: "old-1-py3-none-any.whl", SHA256: hashB}},
		"legacy": {{Name: "legacy-1-py3-none-any.whl"}},
		"odd":    {{Name: "odd.whl", SHA256: hashOfA}},
	})
	for name, want := range map[string]string{
		"wrong": "2 files of that version, with other hashes", "legacy": "no hashes", "missing": "it has no such project", "odd": "not the file name of a wheel",
	} {
		_, err := Find(t.Context(), nil, []string{s.URL}, []deps.Pin{{Name: name, Version: "1", Hashes: []string{hashOfA}}}, indexTarget)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if _, err := Find(t.Context(), nil, []string{s.URL}, []deps.Pin{{Name: "old", Version: "2", Hashes: []string{hashOfA}}}, indexTarget); err == nil || !strings.Contains(err.Error(), "1 files of old, none of version 2") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, nil, []string{s.URL}, []deps.Pin{{Name: "wrong"}}, indexTarget); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
