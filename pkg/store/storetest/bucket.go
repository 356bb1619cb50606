// Package storetest is a bucket of Cloud Storage on loopback, for tests.
package storetest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// BucketName is the name of the bucket, and URL the store that the tests have in it, below Prefix.
const (
	BucketName = "acme-jobs"
	Prefix     = "team/"
	URL        = "gs://" + BucketName + "/team"
)

// Bucket is a server with one bucket, which is the emulator of the test that made it.
type Bucket struct {
	Fake *fakestorage.Server

	mu        sync.RWMutex // held for reading while a request is answered
	intercept Interceptor
}

// Interceptor answers a request instead of the server, which is next. It may be called several times at once.
type Interceptor func(w http.ResponseWriter, r *http.Request, next http.Handler)

// NewBucket starts a server that ends with the test.
func NewBucket(t testing.TB) *Bucket {
	t.Helper()
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true})
	if err != nil {
		t.Fatal(err)
	}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: BucketName})
	b := &Bucket{Fake: fake}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	return b
}

// Intercept has f answer all requests from now on; nil ends that. It returns when the requests before have been
// answered.
func (b *Bucket) Intercept(f Interceptor) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.intercept = f
}

// Before calls f before each request, one at a time. A panic with http.ErrAbortHandler cuts the connection.
func (b *Bucket) Before(f func(r *http.Request)) {
	var one sync.Mutex
	b.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		func() {
			one.Lock()
			defer one.Unlock()
			f(r)
		}()
		next.ServeHTTP(w, r)
	})
}

// ServeHTTP answers a request.
func (b *Bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.intercept != nil {
		b.intercept(w, r, http.HandlerFunc(b.answer))
		return
	}
	b.answer(w, r)
}

// answer is the server's, but for a condition that it doesn't look at: that what a copy makes isn't there yet.
func (b *Bucket) answer(w http.ResponseWriter, r *http.Request) {
	_, target, copies := strings.Cut(r.URL.Path, "/rewriteTo/b/"+BucketName+"/o/")
	if copies && r.URL.Query().Get("ifGenerationMatch") == "0" {
		if _, err := b.Fake.GetObject(BucketName, target); err == nil {
			http.Error(w, `{"error":{"code":412,"errors":[{"reason":"conditionNotMet"}]}}`, http.StatusPreconditionFailed)
			return
		}
	}
	b.Fake.HTTPHandler().ServeHTTP(w, r)
}

// Open opens the store in the bucket.
func (b *Bucket) Open(t testing.TB) store.Store {
	t.Helper()
	s, err := store.Open(URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Put writes an object of the store. The metadata may be nil.
func (b *Bucket) Put(name, content string, metadata map[string]string) {
	b.Fake.CreateObject(fakestorage.Object{
		ObjectAttrs: fakestorage.ObjectAttrs{BucketName: BucketName, Name: Prefix + name, Metadata: metadata}, Content: []byte(content),
	})
}

// Objects lists what has a prefix in the bucket, by name.
func (b *Bucket) Objects(t testing.TB, prefix string) []fakestorage.ObjectAttrs {
	t.Helper()
	listed, err := b.Fake.ListObjectsWithOptionsPaginated(BucketName, fakestorage.ListOptions{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	return listed.Objects
}
