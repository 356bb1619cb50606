package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WriteOverlay writes Files to dir, which must be missing, empty, or written by
// WriteOverlay before. It writes the files next to dir and renames them, so that dir is
// never half written. It replaces everything that an earlier call wrote.
func WriteOverlay(dir string, files map[string][]byte) error {
	if err := writeOverlay(dir, files); err != nil {
		return fmt.Errorf("writing the overlay to %s: %w", dir, err)
	}
	return nil
}

func writeOverlay(dir string, files map[string][]byte) error {
	target, err := resolve(dir)
	if err != nil {
		return err
	}
	exists, err := replaceable(target)
	if err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(target), "."+filepath.Base(target)+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := writeTree(fresh, files); err != nil {
		return err
	}
	if !exists {
		return os.Rename(fresh, target)
	}
	return swap(fresh, target)
}

// resolve returns the path behind symbolic links. It rejects the current directory, which
// can't be replaced under the shell that is in it.
func resolve(dir string) (string, error) {
	target, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real
	}
	here, err := os.Stat(".")
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(target); err == nil && os.SameFile(info, here) {
		return "", errors.New("it is the current directory: name a directory inside it")
	}
	return target, os.MkdirAll(filepath.Dir(target), 0o755)
}

// replaceable reports whether dir exists, and fails if it has files that kinetic didn't
// write.
func replaceable(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if len(entries) == 0 {
		return true, nil
	}
	first, err := os.ReadFile(filepath.Join(dir, kustomizationFile))
	if err != nil || !strings.HasPrefix(string(first), marker) {
		return false, errors.New("the directory has files that kinetic did not write: name an empty or a new one")
	}
	ours := []string{kustomizationFile, filepath.Dir(baseDir), componentsDir, jobDir, hostsDir, overlayDir, graceDir}
	for _, e := range entries {
		if !slices.Contains(ours, e.Name()) {
			return false, fmt.Errorf("%s was not written by kinetic and would be lost: move it, or choose another directory", e.Name())
		}
	}
	return true, nil
}

func writeTree(dir string, files map[string][]byte) error {
	if err := os.Chmod(dir, 0o755); err != nil { // MkdirTemp's is 0700
		return err
	}
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// swap replaces target by fresh, and then deletes the old files.
func swap(fresh, target string) error {
	old := fresh + ".old"
	if err := os.Rename(target, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, target); err != nil {
		return errors.Join(err, os.Rename(old, target))
	}
	return os.RemoveAll(old)
}
