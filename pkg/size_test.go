package pkg_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxFile is the most lines of a file. The limit of functions is in .golangci.yaml. A package has none: it is as
// large as its noun.
const maxFile = 400

func TestFilesAreSmall(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if entry.IsDir() {
			if name != ".." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !isSource(name) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bytes.Count(text, []byte("\n"))
		if lines > maxFile {
			t.Errorf("%s has %d lines, at most %d are allowed: a file holds one noun", name, lines, maxFile)
		}
		files++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < len(neighbourhoods) {
		t.Fatalf("found only %d files", files)
	}
}

// isSource reports whether a file is one of Go, or of the Python runner.
func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "runner/") && strings.HasSuffix(name, ".py")
}
