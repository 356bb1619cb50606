package resolve

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestText: a file of requirements is fetched with the credentials of its host, and errors show none.
func TestText(t *testing.T) {
	var asked int
	var login string
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("evil\n")) }))
	defer plain.Close()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		login = r.Header.Get("Authorization")
		switch r.URL.Path {
		case "/r.txt", "/busy.txt":
			if r.URL.Path == "/busy.txt" && asked == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte("a==1\n"))
		case "/moved.txt":
			http.Redirect(w, r, "/r.txt", http.StatusFound)
		case "/open.txt":
			http.Redirect(w, r, plain.URL+"/?token=t0ken", http.StatusFound)
		case "/large.txt":
			_, _ = w.Write(make([]byte, maxText+1))
		case "/down.txt":
			w.WriteHeader(http.StatusInternalServerError)
		case "/private.txt":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "https://")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:s3cr3t"))
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine 127.0.0.1 login me password s3cr3t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := t.TempDir()
	if err := os.WriteFile(filepath.Join(all, ".netrc"), []byte("default login me password s3cr3t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		address, home string
		login         string
		wrong         bool
		want          string // of the error
		asked         int
	}{
		"a file":             {address: "https://HOST/r.txt", asked: 1},
		"credentials":        {address: "https://me:s3cr3t@HOST/r.txt", login: basic, asked: 1},
		"variables":          {address: "https://me:${PASSWORD}@HOST/r.txt", login: basic, asked: 1},
		".netrc":             {address: "https://HOST/r.txt", home: home, login: basic, asked: 1},
		"for every host":     {address: "https://HOST/r.txt", home: all, asked: 1},
		"a moved one":        {address: "https://me:s3cr3t@HOST/moved.txt", login: basic, asked: 2},
		"a busy server":      {address: "https://HOST/busy.txt", asked: 2},
		"a variable, unset":  {address: "https://me:${OTHER}@HOST/r.txt", wrong: true, want: "fetching https://***@HOST/r.txt: the variable OTHER is not set"},
		"no TLS":             {address: "http://HOST/r.txt", wrong: true, want: "only https URLs are fetched"},
		"a file here":        {address: "file:///etc/passwd", wrong: true, want: "only https URLs are fetched"},
		"to where no TLS is": {address: "https://HOST/open.txt", wrong: true, want: "fetching https://HOST/open.txt: it redirects to " + plain.URL + "/?***", asked: 1},
		"none":               {address: "https://me:s3cr3t@HOST/none.txt?token=t0ken", wrong: true, want: "fetching https://HOST/none.txt?***: there is no such file (404 Not Found)", asked: 1},
		"refused":            {address: "https://HOST/private.txt", wrong: true, want: "it refuses access (401 Unauthorized): put credentials in ~/.netrc", asked: 1},
		"a large one":        {address: "https://HOST/large.txt", want: "fetching https://HOST/large.txt: it is larger than 4 MiB", asked: 1},
		"a broken server":    {address: "https://HOST/down.txt", want: "fetching https://HOST/down.txt: it answers 500 Internal Server Error", asked: attempts},
	} {
		asked, login = 0, ""
		r := Resolver{HTTP: server.Client(), Home: c.home, Environ: []string{"PASSWORD=s3cr3t"}}
		text, err := r.Text(t.Context(), strings.Replace(c.address, "HOST", host, 1))
		if asked != c.asked || c.want == "" && login != c.login {
			t.Errorf("%s: %d requests, want %d, the last with %q", name, asked, c.asked, login)
		}
		if c.want == "" {
			if err != nil || string(text) != "a==1\n" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
			continue
		}
		var wrong *MistakeError
		if err == nil || !strings.Contains(err.Error(), strings.Replace(c.want, "HOST", host, 1)) || errors.As(err, &wrong) != c.wrong ||
			strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "t0ken") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
