package resolve_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// target is that of tests without pip.
var target = wheel.Target{Python: "3.12", Arch: "amd64", Libc: "glibc 2.36"}

// secret is a password that nothing but requests may have.
const secret = "s3cr3t-pass"

// wheelOf writes a wheel that requires others.
func wheelOf(t testing.TB, file string, requires ...string) []byte {
	t.Helper()
	n, err := wheel.ParseName(file)
	if err != nil {
		t.Fatal(err)
	}
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", n.Distribution, n.Version)
	for _, r := range requires {
		metadata += "Requires-Dist: " + r + "\n"
	}
	info := n.Distribution + "-" + n.Version + ".dist-info/"
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range [][2]string{
		{n.Distribution + ".py", "x = 1\n"}, {info + "METADATA", metadata},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: " + n.Tags()[0] + "\n"}, {info + "RECORD", ""},
	} {
		w, err := z.Create(m[0])
		if err == nil {
			_, err = w.Write([]byte(m[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// server is an index of files, with pages in HTML at /simple/ and files at /files/.
type server struct {
	*httptest.Server
	files    map[string][]byte
	password string // of the user "me", "" for nobody

	mu    sync.Mutex
	asked []string
}

func newServer(t testing.TB, files map[string][]byte) *server {
	s := &server{files: files}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	s.mu.Unlock()
	if user, password, _ := r.BasicAuth(); s.password != "" && (user != "me" || password != s.password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="index"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if data, ok := s.files[path.Base(r.URL.Path)]; ok && strings.HasPrefix(r.URL.Path, "/files/") {
		_, _ = w.Write(data)
		return
	}
	page := ""
	for _, name := range slices.Sorted(mapKeys(s.files)) {
		project := strings.ReplaceAll(strings.ToLower(strings.Split(name, "-")[0]), "_", "-")
		if project == path.Base(r.URL.Path) {
			page += fmt.Sprintf("<a href=\"/files/%s#sha256=%s\">%s</a>\n", name, sum(s.files[name]), name)
		}
	}
	if page == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<!DOCTYPE html><html><body>", page, "</body></html>")
}

func mapKeys(m map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// withLogin returns the address of the index with credentials.
func (s *server) withLogin(user, password string) string {
	return strings.Replace(s.URL, "://", "://"+user+":"+password+"@", 1) + "/simple"
}

// project writes files into a new directory and returns what its requirements file says.
func project(t testing.TB, files map[string]string) resolve.Request {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text, 0o644)
	}
	w, err := deps.Find(deps.Options{Root: dir, EntryDir: dir, Cwd: dir, Home: filepath.Dir(dir)})
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Request{Wanted: w, Root: dir, Target: target, FullPython: "3.12.7"}
}

func requirements(t testing.TB, lines ...string) resolve.Request {
	t.Helper()
	return project(t, map[string]string{"requirements.txt": strings.Join(lines, "\n") + "\n"})
}

func write(t testing.TB, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	// A program that another test starts at this moment would hold the file open, which then can't be executed: go.dev/issue/22315.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// without returns a resolver that finds none of the tools, in an environment without settings.
func without(t testing.TB, environ ...string) resolve.Resolver {
	return resolve.Resolver{
		Environ:  append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PIP_CONFIG_FILE=" + os.DevNull, "PIP_NO_CACHE_DIR=1"}, environ...),
		LookPath: func(name string) (string, error) { return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound) },
		TempDir:  t.TempDir(),
	}
}

// described returns packages as NAME==VERSION FILE.
func described(packages []deps.Package) []string {
	var all []string
	for _, p := range packages {
		text := p.Name + "==" + p.Version
		if p.Wheel != nil {
			text += " " + p.Wheel.File
		} else {
			text += " from " + p.Source
		}
		all = append(all, text)
	}
	return all
}

// isEmpty fails if anything was left in the directory for temporary files.
func isEmpty(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left in the temporary directory: %v %v", entries, err)
	}
}
