package deps

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileSum returns the SHA-256 of a file, in hexadecimal.
func FileSum(path string) (string, error) {
	sum, _, err := sumOf(path)
	return sum, err
}

// sumOf returns the SHA-256 of a file, in hexadecimal, and its size in bytes.
func sumOf(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// linkedEnds are the ends of the names of files that --find-links finds.
func linkedEnds() []string { return []string{".whl", ".tar.gz", ".zip", ".html"} }

// LinksSum returns a hash of what --find-links finds in a directory: the names and contents of the
// files directly in it. It may also be a page. If there is no such directory, a resolver tells.
func LinksSum(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.IsDir():
		return FileSum(path)
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range entries {
		if !slices.ContainsFunc(linkedEnds(), func(end string) bool { return strings.HasSuffix(e.Name(), end) }) {
			continue
		}
		file := filepath.Join(path, e.Name())
		info, err := os.Stat(file) // of what a symbolic link names
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		sum, err := FileSum(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %s\n", e.Name(), sum)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
