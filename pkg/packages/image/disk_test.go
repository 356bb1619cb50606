package image

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// The file of the disk that is full is a link to the device that always is.
func TestDiskIsFull(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full")
	}
	path := filepath.Join(t.TempDir(), "a.whl")
	if err := os.WriteFile(path, make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(t.TempDir(), "wheel")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	f := fetcher{create: func() (*os.File, error) { return os.OpenFile(full, os.O_RDWR, 0) }}
	_, err := f.fetch(context.Background(), wheel.Source{File: "a-1-py3-none-any.whl", Path: path})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "store a-1-py3-none-any.whl: ") || !strings.Contains(err.Error(), "; free some space") {
		t.Errorf("err = %v", err)
	}
	if _, err := os.Lstat(full); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}
