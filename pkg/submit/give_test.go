package submit

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// plannedWith is a job of a directory with these files.
func plannedWith(t *testing.T, files map[string][]byte, since time.Time) Planned {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := planned(t, "{}")
	var err error
	if p.Files, err = pack.New(t.Context(), pack.Options{Root: root, EditedSince: since}); err != nil {
		t.Fatal(err)
	}
	p.Spec.BundleSHA256 = p.Files.SHA256
	return p
}

// A job can begin before the store has it. Whatever the host stores meanwhile, in the end the store has what was given.
func TestGive(t *testing.T) {
	refused := errors.New("refused")
	for name, tt := range map[string]struct {
		hostStores bool
		err        error
		wantStored bool
	}{
		"the client stores it": {wantStored: true},
		"the host stores it":   {hostStores: true, wantStored: true},
		"it is refused":        {err: refused},
		"it may run":           {err: fmt.Errorf("lost: %w", api.ErrMayRun), wantStored: true},
	} {
		t.Run(name, func(t *testing.T) {
			reg := registry(t, workload{})
			p := plannedWith(t, map[string][]byte{"train.py": []byte("def f(): pass\n")}, time.Time{})
			p.origin = func(context.Context, string) api.Origin { return api.Origin{User: "me"} }
			record := store.WarmCall("cpu-warm-1", "a1")
			given := map[string][]byte{}
			steps := Hooks{Records: map[string][]byte{record: []byte("{}")}, Give: func(ctx context.Context, spec api.Spec, objects map[string][]byte) error {
				given = objects
				if !tt.hostStores {
					return tt.err
				}
				for name, text := range objects {
					if err := reg.Store.Create(ctx, name, bytes.NewReader(text), nil); err != nil && !errors.Is(err, store.ErrExists) {
						return err
					}
				}
				return nil
			}}
			sent, err := Apply(t.Context(), p, reg, steps, nil)
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if err == nil {
				if err := sent.Stored(); err != nil {
					t.Fatal(err)
				}
				if !sent.Job.New || sent.Stats.NewBytes == 0 {
					t.Errorf("it is new: %v, with %d bytes", sent.Job.New, sent.Stats.NewBytes)
				}
			}
			if len(given) != 5 {
				t.Errorf("it was given %d objects, not the call, the handle, the record, the index and a blob", len(given))
			}
			if errors.Is(tt.err, api.ErrMayRun) {
				return // what was stored by then stays
			}
			for _, name := range []string{store.Call("a1"), store.Handle("a1"), record, store.Blob(p.Files.SHA256)} {
				switch text := stored(t, reg, name); {
				case (text != "") != tt.wantStored && name != store.Blob(p.Files.SHA256):
					t.Errorf("%s: %q", name, text)
				case tt.wantStored && name != store.Handle("a1") && text != string(given[name]):
					t.Errorf("%s: %q, but %q was given", name, text, given[name])
				}
			}
			if j := reg.ByID(t.Context(), "a1"); tt.wantStored && (j == nil || j.Handle.User != "me") {
				t.Errorf("the handle lacks its origin: %+v", j)
			}
		})
	}
}

func TestStoredBeforeItStarts(t *testing.T) {
	large := make([]byte, givenBytes+1)
	rand.Read(large)
	file := map[string][]byte{"train.py": []byte("def f(): pass\n")}
	for name, p := range map[string]func() Planned{
		"an ID of the user's": func() Planned {
			p := plannedWith(t, file, time.Time{})
			p.request.JobID = "a1"
			return p
		},
		"a map": func() Planned {
			p := plannedWith(t, file, time.Time{})
			p.Spec.Map = &api.Map{}
			return p
		},
		"data": func() Planned {
			p := plannedWith(t, file, time.Time{})
			p.Data.Sets = append(p.Data.Sets, nil)
			return p
		},
		"many changes": func() Planned { return plannedWith(t, map[string][]byte{"data.bin": large}, time.Time{}) },
		"a large file that is new": func() Planned {
			return plannedWith(t, map[string][]byte{"data.bin": append(large, large...)}, time.Now().Add(time.Hour))
		},
	} {
		give := func(context.Context, api.Spec, map[string][]byte) error { return nil }
		s := submission{Planned: p(), registry: registry(t, workload{}), steps: Hooks{Give: give}}
		if objects := s.given(&job.Job{Handle: api.Handle{JobID: "a1"}}); objects != nil {
			t.Errorf("%s: %d objects are given", name, len(objects))
		}
	}
}

// A job that waits for its turn is stored once it has begun, and an interrupt does not keep a job that runs out of the store.
func TestGiveInterrupted(t *testing.T) {
	for name, tt := range map[string]struct {
		waits      bool
		err        error
		wantStored bool
	}{
		"while it waits":        {waits: true, err: context.Canceled},
		"before it has begun":   {err: context.Canceled},
		"when it may have":      {err: fmt.Errorf("lost: %w", api.ErrMayRun), wantStored: true},
		"when it has":           {wantStored: true},
		"when it has, at last":  {waits: true, wantStored: true},
		"when it may have then": {waits: true, err: fmt.Errorf("lost: %w", api.ErrMayRun), wantStored: true},
	} {
		t.Run(name, func(t *testing.T) {
			reg := registry(t, workload{})
			ctx, interrupt := context.WithCancel(t.Context())
			give := func(context.Context, api.Spec, map[string][]byte) error {
				if tt.waits && stored(t, reg, store.Handle("a1")) != "" {
					t.Error("it is stored before it has begun")
				}
				interrupt()
				return tt.err
			}
			p := plannedWith(t, map[string][]byte{"train.py": []byte("def f(): pass\n")}, time.Time{})
			sent, err := Apply(ctx, p, reg, Hooks{Give: give, Waits: tt.waits}, nil)
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if err == nil {
				err = sent.Stored()
			}
			if text := stored(t, reg, store.Handle("a1")); (text != "") != tt.wantStored {
				t.Errorf("the handle: %q, %v", text, err)
			}
		})
	}
}

// The Python client removes the payload's file once the job has begun.
func TestGiveWithoutTheFileOfThePayload(t *testing.T) {
	reg := registry(t, workload{})
	p := pickledCall(t, "one")
	files := plannedWith(t, map[string][]byte{"train.py": []byte("def f(): pass\n")}, time.Time{})
	p.Files, p.Spec.BundleSHA256 = files.Files, files.Spec.BundleSHA256
	give := func(context.Context, api.Spec, map[string][]byte) error { return os.Remove(p.payload.Path) }
	sent, err := Apply(t.Context(), p, reg, Hooks{Give: give, Waits: true}, nil)
	if err == nil {
		err = sent.Stored()
	}
	if text := stored(t, reg, store.Payload("a1")); err != nil || text != pickle("one") {
		t.Errorf("stored %q, %v", text, err)
	}
}
