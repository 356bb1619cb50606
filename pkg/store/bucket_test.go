package store_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const bucketName = "acme-jobs"

// bucket is Cloud Storage's protocol on loopback, with faults made to order.
type bucket struct {
	fake *fakestorage.Server

	mu       sync.Mutex
	faults   []fault
	requests []string
}

// fault is what happens to one request instead of an answer.
type fault struct {
	to func(*http.Request) bool
	do func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

// newBucket starts a server and makes it the emulator of this test.
func newBucket(t *testing.T) *bucket {
	t.Helper()
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true})
	if err != nil {
		t.Fatal(err)
	}
	b := &bucket{fake: fake}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucketName})
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	return b
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.requests = append(b.requests, r.Method+" "+r.URL.Path)
	do := func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }
	if i := slices.IndexFunc(b.faults, func(f fault) bool { return f.to(r) }); i >= 0 {
		do = b.faults[i].do
		b.faults = slices.Delete(b.faults, i, i+1)
	}
	b.mu.Unlock()
	do(w, r, http.HandlerFunc(b.answer))
}

// answer is the server's, but for what it doesn't look at: the condition that what a
// copy makes isn't there yet.
func (b *bucket) answer(w http.ResponseWriter, r *http.Request) {
	if _, target, rewrite := strings.Cut(r.URL.Path, "/rewriteTo/b/"+bucketName+"/o/"); rewrite && r.URL.Query().Get("ifGenerationMatch") == "0" {
		if _, err := b.fake.GetObject(bucketName, target); err == nil {
			answer(http.StatusPreconditionFailed, "conditionNotMet")(w, r, nil)
			return
		}
	}
	b.fake.HTTPHandler().ServeHTTP(w, r)
}

// fail makes the next n requests of a kind fail.
func (b *bucket) fail(n int, to func(*http.Request) bool, do func(http.ResponseWriter, *http.Request, http.Handler)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		b.faults = append(b.faults, fault{to, do})
	}
}

// asked lists the requests so far.
func (b *bucket) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// The kinds of requests.
func anything(*http.Request) bool  { return true }
func uploads(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/upload/") }
func chunks(r *http.Request) bool  { return r.URL.Query().Has("upload_id") }
func lastChunk(r *http.Request) bool {
	return chunks(r) && !strings.HasSuffix(r.Header.Get("Content-Range"), "/*")
}
func rewrites(r *http.Request) bool  { return strings.Contains(r.URL.Path, "/rewriteTo/") }
func downloads(r *http.Request) bool { return r.URL.Query().Get("alt") == "media" }

// answer is a fault that is an answer in Cloud Storage's form.
func answer(status int, message string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"code":`+strconv.Itoa(status)+`,"message":"`+message+`"}}`)
	}
}

// reset breaks the connection before a request is read.
func reset(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// resetMidBody breaks it when half a request has been read.
func resetMidBody(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.CopyN(io.Discard, r.Body, max(r.ContentLength/2, 100))
	panic(http.ErrAbortHandler)
}

// lostAnswer does what was asked and says nothing.
func lostAnswer(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// cutAnswer sends half of the answer.
func cutAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	whole := httptest.NewRecorder()
	next.ServeHTTP(whole, r)
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	panic(http.ErrAbortHandler)
}

// damage changes the last byte but one of what is sent.
func damage(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, _ := io.ReadAll(r.Body)
	i := max(strings.LastIndex(string(body), "tail"), 0)
	body[i] ^= 1
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	next.ServeHTTP(w, r)
}

// open opens a store below a prefix of the bucket.
func (b *bucket) open(t *testing.T) store.Store {
	t.Helper()
	return openURL(t, "gs://"+bucketName+"/team/a")
}

func openURL(t *testing.T, url string) store.Store {
	t.Helper()
	s, err := store.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// holds lists every object of the bucket.
func (b *bucket) holds(t *testing.T) []string {
	t.Helper()
	listed, err := b.fake.ListObjectsWithOptionsPaginated(bucketName, fakestorage.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range listed.Objects {
		names = append(names, o.Name)
	}
	return names
}
