package image_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

// A cutter breaks uploads of large layers, and counts what the registry gets of them.
type cutter struct {
	at       float64 // the share of the body after which a connection is cut
	times    int     // how often
	registry http.Handler
	// answer, if it is not 0, is what a proxy says instead of cutting the connection.
	answer int

	mu       sync.Mutex
	size     int64 // of the layer
	received int64
	kept     string // the range that the registry has, as it said last
	parts    []part
}

// part is an upload of a layer, or of the rest of one.
type part struct {
	contentRange string // "" for the whole layer
	kept         string // what the registry had of it before
}

const largeLayer = 2 << 20

// disturb implements what server.with wants.
func (c *cutter) disturb(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/uploads/") {
		c.registry.ServeHTTP(w, r)
		c.mu.Lock()
		c.kept = w.Header().Get("Range")
		c.mu.Unlock()
		return true
	}
	if r.Method != http.MethodPatch || r.ContentLength < largeLayer && r.Header.Get("Content-Range") == "" {
		return false
	}
	c.mu.Lock()
	c.size = max(c.size, r.ContentLength)
	c.parts = append(c.parts, part{r.Header.Get("Content-Range"), c.kept})
	cut := c.times > 0
	c.times--
	c.mu.Unlock()
	body := &metered{from: r.Body, cutter: c, left: r.ContentLength + 1}
	if cut {
		body.left = int64(c.at * float64(r.ContentLength))
	}
	r.Body = body
	if !cut {
		c.registry.ServeHTTP(w, r)
		return true
	}
	c.registry.ServeHTTP(&discarded{header: http.Header{}}, r)
	if c.answer != 0 {
		w.WriteHeader(c.answer)
		return true
	}
	return hangUp(w)
}

// metered is a body that ends with an error after some bytes.
type metered struct {
	from   io.ReadCloser
	cutter *cutter
	left   int64
}

func (m *metered) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, errors.New("the connection is cut")
	}
	n, err := m.from.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	m.cutter.mu.Lock()
	m.cutter.received += int64(n)
	m.cutter.mu.Unlock()
	return n, err
}

func (m *metered) Close() error { return m.from.Close() }

// discarded is an answer that does not get to the client.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header       { return d.header }
func (*discarded) Write(p []byte) (int, error) { return len(p), nil }
func (*discarded) WriteHeader(int)             {}

// TestResume: of a layer whose connection breaks, only what the registry lacks is sent again, by a client that
// fetches and converts its wheel once. A registry that keeps no part of it gets it again from its beginning.
func TestResume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cut     *cutter
		resumes bool
	}{
		"cut at 90 %":               {&cutter{at: 0.9, times: 1}, true},
		"cut three times":           {&cutter{at: 0.5, times: 3}, true},
		"a proxy gives up":          {&cutter{at: 0.9, times: 1, answer: http.StatusBadGateway}, true},
		"at the end":                {&cutter{at: 1, times: 1}, true},
		"a registry without chunks": {&cutter{at: 0.9, times: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var inner http.Handler
			if tt.resumes {
				inner = distribution(t)
			} else {
				inner = withoutChunks(distribution(t))
			}
			s, x := newServer(t, inner), newIndex(t)
			e := small(t, s, x)
			e.Wheels = append(e.Wheels, x.module(t, "huge", "1.0", 3*largeLayer))
			cut := tt.cut
			cut.registry = inner
			var made image.Made
			s.with(cut.disturb, func() { made = mustMake(t, client(t), s, e, image.Options{}) })
			cut.mu.Lock()
			defer cut.mu.Unlock()
			if cut.received < cut.size {
				t.Errorf("%d bytes of a layer of %d were sent", cut.received, cut.size)
			}
			if len(cut.parts) == 0 || len(cut.parts) == 1 && cut.at < 1 {
				t.Fatalf("parts %q", cut.parts)
			}
			for _, again := range cut.parts[1:] {
				if want := restOf(t, again.kept, cut.size); (want != "") != tt.resumes || again.contentRange != want {
					t.Errorf("the range %q was sent to a registry that has %q, want %q", again.contentRange, again.kept, want)
				}
			}
			if n := strings.Count(strings.Join(x.fetched, " "), "huge"); n != 1 {
				t.Errorf("the wheel was fetched %d times", n)
			}
			if made.Layers != len(e.Wheels) {
				t.Errorf("%d layers were made, want %d", made.Layers, len(e.Wheels))
			}
			if err := validate.Image(s.image(t, tagOf(t, e))); err != nil {
				t.Error(err)
			}
		})
	}
}

// restOf returns the range of a layer's bytes that follow the ones that a registry has kept, "" if it was not asked.
func restOf(t *testing.T, kept string, size int64) string {
	t.Helper()
	var last int64
	if kept == "" {
		return ""
	}
	if _, err := fmt.Sscanf(kept, "0-%d", &last); err != nil {
		t.Fatalf("the registry has the range %q: %v", kept, err)
	}
	return fmt.Sprintf("%d-%d", last+1, size-1)
}

// withoutChunks makes a registry one that takes whole layers only, as Artifact Registry does.
func withoutChunks(registry http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if uploads := strings.Contains(r.URL.Path, "/blobs/uploads/"); uploads && (r.Method == http.MethodGet || r.Header.Get("Content-Range") != "") {
			w.WriteHeader(http.StatusMethodNotAllowed)
			fmt.Fprint(w, `{"errors":[{"code":"UNSUPPORTED"}]}`)
			return
		}
		registry.ServeHTTP(w, r)
	})
}

// TestResumeEnds: Ctrl-C ends it, and so does a registry that does not come back.
func TestResumeEnds(t *testing.T) {
	t.Parallel()
	s, x := inProcess(t), newIndex(t)
	e := small(t, s, x)
	e.Wheels = append(e.Wheels, x.module(t, "huge", "1.0", 3*largeLayer))
	stopped := errors.New("stopped")
	for name, interrupted := range map[string]bool{"Ctrl-C": true, "it does not come back": false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var gone sync.Once
		down := false
		s.with(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPatch && r.ContentLength > largeLayer {
				_, _ = io.CopyN(io.Discard, r.Body, largeLayer)
				gone.Do(func() {
					s.mu.Lock()
					down = true
					s.mu.Unlock()
				})
			}
			s.mu.Lock()
			cut := down
			s.mu.Unlock()
			if !cut {
				return false
			}
			if interrupted {
				cancel(stopped)
			}
			return hangUp(w)
		}, func() {
			_, err := client(t).Make(ctx, s.repo(), e, image.Options{})
			var refused *image.RegistryError
			if interrupted && !errors.Is(err, stopped) || !interrupted && (!errors.As(err, &refused) || refused.Status() != 0) {
				t.Errorf("%s: err = %v", name, err)
			}
		})
		cancel(nil)
	}
}

func hangUp(w http.ResponseWriter) bool {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = connection.Close()
	return true
}
