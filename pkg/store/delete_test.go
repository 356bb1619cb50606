package store_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// one returns what a store lists under the name of an object.
func one(t *testing.T, s store.Store, name string) store.Object {
	t.Helper()
	found, err := list(t.Context(), s, name, "")
	if err != nil || len(found) != 1 {
		t.Fatalf("listing %s: %d objects, %v", name, len(found), err)
	}
	return found[0]
}

func deleteListed(t *testing.T, s store.Store, o store.Object) bool {
	t.Helper()
	deleted, err := s.DeleteListed(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return deleted
}

func TestDeleteListed(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		create(t, s, "a1/outputs/x", "1")
		listed := one(t, s, "a1/outputs/x")
		if err := s.Delete(t.Context(), listed.Name); err != nil {
			t.Fatal(err)
		}
		if deleteListed(t, s, listed) {
			t.Error("deleted an object that was gone")
		}
		create(t, s, "a1/outputs/x", "2")
		if deleteListed(t, s, listed) || read(t, s, "a1/outputs/x") != "2" {
			t.Error("deleted the object that replaced it")
		}
		if !deleteListed(t, s, one(t, s, "a1/outputs/x")) {
			t.Error("left an object that nobody has changed")
		}
		if left := p.holds(); len(left) > 0 {
			t.Errorf("left %q", left)
		}
	})
}

// A blob that a submit has renewed is not the one that was listed before. In a directory every submit
// renews it, since that costs nothing.
func TestRenewedBlobsAreNotDeleted(t *testing.T) {
	const text = "weights"
	name := store.Blob(hash(text))
	stores := map[string]func(t *testing.T, age time.Duration) store.Store{
		"file": func(t *testing.T, age time.Duration) store.Store {
			dir := t.TempDir()
			s := openURL(t, "file://"+dir)
			if err := putBlob(t, text, text)(s); err != nil {
				t.Fatal(err)
			}
			then := time.Now().Add(-age)
			if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), then, then); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"gs": func(t *testing.T, age time.Duration) store.Store {
			b := newBucket(t)
			b.Fake.CreateObject(fakestorage.Object{Content: []byte(text), ObjectAttrs: fakestorage.ObjectAttrs{
				BucketName: bucketName, Name: "team/a/" + name, Created: time.Now().Add(-age), Updated: time.Now().Add(-age)}})
			return b.open(t)
		},
	}
	for kind, open := range stores {
		t.Run(kind, func(t *testing.T) {
			for what, tt := range map[string]struct {
				age   time.Duration
				found bool // and not renewed
			}{"old": {6 * 24 * time.Hour, false}, "young": {4 * 24 * time.Hour, kind == "gs"}} {
				s := open(t, tt.age)
				listed := one(t, s, name)
				if err := putBlob(t, text, "it was sent again")(s); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if deleted := deleteListed(t, s, listed); deleted != tt.found {
					t.Errorf("%s: deleted %v, want %v", what, deleted, tt.found)
				}
				if tt.found {
					continue
				}
				if now := one(t, s, name); s.Now().Sub(now.Updated) > time.Hour/2 {
					t.Errorf("%s: it is from %v", what, now.Updated)
				}
			}
		})
	}
}

// The age of objects is told by the server's clock.
func TestNowIsTheServers(t *testing.T) {
	b := newBucket(t)
	s := b.open(t)
	const ahead = 20 * 24 * time.Hour
	b.fail(1, anything, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		next.ServeHTTP(w, r)
	})
	_ = names(t, s, "")
	if got := time.Until(s.Now()); got < ahead-time.Hour || got > ahead+time.Hour {
		t.Errorf("it is %v ahead, want %v", got, ahead)
	}
}

func TestOpenRange(t *testing.T) {
	onEveryStore(t, func(t *testing.T, p place) {
		s := p.open()
		create(t, s, "a1/outputs/x", "0123456789")
		listed := one(t, s, "a1/outputs/x")
		for _, tt := range []struct {
			from, length int64
			want         string
		}{{0, 10, "0123456789"}, {3, 4, "3456"}, {9, 1, "9"}} {
			r, err := s.OpenRange(t.Context(), listed, tt.from, tt.length)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err != nil || string(got) != tt.want {
				t.Errorf("%d from %d: %q, %v", tt.length, tt.from, got, err)
			}
		}
		if err := s.Delete(t.Context(), listed.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := s.OpenRange(t.Context(), listed, 0, 1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("it is gone: %v", err)
		}
		create(t, s, "a1/outputs/x", "0123456789")
		if _, err := s.OpenRange(t.Context(), listed, 0, 1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("it is another one: %v", err)
		}
	})
}
