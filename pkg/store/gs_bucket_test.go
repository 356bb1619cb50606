package store_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func (b *bucket) openBucket(t *testing.T) *store.Bucket {
	t.Helper()
	opened, err := store.OpenBucket(bucketName, "create it with: make it so")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// at returns the object as the server has it.
func (b *bucket) at(t *testing.T, name string) fakestorage.Object {
	t.Helper()
	o, err := b.Fake.GetObject(bucketName, name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPin(t *testing.T) {
	const name, text = "builds/a.tar.gz", "the content"
	held := func(content string, age time.Duration) func(*testing.T, *bucket) {
		return func(_ *testing.T, b *bucket) {
			b.Fake.CreateObject(fakestorage.Object{Content: []byte(content),
				ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucketName, Name: name, Created: time.Now().Add(-age), Updated: time.Now().Add(-age)}})
		}
	}
	for what, tt := range map[string]struct {
		before func(*testing.T, *bucket)
		writes int
	}{
		"new":              {func(*testing.T, *bucket) {}, 1},
		"there":            {held(text, time.Hour), 0},
		"soon deleted":     {held(text, 11*24*time.Hour), 1},
		"something else":   {held("the c0ntent", time.Hour), 1},
		"cut":              {held(text[:5], time.Hour), 1},
		"with more behind": {held(text+"!", time.Hour), 1},
		"empty":            {held("", time.Hour), 1},
		"someone faster": {func(t *testing.T, b *bucket) {
			b.fail(1, uploads, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				held(text, 0)(t, b)
				next.ServeHTTP(w, r)
			})
		}, 1},
		"a lost answer": {func(_ *testing.T, b *bucket) { b.fail(1, uploads, lostAnswer) }, 2},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBucket(t)
			tt.before(t, b)
			generation, err := b.openBucket(t).Pin(t.Context(), name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			o := b.at(t, name)
			if string(o.Content) != text || o.Generation != generation {
				t.Errorf("generation %d of %q, the bucket has %d of %q", generation, text, o.Generation, o.Content)
			}
			writes := slices.DeleteFunc(b.asked(), func(request string) bool { return !strings.Contains(request, "/upload/") })
			if len(writes) != tt.writes {
				t.Errorf("%d writes, want %d: %q", len(writes), tt.writes, writes)
			}
		})
	}
}

// Someone who writes the same name all the time is not fought for ever.
func TestPinContended(t *testing.T) {
	b := newBucket(t)
	b.fail(100, uploads, answer(http.StatusPreconditionFailed, "conditionNotMet"))
	_, err := b.openBucket(t).Pin(t.Context(), "builds/a", []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "writing gs://acme-jobs/builds/a: ") {
		t.Errorf("error %v", err)
	}
}

func TestOpenAt(t *testing.T) {
	b := newBucket(t)
	b.Fake.CreateObject(fakestorage.Object{Content: []byte("0123456789"), ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucketName, Name: "log-1.txt"}})
	opened := b.openBucket(t)
	for _, tt := range []struct {
		name   string
		offset int64
		want   string
	}{
		{"log-1.txt", 0, "0123456789"},
		{"log-1.txt", 7, "789"},
		{"log-1.txt", 10, ""},
		{"log-1.txt", 11, ""},
		{"log-2.txt", 0, ""},
	} {
		r, err := opened.OpenAt(t.Context(), tt.name, tt.offset)
		if tt.want == "" {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s from %d: error %v, want ErrNotFound", tt.name, tt.offset, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || string(got) != tt.want {
			t.Errorf("%s from %d: %q, error %v, want %q", tt.name, tt.offset, got, err, tt.want)
		}
	}
}

func TestBucketErrors(t *testing.T) {
	for _, name := range []string{"", "gs://acme", "acme/jobs"} {
		if _, err := store.OpenBucket(name, ""); err == nil {
			t.Errorf("no error for the name %q", name)
		}
	}
	b := newBucket(t)
	opened := b.openBucket(t)
	if _, err := opened.Pin(t.Context(), "../x", nil); err == nil {
		t.Error("Pin takes any name")
	}
	if _, err := opened.OpenAt(t.Context(), "", 0); err == nil {
		t.Error("OpenAt takes any name")
	}
	absent := answer(http.StatusNotFound, "The specified bucket does not exist.")
	want := "there is no bucket acme-jobs; create it with: make it so"
	b.fail(1, downloads, absent)
	if _, err := opened.OpenAt(t.Context(), "log-1.txt", 0); !errors.Is(err, store.ErrUnusable) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	b.fail(1, anything, absent)
	if _, err := opened.Pin(t.Context(), "builds/a", nil); !errors.Is(err, store.ErrUnusable) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	// Who may create objects and not read them hears of the permission that is missing.
	b.fail(1, downloads, answer(http.StatusForbidden, "me@example.com does not have storage.objects.get access to the object."))
	if _, err := opened.Pin(t.Context(), "builds/a", nil); err == nil || !strings.Contains(err.Error(), "needs the permission storage.objects.get") {
		t.Errorf("error %v", err)
	}
}
