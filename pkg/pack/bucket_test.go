package pack_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const bucketName = "acme-jobs"

// bucket is Cloud Storage's protocol on loopback.
type bucket struct {
	fake   *fakestorage.Server
	active sync.WaitGroup // requests

	mu       sync.Mutex
	requests int
	meet     func(r *http.Request) // called before each request, one at a time; nil does nothing
}

func newBucket(t testing.TB) *bucket {
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
	b.active.Add(1)
	defer b.active.Done()
	b.before(r)
	b.fake.HTTPHandler().ServeHTTP(w, r)
}

func (b *bucket) before(r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests++
	if b.meet != nil {
		b.meet(r)
	}
}

// count returns how many requests do takes.
func (b *bucket) count(do func()) int {
	b.mu.Lock()
	before := b.requests
	b.mu.Unlock()
	do()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests - before
}

func (b *bucket) open(t testing.TB) store.Store {
	t.Helper()
	s, err := store.Open("gs://" + bucketName + "/team")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// tree reads the tree of a data set back: links with an arrow, and empty directories with a
// slash.
func (b *bucket) tree(t testing.TB, sha256 string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, o := range b.objects(t) {
		path, below := strings.CutPrefix(o.Name, "team/"+store.DataTree(sha256))
		if !below {
			continue
		}
		found, err := b.fake.GetObject(bucketName, o.Name)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(found.Content)
		if target := found.Metadata["gcsfuse_symlink_target"]; target != "" {
			all[path] += "-> " + target
		}
	}
	return all
}

func (b *bucket) objects(t testing.TB) []fakestorage.ObjectAttrs {
	t.Helper()
	listed, err := b.fake.ListObjectsWithOptionsPaginated(bucketName, fakestorage.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return listed.Objects
}

// age makes those objects older whose names have an end.
func (b *bucket) age(t testing.TB, by time.Duration, end string) {
	t.Helper()
	for _, o := range b.objects(t) {
		if !strings.HasSuffix(o.Name, end) {
			continue
		}
		found, err := b.fake.GetObject(bucketName, o.Name)
		if err != nil {
			t.Fatal(err)
		}
		found.Created, found.Updated = o.Created.Add(-by), o.Updated.Add(-by)
		b.fake.CreateObject(found)
	}
}
