package local

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // boot.py
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-kinetic/kinetic/runner"
)

//go:embed boot.py
var bootSource []byte

const (
	bootFile = "boot.py"
	// runnerPrefix begins the names of directories with one version of the runner. No job ID begins with a dot.
	runnerPrefix = ".runner-"
)

// install makes sure that the runner and boot.py are in a directory below the state directory, one for each version, and returns its path.
// The runner is a folder there: Python keeps the byte code of a folder, but compiles the sources in a zip at each start.
func (m *Machine) install() (string, error) {
	dir := filepath.Join(m.config.StateDir, m.runnerName())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	now := time.Now()
	err := os.Chtimes(dir, now, now) // so that no other start removes it now
	err = errors.Join(err, m.installFile(filepath.Join(dir, bootFile), bootSource))
	return dir, errors.Join(err, fs.WalkDir(m.config.Runner, ".", func(name string, d fs.DirEntry, err error) error {
		path := filepath.Join(dir, runner.File, filepath.FromSlash(name))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(path, 0o700)
		}
		content, err := fs.ReadFile(m.config.Runner, name)
		return errors.Join(err, m.installFile(path, content))
	}))
}

// runnerName returns the name of the directory for this version.
func (m *Machine) runnerName() string {
	return fmt.Sprintf("%s%x", runnerPrefix, sha256.Sum256([]byte(runner.HashOf(m.config.Runner)+string(bootSource))))
}

func (m *Machine) installFile(path string, content []byte) error {
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, content) {
		return nil
	}
	temp, err := os.CreateTemp(m.config.StateDir, scratchPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // gone after success
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// sweep removes the remains of interrupted starts and stops, and versions of the runner
// other than current that no job needs. It ignores errors, because the user did not ask for
// this.
func (m *Machine) sweep(current string) {
	for _, path := range m.outdated(scratchPrefix) {
		_ = os.RemoveAll(path)
	}
	runners := m.outdated(runnerPrefix)
	if len(runners) == 0 {
		return
	}
	needed, err := m.runnersInUse()
	if err != nil {
		return
	}
	for _, path := range runners {
		if path != current && !needed[filepath.Base(path)] {
			_ = os.RemoveAll(path)
		}
	}
}

// outdated lists the paths that begin with a prefix and were not modified for scratchAge.
func (m *Machine) outdated(prefix string) []string {
	var old []string
	found, _ := filepath.Glob(filepath.Join(m.config.StateDir, prefix+"*"))
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > scratchAge {
			old = append(old, path)
		}
	}
	return old
}

// runnersInUse returns the Record.Runner of all jobs that may be running.
func (m *Machine) runnersInUse() (map[string]bool, error) {
	used := map[string]bool{}
	records, _ := filepath.Glob(filepath.Join(m.config.StateDir, "*", recordFile))
	for _, path := range records {
		r, err := m.read(filepath.Base(filepath.Dir(path)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			return nil, err
		case r.Process.life() != ended:
			used[r.Runner] = true
		}
	}
	return used, nil
}
