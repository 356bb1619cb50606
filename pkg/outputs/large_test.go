package outputs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	testPiece = 1000
	testSize  = 10*testPiece + 1
)

// cut is a store that fails after some ranges, and counts those that it has read.
type cut struct {
	store.Store
	after, opened atomic.Int64
}

var errCut = errors.New("connection reset")

func (c *cut) OpenRange(ctx context.Context, o store.Object, offset, length int64) (io.ReadCloser, error) {
	if c.after.Add(-1) < 0 {
		return nil, errCut
	}
	c.opened.Add(1)
	return c.Store.OpenRange(ctx, o, offset, length)
}

// largeCopy is a copy of an output of random bytes.
func largeCopy(t *testing.T) (large, *cut, []byte) {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, testSize)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	if err := s.Create(t.Context(), "a1/outputs/deep/weights", bytes.NewReader(content), nil); err != nil {
		t.Fatal(err)
	}
	c := &cut{Store: s}
	c.after.Store(100)
	dir, err := Of(&job.Job{Handle: api.Handle{JobID: "a1"}, Store: c})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return large{dir: dir, transfer: listed(t, dir), folder: folder, piece: testPiece, progress: func(int64) {}}, c, content
}

func listed(t *testing.T, dir *Dir) Transfer {
	t.Helper()
	files, err := dir.List(t.Context(), "")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return As(files[0], "w")
}

func (l large) files(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(l.folder.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (l large) checkCopied(t *testing.T, want []byte) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(l.folder.Name(), "w"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("it has %d bytes, the same: %v, %v", len(got), bytes.Equal(got, want), err)
	}
	if names := l.files(t); len(names) != 1 {
		t.Errorf("left %q", names)
	}
}

// An interrupted copy continues with the pieces that are missing.
func TestLargeFilesContinue(t *testing.T) {
	l, c, content := largeCopy(t)
	var moved atomic.Int64
	l.progress = func(n int64) { moved.Add(n) }
	c.after.Store(6)
	if err := l.copy(t.Context()); !errors.Is(err, errCut) || !strings.Contains(err.Error(), "the same command continues it") {
		t.Fatalf("got %v", err)
	}
	if names := strings.Join(l.files(t), " "); !strings.HasPrefix(names, partPrefix) || strings.Contains(names, " w") {
		t.Fatalf("left %q", names)
	}
	before := c.opened.Load()
	c.after.Store(100)
	moved.Store(0)
	if err := l.copy(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.checkCopied(t, content)
	if more := c.opened.Load() - before; before != 6 || more != 5 || moved.Load() != testSize {
		t.Errorf("read %d pieces, then %d; told of %d bytes", before, more, moved.Load())
	}
}

// A part is never taken for a part of another object.
func TestLargeFilesThatAreReplaced(t *testing.T) {
	l, c, _ := largeCopy(t)
	c.after.Store(6)
	_ = l.copy(t.Context())
	c.after.Store(100)
	replaced := bytes.Repeat([]byte("n"), testSize)
	if err := c.Delete(t.Context(), "a1/outputs/deep/weights"); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), "a1/outputs/deep/weights", bytes.NewReader(replaced), nil); err != nil {
		t.Fatal(err)
	}
	if err := l.copy(t.Context()); err == nil || !strings.Contains(err.Error(), "was replaced meanwhile: try again") {
		t.Errorf("the old one: %v", err)
	}
	_, _ = l.folder.Create(l.name() + doneSuffix) // as if that had been interrupted, too
	l.transfer = listed(t, l.dir)
	if err := l.copy(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.checkCopied(t, replaced)
}

// What is marked as copied and is damaged is noticed, and copied again.
func TestLargeFilesAreChecked(t *testing.T) {
	l, c, content := largeCopy(t)
	right := newChecksum()
	_, _ = right.Write(content)
	sum := right.crc.Sum32()
	l.transfer.object.CRC32C = &sum
	c.after.Store(6)
	_ = l.copy(t.Context())
	c.after.Store(100)
	damaged := filepath.Join(l.folder.Name(), l.name())
	if err := os.WriteFile(damaged, make([]byte, testSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.copy(t.Context()); err == nil || !strings.Contains(err.Error(), "another checksum") {
		t.Errorf("got %v", err)
	}
	if names := l.files(t); len(names) > 0 {
		t.Errorf("left %q", names)
	}
	if err := l.copy(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.checkCopied(t, content)
}

// Copy copies large files like others.
func TestCopyOfLargeFiles(t *testing.T) {
	l, c, _ := largeCopy(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), (largeFrom+pieceBytes)/16)
	if err := c.Create(t.Context(), "a1/outputs/large", bytes.NewReader(content), nil); err != nil {
		t.Fatal(err)
	}
	files, err := l.dir.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Below(files, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []int{0, 2} {
		done, err := l.dir.Copy(t.Context(), plan, l.folder, func(int64) {})
		if err != nil || done.Files != 2 || done.Same != same {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(l.folder.Name(), "large")); err != nil || !bytes.Equal(got, content) || c.opened.Load() != 3 {
		t.Errorf("it has %d bytes in %d pieces, %v", len(got), c.opened.Load(), err)
	}
}
