package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// requestLog is a server that remembers what it is asked.
type requestLog struct {
	http.Handler
	mu    sync.Mutex
	asked []string
}

func (c *requestLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.asked = append(c.asked, r.Method+" "+r.URL.RequestURI())
	c.mu.Unlock()
	c.Handler.ServeHTTP(w, r)
}

// take returns what was asked since the last time.
func (c *requestLog) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"ml"}}],
 "clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}]}`

// obliging is an API server that has nothing and takes everything.
func obliging(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":"1"},"items":[]}`)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body)
}

const (
	// storeRequests is how often an unchanged project asks the store: whether the id is
	// free, what blobs there are, and to write the handle and the call.
	storeRequests = 6
	// largeFiles are as many blobs, beside a pack and the index.
	largeFiles = 12
)

func TestAnUnchangedProjectAsksTheStoreLittle(t *testing.T) {
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true})
	if err != nil {
		t.Fatal(err)
	}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "acme-jobs"})
	bucket := &requestLog{Handler: fake.HTTPHandler()}
	storage, cluster := httptest.NewServer(bucket), httptest.NewServer(http.HandlerFunc(obliging))
	defer storage.Close()
	defer cluster.Close()
	dir := t.TempDir()
	files := map[string]string{"project/f.py": "def f():\n    return 1\n", "project/.kineticignore": "", "config": fmt.Sprintf(kubeconfig, cluster.URL)}
	for i := range largeFiles {
		files[fmt.Sprintf("project/weights%d.bin", i)] = strings.Repeat(string(rune('a'+i)), 1<<20)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"KUBECONFIG": filepath.Join(dir, "config"), "STORAGE_EMULATOR_HOST": storage.URL,
		"KINETIC_STORE": "gs://acme-jobs", "HOME": filepath.Join(dir, "home"), "XDG_CACHE_HOME": ""} {
		t.Setenv(name, value)
	}
	t.Chdir(filepath.Join(dir, "project"))
	submit := func() (said string, asked []string) {
		t.Helper()
		streams, _, _, stderr := genericiooptions.NewTestIOStreams()
		if code := cli.Run(t.Context(), NewCommand(streams, clock.RealClock{}), []string{"f.py:f", "--image", "python:3.12", "--detach"}, streams); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return stderr.String(), bucket.take()
	}
	submit()
	said, asked := submit()
	if !strings.Contains(said, " 0 B new") || len(asked) > storeRequests {
		t.Errorf("said %q after %d requests, want %d at most:\n%s", said, len(asked), storeRequests, strings.Join(asked, "\n"))
	}
	// A blob that someone removed is found out before the job needs it.
	sum := sha256.Sum256([]byte(files["project/weights3.bin"]))
	blob := store.Blob(hex.EncodeToString(sum[:]))
	if err := fake.Backend().DeleteObject("acme-jobs", blob); err != nil {
		t.Fatal(err)
	}
	if said, _ := submit(); !strings.Contains(said, " 1.0 MiB new") {
		t.Errorf("after a blob was removed it said %q", said)
	}
	if _, err := fake.GetObject("acme-jobs", blob); err != nil {
		t.Errorf("the blob that was removed: %v", err)
	}
}
