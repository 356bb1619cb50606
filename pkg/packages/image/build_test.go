package image_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// layout is that of most tests.
var layout = wheel.Layout{Prefix: "opt/kinetic/env", Python: "3.12"}

// wheelOf writes a wheel.
func wheelOf(t testing.TB, project, version string, files ...file) (string, []byte) {
	t.Helper()
	info := project + "-" + version + ".dist-info/"
	files = append(files,
		file{name: info + "WHEEL", data: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		file{name: info + "METADATA", data: "Metadata-Version: 2.1\nName: " + project + "\nVersion: " + version + "\n"})
	if has := func(f file) bool { return f.name == info+"RECORD" }; slices.ContainsFunc(files, has) {
		return project + "-" + version + "-py3-none-any.whl", archiveOf(t, files)
	}
	record := ""
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.data))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	files = append(files, file{name: info + "RECORD", data: record + info + "RECORD,,\n"})
	return project + "-" + version + "-py3-none-any.whl", archiveOf(t, files)
}

// archiveOf writes a zip.
func archiveOf(t testing.TB, files []file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, ExternalAttrs: (0o100644 | uint32(f.mode)) << 16, CreatorVersion: 3 << 8, NonUTF8: f.link == "no UTF-8"}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(w, f.data)
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

// An index serves wheels.
type index struct {
	url string

	mu      sync.Mutex
	files   map[string][]byte
	fetched []string
	disturb func(w http.ResponseWriter, r *http.Request) bool
}

func newIndex(t testing.TB) *index {
	t.Helper()
	x := &index{files: map[string][]byte{}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		name := strings.TrimPrefix(r.URL.Path, "/")
		x.fetched = append(x.fetched, name)
		data, ok := x.files[name]
		disturb := x.disturb
		x.mu.Unlock()
		switch {
		case disturb != nil && disturb(w, r):
		case !ok:
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data)
		}
	}))
	t.Cleanup(web.Close)
	x.url = web.URL
	return x
}

// add publishes a wheel.
func (x *index) add(t testing.TB, project, version string, files ...file) wheel.Source {
	t.Helper()
	name, data := wheelOf(t, project, version, files...)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.files[name] = data
	sum := sha256.Sum256(data)
	return wheel.Source{File: name, SHA256: hex.EncodeToString(sum[:]), URL: x.url + "/" + name, Size: int64(len(data))}
}

// module publishes a wheel of one module with some data that can't be compressed.
func (x *index) module(t testing.TB, project, version string, size int) wheel.Source {
	t.Helper()
	return x.add(t, project, version,
		file{name: project + "/__init__.py", data: "version = '" + version + "'\n"},
		file{name: project + "/data.bin", data: noise(project[0], size)})
}

// since returns the wheels that were fetched meanwhile.
func (x *index) since(do func()) []string {
	x.mu.Lock()
	x.fetched = nil
	x.mu.Unlock()
	do()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.fetched
}

// mustMake makes an image.
func mustMake(t testing.TB, c *image.Client, s *server, e image.Env, o image.Options) image.Made {
	t.Helper()
	made, err := c.Make(context.Background(), s.repo(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// tagOf returns the tag of an environment.
func tagOf(t testing.TB, e image.Env) string {
	t.Helper()
	tag, err := e.Tag()
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// tree returns the regular files below a directory.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
