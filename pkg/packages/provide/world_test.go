package provide_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild/cloudbuildtest"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// world is a registry, an index of packages and a store, and a client of them.
type world struct {
	t        *testing.T
	registry *httptest.Server
	index    *httptest.Server
	files    map[string][]byte // of the index
	sizeless bool              // the index doesn't tell the sizes of files
	stated   map[string]int    // sizes that the index and its server state, by file, if they are more than the true ones
	store    store.Store
	now      time.Time
	memory   string
	look     bool
	// cancelBuild means that an interrupt is to cancel a build.
	cancelBuild bool
	cloud       *cloudbuildtest.Service // nil where the job has no project
	shown       bytes.Buffer            // steps and logs
	environ     []string
	lookPath    func(program string) (string, error)

	mu       sync.Mutex
	deny     func(*http.Request) int // the status with which the registry answers, 0 for its own answer
	requests []string                // to the registry and to the index
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, files: map[string][]byte{}, now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), memory: t.TempDir(), environ: []string{}, lookPath: nowhere}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	w.registry = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if status := w.seen(r); status != 0 {
			rw.WriteHeader(status)
			return
		}
		inner.ServeHTTP(rw, r)
	}))
	w.index = httptest.NewServer(http.HandlerFunc(w.serveIndex))
	t.Cleanup(w.registry.Close)
	t.Cleanup(w.index.Close)
	var err error
	if w.store, err = store.OpenFile("file://" + t.TempDir()); err != nil {
		t.Fatal(err)
	}
	w.putBase()
	w.requests = nil
	return w
}

// refuse has the registry answer with what deny returns, unless that is 0. A request that a run gave up
// may still be on its way.
func (w *world) refuse(deny func(*http.Request) int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deny = deny
}

// refuseAll has the registry refuse some requests with a status.
func (w *world) refuseAll(some func(*http.Request) bool, status int) {
	w.refuse(func(r *http.Request) int {
		if some(r) {
			return status
		}
		return 0
	})
}

// seen notes a request to the registry, and returns the status with which it is refused.
func (w *world) seen(r *http.Request) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r.Method+" "+r.URL.Path)
	if w.deny == nil {
		return 0
	}
	return w.deny(r)
}

func (w *world) host() string { return strings.TrimPrefix(w.registry.URL, "http://") }

func (w *world) base() string { return w.host() + "/base:1" }

// putBase puts a base into the registry.
func (w *world) putBase() {
	w.t.Helper()
	ref, err := name.ParseReference(w.base())
	w.must(err)
	w.must(remote.Write(ref, w.baseOf("elf")))
}

// baseOf returns an image like Docker's python:3.12, with an interpreter of its own.
func (w *world) baseOf(interpreter string) v1.Image {
	w.t.Helper()
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	for path, text := range map[string]string{
		"usr/lib/x86_64-linux-gnu/libc.so.6": "GNU C Library (Debian GLIBC 2.36-9+deb12u8) stable release version 2.36.\n",
		"usr/local/bin/python3.12":           interpreter,
	} {
		w.must(tw.WriteHeader(&tar.Header{Name: path, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := io.WriteString(tw, text)
		w.must(err)
	}
	w.must(tw.Close())
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	w.must(err)
	base, err := mutate.AppendLayers(empty.Image, layer)
	w.must(err)
	config, err := base.ConfigFile()
	w.must(err)
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	config.Config = v1.Config{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "PYTHON_VERSION=3.12.7", "PYTHON_SHA256=abc"}}
	base, err = mutate.ConfigFile(base, config)
	w.must(err)
	return base
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// serveIndex serves an index of packages as PEP 691 says, and their files.
func (w *world) serveIndex(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r.Method+" index"+r.URL.Path)
	if file, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		if data, ok := w.files[file]; ok {
			if r.Method == http.MethodHead {
				rw.Header().Set("Content-Length", strconv.Itoa(max(len(data), w.stated[file])))
			}
			_, _ = rw.Write(data)
			return
		}
		http.NotFound(rw, r)
		return
	}
	project := filepath.Base(strings.TrimSuffix(r.URL.Path, "/"))
	page := map[string]any{"meta": map[string]string{"api-version": "1.0"}, "name": project}
	var files []map[string]any
	for file, data := range w.files {
		if strings.HasPrefix(file, project+"-") {
			entry := map[string]any{"filename": file, "url": w.index.URL + "/files/" + file, "hashes": map[string]string{"sha256": sum(data)}}
			if !w.sizeless {
				entry["size"] = max(len(data), w.stated[file])
			}
			files = append(files, entry)
		}
	}
	page["files"] = files
	rw.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	_ = json.NewEncoder(rw).Encode(page)
}

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

// wheel adds a wheel with one module to the index. It returns its line for a requirements file.
func (w *world) wheel(project, version, content string) string {
	w.t.Helper()
	info := fmt.Sprintf("%s-%s.dist-info/", project, version)
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for _, f := range [][2]string{
		{project + ".py", content},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + project + "\nVersion: " + version + "\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", project + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		fw, err := zw.Create(f[0])
		w.must(err)
		_, err = io.WriteString(fw, f[1])
		w.must(err)
	}
	w.must(zw.Close())
	file := fmt.Sprintf("%s-%s-py3-none-any.whl", project, version)
	w.files[file] = b.Bytes()
	return fmt.Sprintf("%s==%s --hash=sha256:%s\n", project, version, sum(b.Bytes()))
}

// locked returns the text of a requirements file with hashes.
func (w *world) locked(lines ...string) string {
	return "--index-url " + w.index.URL + "/simple\n" + strings.Join(lines, "")
}

// plan returns the plan of a project with a requirements file.
func (w *world) plan(requirements string, change ...func(*decide.Input)) decide.Plan {
	w.t.Helper()
	return w.planOf("requirements.txt", requirements, change...)
}

// planOf returns the plan of a project with a file.
func (w *world) planOf(file, text string, change ...func(*decide.Input)) decide.Plan {
	w.t.Helper()
	root := w.t.TempDir()
	w.must(os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
	wanted, err := deps.Find(deps.Options{Root: root, EntryDir: root, Cwd: root, Home: root})
	w.must(err)
	in := decide.Input{Wanted: wanted, Root: root, Accelerator: api.Accelerator{Kind: api.CPU},
		Images: api.Images{BaseImage: w.base(), ImageRepo: w.host() + "/acme/env"}}
	for _, c := range change {
		c(&in)
	}
	p, err := decide.New(in)
	w.must(err)
	return p
}

func prebuilt(in *decide.Input) { in.Image = "prebuilt" }
func bundled(in *decide.Input)  { in.Image = "bundled" }

// nowhere finds no program.
func nowhere(program string) (string, error) {
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}

// provide provides the environment of a plan, as a new process would.
func (w *world) provide(p decide.Plan) (decide.Provided, error) {
	w.t.Helper()
	return w.provideIn(w.t.Context(), p)
}

func (w *world) provideIn(ctx context.Context, p decide.Plan) (decide.Provided, error) {
	w.t.Helper()
	maker := &provide.Provider{
		Images: &image.Client{Memory: image.Memory{Dir: w.memory}, Transport: w.transport(),
			Backoff: remote.Backoff{Duration: time.Millisecond, Factor: 1, Steps: 2}},
		Resolver: resolve.Resolver{Environ: w.environ, LookPath: w.lookPath},
		Store:    w.store, StoreURL: w.store.URL(), Now: func() time.Time { return w.now }, DryRun: w.look, CancelBuild: w.cancelBuild,
		Show: provide.Show{Step: func(what string) { fmt.Fprintln(&w.shown, what) }, Making: func(image.Progress) {}, Log: &w.shown},
	}
	if w.cloud != nil {
		maker.Cloud = w.cloud.Client
	}
	w.mu.Lock()
	w.requests = nil
	w.mu.Unlock()
	w.shown.Reset()
	return maker.Provide(ctx, p, "job-1")
}

// transport makes the registry that of Artifact Registry and of Docker, too.
func (w *world) transport() http.RoundTripper {
	return redirected(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Host, ".pkg.dev") || r.URL.Host == "index.docker.io" {
			r = r.Clone(r.Context())
			r.URL.Scheme, r.URL.Host, r.Host = "http", w.host(), w.host()
		}
		return http.DefaultTransport.RoundTrip(r)
	})
}

type redirected func(*http.Request) (*http.Response, error)

func (f redirected) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (w *world) mustProvide(p decide.Plan) decide.Provided {
	w.t.Helper()
	done, err := w.provide(p)
	w.must(err)
	return done
}

// login is the request with which each login to a registry begins.
const login = "GET /v2/"

// logins returns how often the last provision has logged in to the registry.
func (w *world) logins() (number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		if r == login {
			number++
		}
	}
	return number
}

// did returns the requests of the last provision that contain a text.
func (w *world) did(text string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []string
	for _, r := range w.requests {
		if strings.Contains(r, text) && r != login {
			found = append(found, r)
		}
	}
	return found
}

// document returns what the pod reads.
func (w *world) document(sha256 string) (d struct {
	Python                             string
	Wheels                             []struct{ File, SHA256, URL string }
	Requirements, Constraints, Options []string
	Complete                           bool
	Refresh                            string
}) {
	w.t.Helper()
	r, err := w.store.Open(context.Background(), store.Blob(sha256))
	w.must(err)
	defer r.Close()
	text, err := io.ReadAll(r)
	w.must(err)
	if sum(text) != sha256 {
		w.t.Errorf("the document %s has the hash %s", sha256, sum(text))
	}
	w.must(json.Unmarshal(text, &d))
	return d
}

// content returns the files of an image and its variables.
func (w *world) content(image string) (files, env []string) {
	w.t.Helper()
	ref, err := name.ParseReference(image)
	w.must(err)
	found, err := remote.Image(ref)
	w.must(err)
	config, err := found.ConfigFile()
	w.must(err)
	layers, err := found.Layers()
	w.must(err)
	for _, l := range layers {
		r, err := l.Uncompressed()
		w.must(err)
		for tr := tar.NewReader(r); ; {
			header, err := tr.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			w.must(err)
			files = append(files, header.Name)
		}
		w.must(r.Close())
	}
	return files, config.Config.Env
}
