package image_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// A server is a registry that a test can disturb.
type server struct {
	host string

	mu       sync.Mutex
	requests []string // "HEAD /v2/env/manifests/e-…"
	// disturb may answer a request itself, and returns whether it has.
	disturb func(w http.ResponseWriter, r *http.Request) bool
}

// onEachRegistry runs a test with a registry in this process, and with Debian's.
func onEachRegistry(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		test(t, inProcess(t))
	})
	t.Run("distribution", func(t *testing.T) {
		t.Parallel()
		test(t, newServer(t, distribution(t)))
	})
}

func inProcess(t *testing.T) *server {
	t.Helper()
	return newServer(t, complete(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
}

func newServer(t *testing.T, registry http.Handler) *server {
	t.Helper()
	s := &server{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if r.URL.Path != "/v2/" {
			s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		}
		disturb := s.disturb
		s.mu.Unlock()
		if disturb == nil || !disturb(w, r) {
			registry.ServeHTTP(w, r)
		}
	}))
	web.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that a test cuts
	t.Cleanup(web.Close)
	s.host = strings.TrimPrefix(web.URL, "http://")
	return s
}

// complete refuses manifests that end too early, as those of an interrupted client do, and manifests whose layers are missing. All
// registries do but the one for tests.
func complete(registry http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/manifests/") {
			registry.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m v1.Manifest
		if json.Unmarshal(body, &m) == nil && len(m.Layers) > 0 {
			repo, _, _ := strings.Cut(r.URL.Path, "/manifests/")
			for _, d := range append(m.Layers, m.Config) {
				found := httptest.NewRecorder()
				registry.ServeHTTP(found, httptest.NewRequest(http.MethodHead, repo+"/blobs/"+d.Digest.String(), nil))
				if found.Code != http.StatusOK {
					w.WriteHeader(http.StatusNotFound)
					fmt.Fprintf(w, `{"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":"blob unknown to registry","detail":"%s"}]}`, d.Digest)
					return
				}
			}
		}
		registry.ServeHTTP(w, r)
	})
}

// listening finds the address in the log of the registry.
var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// distribution starts the CNCF's registry, which make test builds.
func distribution(t *testing.T) http.Handler {
	t.Helper()
	program := os.Getenv("KINETIC_TEST_REGISTRY")
	if program == "" {
		t.Skip("KINETIC_TEST_REGISTRY is not set: make test builds the registry and sets it")
	}
	config := filepath.Join(t.TempDir(), "config.yml")
	put(t, config, fmt.Appendf(nil, "version: 0.1\nstorage: {filesystem: {rootdirectory: %q}, delete: {enabled: true}}\nhttp: {addr: '127.0.0.1:0', relativeurls: true}\n", t.TempDir()))
	command := exec.Command(program, "serve", config)
	messages, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	lines := bufio.NewScanner(messages)
	address := ""
	for address == "" {
		if !lines.Scan() {
			t.Fatalf("the registry does not start: %v", lines.Err())
		}
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, messages) }()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	return proxy
}

// since returns the requests that the registry got meanwhile.
func (s *server) since(do func()) []string {
	s.mu.Lock()
	before := len(s.requests)
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[before:])
}

// with disturbs requests as long as a function runs.
func (s *server) with(disturb func(w http.ResponseWriter, r *http.Request) bool, do func()) {
	set := func(d func(w http.ResponseWriter, r *http.Request) bool) {
		s.mu.Lock()
		s.disturb = d
		s.mu.Unlock()
	}
	set(disturb)
	defer set(nil)
	do()
}

// repo is where images are made.
func (s *server) repo() string { return s.host + "/acme/env" }

func (s *server) tag(t *testing.T, tag string) name.Tag {
	t.Helper()
	r, err := name.NewTag(s.repo() + ":" + tag)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// put puts an image under a name in the registry.
func (s *server) put(t *testing.T, ref string, image remote.Taggable) string {
	t.Helper()
	parsed, err := name.ParseReference(s.host + "/" + ref)
	if err != nil {
		t.Fatal(err)
	}
	if index, ok := image.(v1.ImageIndex); ok {
		err = remote.WriteIndex(parsed, index)
	} else {
		err = remote.Write(parsed, image.(v1.Image))
	}
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Name()
}

// twin puts the same base into the registry as another image, and returns its reference.
func (s *server) twin(t *testing.T, ref string) string {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	base, err := remote.Image(parsed)
	if err != nil {
		t.Fatal(err)
	}
	config, err := base.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.Author += "twin"
	if base, err = mutate.ConfigFile(base, config); err != nil {
		t.Fatal(err)
	}
	return s.put(t, "library/python:twin", base)
}

// image returns the image of a tag.
func (s *server) image(t *testing.T, tag string) v1.Image {
	t.Helper()
	i, err := remote.Image(s.tag(t, tag))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// tags returns the tags of the repository with a prefix.
func (s *server) tags(t *testing.T, prefix string) []string {
	t.Helper()
	repo, err := name.NewRepository(s.repo())
	if err != nil {
		t.Fatal(err)
	}
	all, err := remote.List(repo)
	if err != nil && !strings.Contains(err.Error(), "NAME_UNKNOWN") {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(tag string) bool { return !strings.HasPrefix(tag, prefix) })
}

// do makes a request of its own: to delete a layer or a tag, or to put a strange manifest. It
// returns the status.
func (s *server) do(t *testing.T, method, what, body string) int {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+s.host+"/v2/acme/env/"+what, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// writes returns the requests that write.
func writes(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool {
		return strings.HasPrefix(r, "GET ") || strings.HasPrefix(r, "HEAD ")
	})
}
