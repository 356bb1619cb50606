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

	"github.com/kubectl-kinetic/kinetic/pkg/image"
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
	patches  []string // the ranges of the parts, "" for all
}

const largeLayer = 2 << 20

// disturb implements what server.with wants.
func (c *cutter) disturb(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPatch || r.ContentLength < largeLayer && r.Header.Get("Content-Range") == "" {
		return false
	}
	c.mu.Lock()
	c.size = max(c.size, r.ContentLength)
	c.patches = append(c.patches, r.Header.Get("Content-Range"))
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

// TestResume: of a layer whose connection breaks at 90 %, only the rest is sent again, by a client that
// fetches and converts its wheel once. A registry that keeps no part of it gets it again from its beginning.
func TestResume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cut     *cutter
		resumes bool
		most    float64 // the most that may be sent, as a multiple of the layer
	}{
		"cut at 90 %":               {&cutter{at: 0.9, times: 1}, true, 1.05},
		"cut three times":           {&cutter{at: 0.5, times: 3}, true, 1.05},
		"a proxy gives up":          {&cutter{at: 0.9, times: 1, answer: http.StatusBadGateway}, true, 1.05},
		"at the end":                {&cutter{at: 1, times: 1}, true, 1.05},
		"a registry without chunks": {&cutter{at: 0.9, times: 1}, false, 1.95},
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
			if sent := float64(cut.received) / float64(cut.size); sent > tt.most || sent < 1 {
				t.Errorf("%.2f times the layer of %d bytes was sent, want at most %.2f: parts %q", sent, cut.size, tt.most, cut.patches)
			}
			if parts := len(cut.patches); parts < 2 && cut.at < 1 || (cut.patches[parts-1] != "") != tt.resumes && cut.at < 1 {
				t.Errorf("parts %q", cut.patches)
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
