package outputs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const bucketName = "acme-jobs"

// bucket is Cloud Storage's protocol on loopback.
type bucket struct {
	fake *fakestorage.Server

	mu      sync.Mutex
	changes int
	// cut, which may be nil, is called before each change, with how many there were. If it returns true, the
	// connection is cut.
	cut func(changes int) bool
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true})
	if err != nil {
		t.Fatal(err)
	}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucketName})
	b := &bucket{fake: fake}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	return b
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && b.isCut() {
		panic(http.ErrAbortHandler)
	}
	// The server doesn't look at this condition of a copy.
	if _, target, copies := strings.Cut(r.URL.Path, "/rewriteTo/b/"+bucketName+"/o/"); copies && r.URL.Query().Get("ifGenerationMatch") == "0" {
		if _, err := b.fake.GetObject(bucketName, target); err == nil {
			http.Error(w, `{"error":{"code":412,"errors":[{"reason":"conditionNotMet"}]}}`, http.StatusPreconditionFailed)
			return
		}
	}
	b.fake.HTTPHandler().ServeHTTP(w, r)
}

func (b *bucket) isCut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changes++
	return b.cut != nil && b.cut(b.changes-1)
}

func (b *bucket) put(name, content string, metadata map[string]string) {
	b.fake.CreateObject(fakestorage.Object{
		ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucketName, Name: "team/" + name, Metadata: metadata}, Content: []byte(content),
	})
}

// names returns the names of all objects of a job.
func (b *bucket) names(t *testing.T, id string) (names []string) {
	t.Helper()
	listed, err := b.fake.ListObjectsWithOptionsPaginated(bucketName, fakestorage.ListOptions{Prefix: "team/" + id + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range listed.Objects {
		names = append(names, strings.TrimPrefix(o.Name, "team/"+id+"/"))
	}
	return names
}

// outputsOf opens the outputs of a job in the bucket, as a command does.
func (b *bucket) outputsOf(t *testing.T, h api.Handle) *Dir {
	t.Helper()
	s, err := store.Open("gs://" + bucketName + "/team")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	dir, err := Of(&job.Job{Handle: h, Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
