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
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
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

// run opens the part and copies to it.
func (l large) run(t *testing.T) error {
	t.Helper()
	removeOlderParts([]Transfer{l.transfer}, l.folder)
	part, err := platform.OpenPart(t.Context(), l.folder, l.transfer.part())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = part.Close() }()
	return l.copy(t.Context(), part)
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
	if err := l.run(t); !errors.Is(err, errCut) || !strings.Contains(err.Error(), "rerun the command to continue the copy") {
		t.Fatalf("got %v", err)
	}
	if names := strings.Join(l.files(t), " "); !strings.HasPrefix(names, partPrefix) || strings.Contains(names, " w") {
		t.Fatalf("left %q", names)
	}
	before := c.opened.Load()
	c.after.Store(100)
	moved.Store(0)
	if err := l.run(t); err != nil {
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
	_ = l.run(t)
	c.after.Store(100)
	replaced := bytes.Repeat([]byte("n"), testSize)
	if err := c.Delete(t.Context(), "a1/outputs/deep/weights"); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), "a1/outputs/deep/weights", bytes.NewReader(replaced), nil); err != nil {
		t.Fatal(err)
	}
	if err := l.run(t); err == nil || !strings.Contains(err.Error(), "was replaced meanwhile: try again") {
		t.Errorf("the old one: %v", err)
	}
	_, _ = l.folder.Create(l.transfer.part() + doneSuffix) // as if that had been interrupted, too
	l.transfer = listed(t, l.dir)
	if err := l.run(t); err != nil {
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
	_ = l.run(t)
	c.after.Store(100)
	damaged := filepath.Join(l.folder.Name(), l.transfer.part())
	if err := os.WriteFile(damaged, make([]byte, testSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.run(t); err == nil || !strings.Contains(err.Error(), "another checksum") {
		t.Errorf("got %v", err)
	}
	if names := l.files(t); len(names) > 0 {
		t.Errorf("left %q", names)
	}
	if err := l.run(t); err != nil {
		t.Fatal(err)
	}
	l.checkCopied(t, content)
}

// copyOfTwo returns a copy of all files of a job, of which one is large and is read in pieces, with the content of
// that one.
func copyOfTwo(t *testing.T) (large, *cut, []Transfer, []byte) {
	t.Helper()
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
	return l, c, plan, content
}

// Copy copies large files like others.
func TestCopyOfLargeFiles(t *testing.T) {
	l, c, plan, content := copyOfTwo(t)
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

// What a killed copy of a small file has left is replaced, also if it is of an object that is gone.
func TestPartsThatAreLeft(t *testing.T) {
	l, _, content := largeCopy(t)
	older := l.transfer
	older.object.Generation--
	for _, name := range []string{l.transfer.part(), older.part(), older.part() + doneSuffix} {
		if err := l.folder.WriteFile(name, bytes.Repeat([]byte("?"), testSize+5), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done, err := l.dir.Copy(t.Context(), []Transfer{l.transfer}, l.folder, func(int64) {})
	if err != nil || done != (Copied{Files: 1, Bytes: testSize}) {
		t.Errorf("%+v, %v", done, err)
	}
	l.checkCopied(t, content)
}

// Copies to one directory at the same time are done once.
func TestCopiesAtTheSameTime(t *testing.T) {
	l, c, plan, content := copyOfTwo(t)
	var all sync.WaitGroup
	var copied atomic.Int64
	for range 4 {
		all.Go(func() {
			done, err := l.dir.Copy(t.Context(), plan, l.folder, func(int64) {})
			if err != nil || done.Files != 2 {
				t.Errorf("%+v, %v", done, err)
			}
			copied.Add(int64(done.Files - done.Same))
		})
	}
	all.Wait()
	if copied.Load() != 2 || c.opened.Load() != 3 {
		t.Errorf("copied %d files, the large one in %d pieces", copied.Load(), c.opened.Load())
	}
	if got, err := os.ReadFile(filepath.Join(l.folder.Name(), "large")); err != nil || !bytes.Equal(got, content) {
		t.Errorf("it has %d bytes, %v", len(got), err)
	}
	if names := l.files(t); len(names) != 2 {
		t.Errorf("left %q", names)
	}
}
