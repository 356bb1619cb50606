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

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

const bucketName = storetest.BucketName

// bucket is a bucket with faults made to order.
type bucket struct {
	*storetest.Bucket

	mu       sync.Mutex
	faults   []fault
	requests []string
}

// fault is what happens to one request instead of an answer.
type fault struct {
	to func(*http.Request) bool
	do storetest.Interceptor
}

// newBucket starts a server and makes it the emulator of this test.
func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{Bucket: storetest.NewBucket(t)}
	b.Intercept(b.meet)
	return b
}

func (b *bucket) meet(w http.ResponseWriter, r *http.Request, next http.Handler) {
	b.mu.Lock()
	b.requests = append(b.requests, r.Method+" "+r.URL.Path)
	do := storetest.Interceptor(func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })
	if i := slices.IndexFunc(b.faults, func(f fault) bool { return f.to(r) }); i >= 0 {
		do = b.faults[i].do
		b.faults = slices.Delete(b.faults, i, i+1)
	}
	b.mu.Unlock()
	do(w, r, next)
}

// fail makes the next n requests of a kind fail.
func (b *bucket) fail(n int, to func(*http.Request) bool, do storetest.Interceptor) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		b.faults = append(b.faults, fault{to, do})
	}
}

// unmet returns how many faults no request has met.
func (b *bucket) unmet() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.faults)
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
func answer(status int, message string) storetest.Interceptor {
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

// damage changes a byte of what is sent: of its tail, or the first one if it has no tail.
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
	store.Shrink(s)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// holds lists every object of the bucket.
func (b *bucket) holds(t *testing.T) (names []string) {
	t.Helper()
	for _, o := range b.Objects(t, "") {
		names = append(names, o.Name)
	}
	return names
}
