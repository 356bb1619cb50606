package pack_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// Between plan and upload a file may change, even back in time and in size.
func TestChangesBeforeUpload(t *testing.T) {
	for name, change := range map[string]func(file string) error{
		"appended": func(file string) error {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more")
			return errors.Join(err, f.Close())
		},
		"rewritten in the same size": func(file string) error {
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			text := strings.Repeat("y", int(info.Size()))
			return errors.Join(os.WriteFile(file, []byte(text), 0o644), os.Chtimes(file, time.Time{}, info.ModTime()))
		},
		"cut short": func(file string) error { return os.Truncate(file, 1) },
		"deleted":   os.Remove,
	} {
		for file, size := range map[string]int{"src/small.py": 100, "data/large.bin": 2 << 20} {
			t.Run(name+" "+file, func(t *testing.T) {
				root, cache, s := t.TempDir(), t.TempDir(), openStore(t)
				write(t, root, map[string]string{"a.py": "a", file: strings.Repeat("x", size)})
				// From the cache, a plan holds hashes alone.
				plan(t, pack.Options{Root: root, CacheDir: cache})
				p := plan(t, pack.Options{Root: root, CacheDir: cache})
				if err := change(filepath.Join(root, file)); err != nil {
					t.Fatal(err)
				}
				_, err := p.Upload(t.Context(), s, nil)
				fileError(t, err, file, "it changed while it was being packaged: run again")
				if _, err := s.Open(t.Context(), store.Blob(p.SHA256)); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the index: %v, want none", err)
				}
				if name != "deleted" {
					again := plan(t, pack.Options{Root: root, CacheDir: cache})
					if again.SHA256 == p.SHA256 {
						t.Error("the next plan does not see the change")
					}
					upload(t, again, s)
				}
			})
		}
	}
}

// What a store has is neither opened nor read.
func TestUploadReadsOnlyWhatIsMissing(t *testing.T) {
	root, s := t.TempDir(), openStore(t)
	write(t, root, map[string]string{"a.py": "a"})
	randomFile(t, filepath.Join(root, "large.bin"), 1, 2<<20)
	p := plan(t, pack.Options{Root: root})
	upload(t, p, s)
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if stats := upload(t, p, s); stats.NewBlobs != 0 {
		t.Errorf("%+v, want nothing new", stats)
	}
}

func TestProgress(t *testing.T) {
	root, s := t.TempDir(), openStore(t)
	write(t, root, map[string]string{"a.py": "a"})
	randomFile(t, filepath.Join(root, "large.bin"), 1, 2<<20)
	p := plan(t, pack.Options{Root: root})
	for _, state := range []string{"new", "known"} {
		var done int64
		_, err := p.Upload(t.Context(), s, func(more int64) {
			if more <= 0 {
				t.Errorf("%s: %d bytes after %d, want more", state, more, done)
			}
			done += more
		})
		if err != nil || done != p.StoredBytes {
			t.Errorf("%s: ended at %d of %d bytes, error %v", state, done, p.StoredBytes, err)
		}
	}
}

func TestCancelledUpload(t *testing.T) {
	root, s := t.TempDir(), openStore(t)
	write(t, root, map[string]string{"a.py": "a"})
	p := plan(t, pack.Options{Root: root})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Upload(ctx, s, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Upload: error %v, want context.Canceled", err)
	}
	if _, err := pack.New(ctx, pack.Options{Root: root}); !errors.Is(err, context.Canceled) {
		t.Errorf("New: error %v, want context.Canceled", err)
	}
	for o, err := range s.List(t.Context(), "", "") {
		t.Errorf("in the store: %v, %v; want nothing", o, err)
	}
}

// sink is a store that keeps hashes only. It measures the memory that is in use meanwhile.
type sink struct {
	store.Store
	mu    sync.Mutex
	blobs map[string]int64
	most  uint64 // bytes on the heap
}

func (*sink) HasBlobs(context.Context, []api.IndexBlob) map[string]bool { return nil }

func (s *sink) PutBlob(_ context.Context, sum string, size int64, open func() (io.ReadCloser, error)) (bool, error) {
	r, err := open()
	if err != nil {
		return false, err
	}
	defer r.Close()
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err != nil || n != size || hex.EncodeToString(h.Sum(nil)) != sum {
		return false, errors.Join(err, store.ErrMismatch)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[sum], s.most = n, max(s.most, heap())
	return true, nil
}

// heap returns how much memory is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Memory does not grow with the size of what is packaged.
func TestMemory(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"sparse.bin": ""})
	if err := os.Truncate(filepath.Join(root, "sparse.bin"), 256<<20); err != nil {
		t.Fatal(err)
	}
	for i := range 120 { // 120 MB that do not compress, in files that are packed
		randomFile(t, filepath.Join(root, "small", string(rune('a'+i))), byte(i), 1<<20-1)
	}
	s := &sink{Store: openStore(t), blobs: map[string]int64{}}
	before := heap()
	upload(t, plan(t, pack.Options{Root: root}), s)
	if grown := s.most - min(before, s.most); grown > 80<<20 { // about 60 are usual
		t.Errorf("packaging took %d MB, want less than 80", grown>>20)
	}
	if len(s.blobs) < 30 {
		t.Errorf("%d blobs, want one large one, the packs and the index", len(s.blobs))
	}
}
