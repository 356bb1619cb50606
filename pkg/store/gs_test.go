package store_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// operations is one of each kind, with a check of what it did.
var operations = map[string]func(t *testing.T, s store.Store){
	"create": func(t *testing.T, s store.Store) {
		create(t, s, "job/end.json", "a new object, tail")
		if got := read(t, s, "job/end.json"); got != "a new object, tail" {
			t.Errorf("read %q", got)
		}
	},
	"small blob":  func(t *testing.T, s store.Store) { put(t, s, "a small blob, tail") },
	"part's blob": func(t *testing.T, s store.Store) { put(t, s, strings.Repeat("x", store.Chunk)+"tail") },
	"large blob":  func(t *testing.T, s store.Store) { put(t, s, strings.Repeat("x", store.Part)+"tail") },
	"read": func(t *testing.T, s store.Store) {
		if got := read(t, s, "job/handle.json"); got != "a handle" {
			t.Errorf("read %q", got)
		}
	},
	"list": func(t *testing.T, s store.Store) {
		if diff := cmp.Diff([]string{"job/handle.json"}, names(t, s, "job/h")); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
	},
	"dirs": func(t *testing.T, s store.Store) {
		if dirs, err := s.Dirs(t.Context(), ""); err != nil || len(dirs) != 1 {
			t.Errorf("Dirs() = %q, %v", dirs, err)
		}
	},
	"delete": func(t *testing.T, s store.Store) {
		if err := s.Delete(t.Context(), "job/handle.json"); err != nil {
			t.Error(err)
		}
	},
}

// put uploads a blob and reads it back.
func put(t *testing.T, s store.Store, text string) {
	t.Helper()
	if err := putBlob(t, text, text)(s); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, store.Blob(hash(text))); got != text {
		t.Errorf("the blob has %d bytes, want the %d uploaded", len(got), len(text))
	}
}

// What passes is retried; nothing is lost, doubled, or taken for someone
// else's.
func TestEveryOperationSurvives(t *testing.T) {
	type fault struct {
		to func(*http.Request) bool
		do func(http.ResponseWriter, *http.Request, http.Handler)
	}
	faults := map[string]map[string]fault{
		"any request": {
			"503":                    {anything, answer(503, "Service Unavailable")},
			"429":                    {anything, answer(429, "Too Many Requests")},
			"a 502 of a proxy":       {anything, badGateway},
			"a reset":                {anything, reset},
			"a reset while it asks":  {anything, resetMidBody},
			"an answer that is lost": {anything, lostAnswer},
			"an answer that is cut":  {anything, cutAnswer},
		},
		"downloads": {"a download that is cut": {downloads, cutAnswer}},
		"uploads": {
			"an upload that is cut":        {uploads, resetMidBody},
			"the answer to an upload lost": {uploads, lostAnswer},
		},
		"chunks": {
			"503":                               {uploads, answer(503, "Service Unavailable")},
			"a download that is cut":            {downloads, cutAnswer},
			"an upload that is cut":             {chunks, resetMidBody},
			"the answer to a chunk lost":        {chunks, lostAnswer},
			"the answer to the last chunk lost": {lastChunk, lostAnswer},
			"an upload session that is gone":    {chunks, answer(410, "Gone")},
		},
	}
	written := []string{"uploads", "downloads"} // and read again
	makes := map[string][]string{"create": written, "small blob": written, "part's blob": written, "large blob": {"chunks"}, "read": {"downloads"}}
	for name, operation := range operations {
		for _, kind := range append(makes[name], "any request") {
			for what, fault := range faults[kind] {
				t.Run(name+", "+what, func(t *testing.T) {
					b := newBucket(t)
					s := b.open(t)
					create(t, s, "job/handle.json", "a handle")
					b.fail(2, fault.to, fault.do)
					operation(t, s)
					if b.unmet() == 2 {
						t.Error("nothing failed")
					}
				})
			}
		}
	}
}

func badGateway(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, "<html>\n<h1>502 Bad Gateway</h1>\n</html>")
}

// A checksum goes with what is sent: a bit that falls over on the way makes an
// error, or another try, and never an object.
func TestDamagedUpload(t *testing.T) {
	b := newBucket(t)
	b.fail(1, uploads, damage)
	err := b.open(t).Create(t.Context(), "job/x", strings.NewReader("some tail"), nil)
	if err == nil || !strings.Contains(err.Error(), "the server answered 400: provided CRC32C") {
		t.Errorf("error %v, want the server's about the checksum", err)
	}
	if left := b.holds(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	b.fail(1, chunks, damage)
	put(t, b.open(t), strings.Repeat("x", store.Part)+"tail")
	// A whole part is sent again.
	b.fail(1, uploads, damage)
	put(t, b.open(t), strings.Repeat("x", store.Chunk)+"tail")
	if b.unmet() > 0 {
		t.Error("not all of it was damaged")
	}
}

// A large blob is refused before its upload is completed.
func TestPutBlobNeverCompletesOtherBytes(t *testing.T) {
	b := newBucket(t)
	chunked, completed := false, false
	b.fail(1, chunks, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		chunked = true
		next.ServeHTTP(w, r)
	})
	b.fail(1, lastChunk, func(http.ResponseWriter, *http.Request, http.Handler) { completed = true })
	promised := strings.Repeat("x", store.Part+1)
	if err := putBlob(t, promised, "y"+promised[1:])(b.open(t)); !errors.Is(err, store.ErrMismatch) {
		t.Errorf("error %v, want ErrMismatch", err)
	}
	if !chunked || completed {
		t.Errorf("sent in chunks: %v; completed: %v", chunked, completed)
	}
}

func TestMetadata(t *testing.T) {
	b := newBucket(t)
	s := b.open(t)
	want := map[string]string{"state": "FAILED", "finished": "2026-04-17T15:30:12Z"}
	if err := s.Create(t.Context(), "job/end.json", strings.NewReader("{}"), want); err != nil {
		t.Fatal(err)
	}
	objects, err := list(t.Context(), s, "job/", "")
	if err != nil || len(objects) != 1 {
		t.Fatalf("List: %v, %v", objects, err)
	}
	if diff := cmp.Diff(want, objects[0].Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

// What is copied never passes this machine, and an answer that is lost does no harm.
func TestCopyWithinBuckets(t *testing.T) {
	b := newBucket(t)
	s := b.open(t)
	create(t, s, "old/0.json", "1")
	b.fail(1, rewrites, lostAnswer)
	before := len(b.asked())
	want := map[string]string{"ok": "true"}
	if err := store.Copy(t.Context(), s, "new/0.json", openURL(t, "gs://"+bucketName+"/team/a"), "old/0.json", want); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.asked()[before:] {
		if !strings.Contains(r, "/rewriteTo/") && !strings.HasSuffix(r, "new/0.json") {
			t.Errorf("asked %s, want only a copy and whether it is ours", r)
		}
	}
	objects, err := list(t.Context(), s, "new/", "")
	if err != nil || len(objects) != 1 {
		t.Fatalf("List: %v, %v", objects, err)
	}
	if diff := cmp.Diff(want, objects[0].Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if got := read(t, s, "new/0.json"); got != "1" {
		t.Errorf("got %q", got)
	}
}

// An object that is stored compressed has the size and the checksum of those bytes, and
// so they are what is read.
func TestCompressedObjectsAreReadAsTheyAreStored(t *testing.T) {
	b := newBucket(t)
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	if _, err := w.Write([]byte("loss 0.1\nloss 0.1\nloss 0.1\n")); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	b.Fake.CreateObject(fakestorage.Object{Content: text.Bytes(), ObjectAttrs: fakestorage.ObjectAttrs{
		BucketName: bucketName, Name: "team/a/job/outputs/log.txt", ContentEncoding: "gzip", ContentType: "text/plain"}})
	s := b.open(t)
	objects, err := list(t.Context(), s, "job/outputs/", "")
	if err != nil || len(objects) != 1 {
		t.Fatalf("List: %v, %v", objects, err)
	}
	got := read(t, s, "job/outputs/log.txt")
	if sum := crc32.Checksum([]byte(got), crc32.MakeTable(crc32.Castagnoli)); int64(len(got)) != objects[0].Size || sum != *objects[0].CRC32C {
		t.Errorf("read %d bytes with checksum %x: %q, want %d with %x", len(got), sum, got, objects[0].Size, *objects[0].CRC32C)
	}
}

func TestWholeBucketAsStore(t *testing.T) {
	b := newBucket(t)
	s := openURL(t, "gs://"+bucketName)
	create(t, s, "job/end.json", "{}")
	put(t, s, "a blob")
	want := []string{store.Blob(hash("a blob")), "job/end.json"}
	if diff := cmp.Diff(want, b.holds(t)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, names(t, s, "")); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	if dirs, err := s.Dirs(t.Context(), ""); err != nil || !cmp.Equal(dirs, []string{"blobs", "job"}) {
		t.Errorf("Dirs() = %q, %v", dirs, err)
	}
}

func TestListOfManyPages(t *testing.T) {
	b := newBucket(t)
	page := func(token, next, name string) {
		b.fail(1, func(r *http.Request) bool { return r.URL.Query().Get("pageToken") == token }, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = fmt.Fprintf(w, `{"items":[{"name":"team/a/%s","size":"1"}],"nextPageToken":%q}`, name, next)
		})
	}
	page("", "second", "job/1")
	page("second", "third", "job/2")
	page("third", "", "job/3")
	if diff := cmp.Diff([]string{"job/1", "job/2", "job/3"}, names(t, b.open(t), "job/")); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

// Many blobs are asked about in one request, which is believed where it says that they
// are there, whole and young.
func TestHasBlobs(t *testing.T) {
	b := newBucket(t)
	s := b.open(t)
	var blobs []api.IndexBlob
	want := map[string]bool{}
	for i := range 150 {
		text := fmt.Sprint("blob ", i)
		blob := api.IndexBlob{SHA256: hash(text), Size: int64(len(text))}
		blobs = append(blobs, blob)
		object := fakestorage.Object{Content: []byte(text), ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucketName, Name: "team/a/" + store.Blob(blob.SHA256), Created: time.Now()}}
		switch i {
		case 3: // removed
			continue
		case 7:
			object.Content = object.Content[1:]
		case 120:
			object.Created = time.Now().Add(-11 * 24 * time.Hour)
		default:
			want[blob.SHA256] = true
		}
		b.Fake.CreateObject(object)
	}
	if diff := cmp.Diff(want, s.HasBlobs(t.Context(), blobs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"POST /batch/storage/v1", "POST /batch/storage/v1"}, b.asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for _, i := range []int{0, 3, 7, 120} {
		if got := s.HasBlob(t.Context(), blobs[i]); got != want[blobs[i].SHA256] {
			t.Errorf("HasBlob of blob %d is %v", i, got)
		}
	}
	for what, fault := range map[string]func(http.ResponseWriter, *http.Request, http.Handler){
		"refused": answer(403, "no"), "cut": cutAnswer, "lost": lostAnswer, "a page": badGateway,
	} {
		b.fail(1, anything, fault)
		if got := s.HasBlobs(t.Context(), blobs[:50]); len(got) >= 48 {
			t.Errorf("%s: it knows %d blobs", what, len(got))
		}
		b.fail(1, anything, fault)
		if s.HasBlob(t.Context(), blobs[0]) {
			t.Errorf("%s: it knows a blob", what)
		}
	}
	if got := s.HasBlobs(t.Context(), blobs[:3]); len(got) > 0 {
		t.Errorf("it asked about few blobs at once: %v", got)
	}
}

// Buckets delete blobs 30 days after their creation, by the server's clock.
func TestOldBlobsAreRenewed(t *testing.T) {
	const text = "weights"
	day := 24 * time.Hour
	gone := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer(404, "No such object")(w, r, next)
	}
	for name, tt := range map[string]struct {
		age     time.Duration // by the server's clock
		clock   time.Duration // that clock's lead on ours
		size    int
		rewrite func(http.ResponseWriter, *http.Request, http.Handler)
		want    []string
		written bool
	}{
		"young":                          {age: 4 * day, want: []string{"GET"}},
		"old":                            {age: 6 * day, want: []string{"GET", "rewrite"}},
		"young, our clock runs ahead":    {age: 4 * day, clock: -20 * day, want: []string{"GET"}},
		"old, our clock is behind":       {age: 6 * day, clock: 20 * day, want: []string{"GET", "rewrite"}},
		"old, somebody else renews it":   {age: 11 * day, rewrite: answer(412, "conditionNotMet"), want: []string{"GET", "rewrite", "GET"}},
		"old, somebody deletes it":       {age: 11 * day, rewrite: answer(412, "conditionNotMet"), want: []string{"GET", "rewrite", "GET", "upload"}, written: true},
		"old, and deleted at the moment": {age: 11 * day, rewrite: gone, want: []string{"GET", "rewrite", "upload"}, written: true},
		"of another size":                {age: 1 * day, size: 3, want: []string{"GET", "upload"}, written: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t)
			s := b.open(t)
			created := time.Now().Add(tt.clock - tt.age)
			content := text
			if tt.size > 0 {
				content = content[:tt.size]
			}
			blob := "team/a/" + store.Blob(hash(text))
			b.Fake.CreateObject(fakestorage.Object{Content: []byte(content),
				ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucketName, Name: blob, Created: created}})
			b.fail(1, func(r *http.Request) bool { return r.Method == http.MethodGet }, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				w.Header().Set("Date", time.Now().Add(tt.clock).UTC().Format(http.TimeFormat))
				next.ServeHTTP(w, r)
			})
			if tt.rewrite != nil {
				b.fail(1, rewrites, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if name == "old, somebody deletes it" {
						if err := b.Fake.Backend().DeleteObject(bucketName, blob); err != nil {
							t.Error(err)
						}
					}
					tt.rewrite(w, r, next)
				})
			}
			if name == "old, and deleted at the moment" {
				b.fail(1, uploads, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if err := b.Fake.Backend().DeleteObject(bucketName, blob); err != nil {
						t.Error(err)
					}
					next.ServeHTTP(w, r)
				})
			}
			var calls int
			written, err := s.PutBlob(t.Context(), hash(text), int64(len(text)), opener(text, &calls))
			if err != nil || written != tt.written {
				t.Errorf("PutBlob = %v, %v; want %v", written, err, tt.written)
			}
			requests := b.asked()
			if diff := cmp.Diff(tt.want, kinds(requests)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if got := read(t, s, store.Blob(hash(text))); got != text {
				t.Errorf("read %q", got)
			}
		})
	}
}

// kinds names requests in a word.
func kinds(requests []string) []string {
	var kinds []string
	for _, r := range requests {
		method, path, _ := strings.Cut(r, " ")
		switch {
		case strings.Contains(path, "/rewriteTo/"):
			method = "rewrite"
		case strings.HasPrefix(path, "/upload/"):
			method = "upload"
		}
		kinds = append(kinds, method)
	}
	return kinds
}
