package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/prune"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// pruned is a store that somebody prunes before every step of a submit. Time passes between the
// steps: what it has becomes older.
type pruned struct {
	store.Store
	t   *testing.T
	dir string
	// step is how long a step takes, upload how long it takes to send a blob.
	step, upload time.Duration

	mu      sync.Mutex
	now     time.Time
	deleted int
}

func (s *pruned) before(takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(takes)
	age(s.t, s.dir, takes)
	plan, err := prune.Find(context.Background(), s.Store, s.PruneAge(), func(prune.Progress) {})
	if err != nil {
		s.t.Error(err)
		return
	}
	done, err := plan.Delete(context.Background(), true, func(prune.Done) {})
	if err != nil {
		s.t.Error(err)
	}
	s.deleted += done.Objects
}

func (s *pruned) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *pruned) Create(ctx context.Context, name string, r io.Reader, metadata map[string]string) error {
	s.before(s.step)
	defer s.before(s.step)
	return s.Store.Create(ctx, name, r, metadata)
}

func (s *pruned) PutBlob(ctx context.Context, sha256 string, size int64, open func() (io.ReadCloser, error)) (bool, error) {
	s.before(s.step)
	written, err := s.Store.PutBlob(ctx, sha256, size, open)
	if written { // the index comes after all of these, so that no index names them yet
		s.before(s.upload)
	}
	return written, err
}

// age makes all blobs older.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		then := info.ModTime().Add(-by)
		return os.Chtimes(path, then, then)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// project is a plan with files that become blobs of their own.
func project(t *testing.T) Planned {
	t.Helper()
	root := t.TempDir()
	for i := range 6 {
		random := make([]byte, 9<<20)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(random)
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("weights-%d", i)), random, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := planned(t, "{}")
	files, err := pack.New(t.Context(), pack.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	p.Files, p.Spec.BundleSHA256 = files, files.SHA256
	if len(files.Index.Blobs) < 6 {
		t.Fatalf("it has %d blobs", len(files.Index.Blobs))
	}
	return p
}

// A job has everything it needs when it starts, however old that was, and however long the submit
// took.
func TestPruneBetweenTheStepsOfASubmit(t *testing.T) {
	for name, tt := range map[string]struct {
		age          time.Duration // of what is there already
		gone         bool          // nothing of half of it is there
		step, upload time.Duration
		deletes      bool
	}{
		"nothing is there":         {step: time.Second, gone: true},
		"all is young":             {age: 10 * time.Minute, step: time.Second},
		"all is nearly old":        {age: 59 * time.Minute, step: 20 * time.Second, deletes: true},
		"all is old":               {age: 3 * time.Hour, step: time.Second, deletes: true},
		"old, and still uploads":   {age: 20 * time.Minute, gone: true, step: time.Second, upload: 25 * time.Minute, deletes: true}, // whichever comes first
		"young, and still uploads": {gone: true, step: time.Second, upload: 3 * time.Hour, deletes: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, at := project(t), registry(t, workload{start: well, ready: well})
			dir := strings.TrimPrefix(at.Store.URL(), store.FileScheme)
			if tt.age > 0 {
				if _, err := p.Files.Upload(t.Context(), at.Store, nil); err != nil {
					t.Fatal(err)
				}
				age(t, dir, tt.age)
			}
			for _, b := range p.Files.Index.Blobs[:3] {
				if err := at.Store.Delete(t.Context(), store.Blob(b.SHA256)); err != nil && tt.gone {
					t.Fatal(err)
				}
			}
			between := &pruned{Store: at.Store, t: t, dir: dir, step: tt.step, upload: tt.upload, now: time.Now()}
			at.Store = between
			steps := Hooks{Start: func(context.Context, api.Spec, map[string]string) error { return whole(between.Store, p) }}
			s := submission{Planned: p, registry: at, steps: steps, now: between.clock}
			if _, err := s.carryOut(t.Context()); err != nil {
				t.Error(err)
			}
			between.before(24 * time.Hour)
			if err := whole(between.Store, p); err != nil {
				t.Errorf("a day later: %v", err)
			}
			if tt.deletes != (between.deleted > 0) {
				t.Errorf("%d objects were deleted meanwhile, want some: %v", between.deleted, tt.deletes)
			}
		})
	}
}

// whole checks that a store has all of a plan's files.
func whole(s store.Store, p Planned) error {
	for _, b := range append(p.Files.Index.Blobs, api.IndexBlob{SHA256: p.Files.SHA256}) {
		r, err := s.Open(context.Background(), store.Blob(b.SHA256))
		if err != nil {
			return err
		}
		_ = r.Close()
	}
	return nil
}
