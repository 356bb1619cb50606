package pack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// interrupted is a store whose user presses Ctrl-C in the middle of a blob.
type interrupted struct {
	store.Store
	at      int64 // the number of the blob, from 1
	begun   atomic.Int64
	written atomic.Int64
	cancel  context.CancelFunc
}

func (s *interrupted) PutBlob(ctx context.Context, sum string, size int64, open func() (io.ReadCloser, error)) (bool, error) {
	written, err := s.Store.PutBlob(ctx, sum, size, func() (io.ReadCloser, error) {
		r, err := open()
		if err != nil || s.begun.Add(1) != s.at {
			return r, err
		}
		return &cutting{ReadCloser: r, left: size / 2, cut: s.cancel}, nil
	})
	if written {
		s.written.Add(1)
	}
	return written, err
}

// cutting calls cut after some bytes.
type cutting struct {
	io.ReadCloser
	left int64
	cut  func()
}

func (c *cutting) Read(b []byte) (int, error) {
	if c.left <= 0 {
		c.cut()
		return 0, context.Canceled
	}
	n, err := c.ReadCloser.Read(b[:min(int64(len(b)), c.left)])
	c.left -= int64(n)
	return n, err
}

// uploader is what a Plan and a Set have in common.
type uploader interface {
	Upload(ctx context.Context, s store.Store, progress func(more int64)) (pack.Stats, error)
}

// interrupt interrupts an upload in each of these blobs. What was written before is not sent
// again, and the object that is called last is only there at the end.
func interrupt(t *testing.T, u uploader, last string, blobs int, places ...int) {
	t.Helper()
	for _, at := range places {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := &interrupted{Store: openStore(t), at: int64(at), cancel: cancel}
			if _, err := u.Upload(ctx, s, nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want context.Canceled", err)
			}
			if _, err := s.Open(t.Context(), store.Blob(last)); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("what is written last: %v, want nothing", err)
			}
			stats, err := u.Upload(t.Context(), s.Store, nil)
			if err != nil {
				t.Fatal(err)
			}
			if before := int(s.written.Load()); stats.NewBlobs != blobs-before {
				t.Errorf("%d blobs were sent before and %d after, want %d in all", before, stats.NewBlobs, blobs)
			}
		})
	}
}

func TestInterruptedUpload(t *testing.T) {
	root := t.TempDir()
	randomFile(t, filepath.Join(root, "large.bin"), 1, 3*api.Contract.Limits.Part+1)
	randomFile(t, filepath.Join(root, "own.bin"), 2, 1<<20)
	write(t, root, map[string]string{"a.py": "a"})
	p := plan(t, pack.Options{Root: root})
	interrupt(t, p, p.SHA256, 7, 1, 2, 3, 4, 5, 6, 7) // four parts, a file, a pack and the index
}

// gate is a store in which the first blobs wait for each other.
type gate struct {
	store.Store
	first sync.WaitGroup

	mu              sync.Mutex
	come, now, most int
}

func (g *gate) PutBlob(ctx context.Context, sum string, size int64, open func() (io.ReadCloser, error)) (bool, error) {
	opened := false
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if opened {
			g.now--
		}
	}()
	return g.Store.PutBlob(ctx, sum, size, func() (io.ReadCloser, error) {
		r, err := open()
		g.mu.Lock()
		opened = true
		g.come, g.now = g.come+1, g.now+1
		g.most = max(g.most, g.now)
		wait := g.come <= 16
		g.mu.Unlock()
		if wait {
			g.first.Done()
			g.first.Wait()
		}
		return r, err
	})
}

// Sixteen blobs travel at once, and no more, since each takes memory.
func TestBlobsInFlight(t *testing.T) {
	root := t.TempDir()
	for i := range 24 {
		randomFile(t, filepath.Join(root, fmt.Sprint(i)), byte(i), 1<<20)
	}
	g := &gate{Store: openStore(t)}
	g.first.Add(16)
	p := plan(t, pack.Options{Root: root})
	if _, err := p.Upload(t.Context(), g, nil); err != nil {
		t.Fatal(err)
	}
	if g.most != 16 {
		t.Errorf("%d blobs at once, want 16", g.most)
	}
}
