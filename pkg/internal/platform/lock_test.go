//go:build unix

package platform_test

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// Whoever waits for a part gets another file than the one that was completed meanwhile.
func TestOpenPart(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	var writing sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			file, err := platform.OpenPart(t.Context(), dir, "part")
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = file.Close() }()
			if !writing.TryLock() {
				t.Error("two have the part")
				return
			}
			if text, err := io.ReadAll(file); err != nil || len(text) > 0 {
				t.Errorf("found %q, %v", text, err)
			}
			if _, err := io.WriteString(file, "complete"); err != nil {
				t.Error(err)
			}
			writing.Unlock()
			if err := dir.Rename("part", "whole"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if text, err := dir.ReadFile("whole"); err != nil || string(text) != "complete" {
		t.Errorf("%q, %v", text, err)
	}
}

// What a dead process has left is continued.
func TestOpenPartThatIsLeft(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	if err := dir.WriteFile("part", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := platform.OpenPart(t.Context(), dir, "part")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(file); err != nil || string(text) != "half" {
		t.Errorf("%q, %v", text, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := platform.OpenPart(ctx, dir, "part"); !errors.Is(err, context.Canceled) {
		t.Errorf("while it is locked: %v", err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if again, err := platform.OpenPart(t.Context(), dir, "part"); err != nil || again.Close() != nil {
		t.Errorf("afterwards: %v", err)
	}
}
