package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestStreamsThatGoToTheSameFile(t *testing.T) {
	open := func(path string) *os.File {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	path := filepath.Join(t.TempDir(), "out")
	one, again, other := open(path), open(path), open(path+"2")
	if !isSameFile(one, again) || isSameFile(one, other) || isSameFile(one, &bytes.Buffer{}) {
		t.Errorf("the same: %v, another: %v, none: %v; want only the first", isSameFile(one, again), isSameFile(one, other), isSameFile(one, &bytes.Buffer{}))
	}
}
