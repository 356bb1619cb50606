package image_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

// answer answers requests of a method whose path contains a word.
func answer(code int, method, word string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || !strings.Contains(r.URL.Path, word) || !strings.Contains(r.URL.Path, "/acme/env/") {
			return false
		}
		w.WriteHeader(code)
		if method != http.MethodHead {
			fmt.Fprint(w, `{"errors":[{"code":"UNKNOWN","message":"the registry's own words"}]}`)
		}
		return true
	}
}

func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	steps := map[string]struct{ method, word, doing string }{
		"look":    {"HEAD", "/manifests/e-", "look for e-"},
		"recall":  {"GET", "/manifests/w-", "read the note w-"},
		"check":   {"HEAD", "/blobs/", "sending the layer of "},
		"begin":   {"POST", "/blobs/uploads/", "sending the layer of "},
		"send":    {"PATCH", "/blobs/uploads/", "sending the layer of "},
		"commit":  {"PUT", "/blobs/uploads/", "sending the layer of "},
		"note":    {"PUT", "/manifests/w-", "note the layer of "},
		"publish": {"PUT", "/manifests/e-", "putting the image e-"},
	}
	advice := map[int]string{
		401: "; sign in with `docker login 127.0.0.1:", 403: "; ask its owner for access", 404: "; create the repository first",
		405: "", 429: "; try again later: what was sent stays there", 500: "; try again later: what was sent stays there",
	}
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	for step, tt := range steps {
		for code, help := range advice {
			// These mean that something is not there yet.
			if code == 404 && (tt.method == "HEAD" || tt.method == "GET") {
				continue
			}
			t.Run(fmt.Sprint(step, code), func(t *testing.T) {
				e.Layout.Prefix = fmt.Sprintf("opt/%s%d", step, code)
				s.with(answer(code, tt.method, tt.word), func() {
					made, err := client(t).Make(context.Background(), s.repo(), e, image.Options{})
					refused := new(image.RegistryError)
					if !errors.As(err, &refused) || made.Image != "" {
						t.Fatalf("made %+v, err = %v", made, err)
					}
					if !strings.Contains(err.Error(), tt.doing) || !strings.Contains(err.Error(), s.repo()) || !strings.Contains(err.Error(), help) {
						t.Errorf("err = %v\nwant %q and %q in it", err, tt.doing, help)
					}
					if tt.method != "HEAD" && !strings.Contains(err.Error(), "the registry's own words") {
						t.Errorf("err = %v", err)
					}
					if denied := code < 429; refused.Status() != code || refused.Denied() != denied {
						t.Errorf("status %d, denied %v", refused.Status(), refused.Denied())
					}
				})
				if tags := s.tags(t, tagOf(t, e)); len(tags) != 0 {
					t.Errorf("it has put %v", tags)
				}
				mustMake(t, client(t), s, e, image.Options{})
			})
		}
	}
}

func TestRegistryCannotBeReached(t *testing.T) {
	t.Parallel()
	e := exampleEnv()
	_, err := client(t).Make(context.Background(), "localhost:1/acme/env", e, image.Options{})
	if refused := new(image.RegistryError); !errors.As(err, &refused) || refused.Denied() || !strings.Contains(err.Error(), "check the name and the network") {
		t.Errorf("err = %v", err)
	}
	if _, err := client(t).Make(context.Background(), "NOT A NAME", e, image.Options{}); err == nil || !strings.Contains(err.Error(), "the repository for images: ") {
		t.Errorf("err = %v", err)
	}
}

// A registry that does not answer is left at Ctrl-C.
func TestRegistryHangs(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	stopped := errors.New("stopped")
	for _, tt := range []struct{ method, word string }{
		{"GET", "/v2/"}, {"HEAD", "/manifests/e-"}, {"GET", "/manifests/w-"}, {"POST", "/blobs/"}, {"PATCH", "/blobs/"}, {"PUT", "/manifests/w-"}, {"PUT", "/manifests/e-"},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		s.with(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != tt.method || !strings.Contains(r.URL.Path, tt.word) {
				return false
			}
			cancel(stopped)
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return true
		}, func() {
			if made, err := client(t).Make(ctx, s.repo(), e, image.Options{}); !errors.Is(err, stopped) {
				t.Errorf("%v: made %+v, err = %v, want %v", tt, made, err, stopped)
			}
		})
		cancel(nil)
	}
	mustMake(t, client(t), s, e, image.Options{})
}

// cut closes the connection of a request after some of its body.
func cut(w http.ResponseWriter, r *http.Request) bool {
	_, _ = io.CopyN(io.Discard, r.Body, 10_000)
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = c.Close()
	return true
}

func TestRegistryIsKilledWithinAPatch(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		x := newIndex(t)
		e := small(t, s, x)
		isPatch := func(r *http.Request) bool {
			return r.Method == http.MethodPatch && r.ContentLength > 10_000 && strings.Contains(r.URL.Path, "/acme/env/")
		}
		s.with(func(w http.ResponseWriter, r *http.Request) bool {
			return isPatch(r) && cut(w, r)
		}, func() {
			if _, err := client(t).Make(context.Background(), s.repo(), e, image.Options{}); err == nil || !strings.Contains(err.Error(), "sending the layer of ") {
				t.Errorf("err = %v", err)
			}
		})
		if tags := append(s.tags(t, "e-"), s.tags(t, "w-")...); len(tags) != 0 {
			t.Errorf("it has put %v", tags)
		}
		// A layer is sent again from its beginning, and its wheel is neither fetched nor converted again.
		var cuts atomic.Int64
		x.fetched = nil
		s.with(func(w http.ResponseWriter, r *http.Request) bool {
			return isPatch(r) && cuts.Add(1) <= 2 && cut(w, r)
		}, func() { mustMake(t, client(t), s, e, image.Options{}) })
		if cuts.Load() < 3 {
			t.Errorf("%d connections were cut", cuts.Load())
		}
		if len(x.fetched) != len(e.Wheels) {
			t.Errorf("fetched %q", x.fetched)
		}
		if err := validate.Image(s.image(t, tagOf(t, e))); err != nil {
			t.Error(err)
		}
	})
}

// If another client was faster, its image is the one that counts.
func TestTagRace(t *testing.T) {
	t.Parallel()
	onEachRegistry(t, func(t *testing.T, s *server) {
		e := small(t, s, newIndex(t))
		other := python(t, "of the other client")
		var once sync.Once
		s.with(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/w-") {
				once.Do(func() { s.put(t, "acme/env:"+tagOf(t, e), other) })
			}
			return false
		}, func() {
			want, err := other.Digest()
			if made := mustMake(t, client(t), s, e, image.Options{}); made.Digest != want.String() || err != nil {
				t.Errorf("made %+v, want %s, %v", made, want, err)
			}
		})
	})
}

// TestAliasRace: a name that another client gave stays, unless it is to be moved.
func TestAliasRace(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	e := small(t, s, newIndex(t))
	theirs := python(t, "of the other client")
	want, err := theirs.Digest()
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, "acme/env:r-1", theirs)
	made := mustMake(t, client(t), s, e, image.Options{Alias: "r-1"})
	if made.Digest != want.String() {
		t.Errorf("made %+v, want %s", made, want)
	}
	moved := mustMake(t, client(t), s, e, image.Options{Alias: "r-1", Move: true})
	if digest, err := s.image(t, "r-1").Digest(); err != nil || digest.String() != moved.Digest || moved.Digest == want.String() {
		t.Errorf("moved %+v, and the name stands for %s; %v", moved, digest, err)
	}
}

// Ctrl-C at any request leaves no image, and no note without its layer.
func TestInterruption(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	stopped := errors.New("stopped")
	for at := int64(1); ; at++ {
		e.Layout.Prefix = fmt.Sprintf("opt/kinetic%d", at) // all is new
		ctx, cancel := context.WithCancelCause(context.Background())
		var seen atomic.Int64
		count := func(http.ResponseWriter, *http.Request) bool {
			if seen.Add(1) == at {
				cancel(stopped)
			}
			return false
		}
		x.mu.Lock()
		x.disturb = count
		x.mu.Unlock()
		c := client(t)
		var err error
		s.with(count, func() { _, err = c.Make(ctx, s.repo(), e, image.Options{}) })
		cancel(nil)
		if left, _ := os.ReadDir(c.TempDir); len(left) != 0 {
			t.Errorf("request %d: in the temporary directory: %v", at, left)
		}
		if seen.Load() < at {
			break // it was not interrupted any more
		}
		if refused := new(image.RegistryError); err != nil && (!errors.Is(err, stopped) || errors.As(err, &refused)) {
			t.Errorf("request %d: err = %v, want %v", at, err, stopped)
		}
		// The last request may have been done in spite of the interruption.
		complete := len(s.tags(t, tagOf(t, e))) == 1
		if err == nil && !complete || err != nil && complete && !strings.HasPrefix(s.requests[len(s.requests)-2], "PUT") {
			t.Errorf("request %d: err = %v, the image is there: %v", at, err, complete)
		}
	}
	for _, tag := range s.tags(t, "") {
		if err := validate.Image(s.image(t, tag)); err != nil {
			t.Errorf("%s: %v", tag, err)
		}
	}
	e.Layout.Prefix = layout.Prefix
	mustMake(t, client(t), s, e, image.Options{})
}
