package pkg_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The limits of size, in lines. That of functions is in .golangci.yaml.
const (
	maxFile    = 400
	maxPackage = 3000 // without its tests
)

func TestFilesAndPackagesAreSmall(t *testing.T) {
	packages := map[string]int{}
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
		if !isTest(name) {
			packages[filepath.ToSlash(filepath.Dir(name))] += lines
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < len(mayImport) {
		t.Fatalf("found only %d packages", len(packages))
	}
	for name, lines := range packages {
		if lines > maxPackage {
			t.Errorf("%s has %d lines without its tests, at most %d are allowed: it holds more than one noun", name, lines, maxPackage)
		}
	}
}

// isSource reports whether a file is one of Go, or of the Python runner.
func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "runner/") && strings.HasSuffix(name, ".py")
}

func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "runner/tests/")
}
