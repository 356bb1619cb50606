package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// volumesDir, in a job's directory, has one entry for each volume: a link to its directory, or a
// directory with a link to its file. The links at the volumes' own paths lead there, so that they
// tell whose they are.
const volumesDir = "volumes"

type volume struct {
	// mount is the path at which the job expects the files; entry is the path of its entry in volumesDir.
	mount, entry string
	// files is the directory of the files, or the single file.
	files string
	// file is the name of a single file.
	file string
}

func (v volume) directory() string {
	if v.file != "" {
		return v.entry
	}
	return v.files
}

// volumes returns the volumes of a job, in the order of the flags.
func (m *Machine) volumes(spec api.Spec) []volume {
	var all []volume
	for _, d := range spec.Volumes() {
		v := volume{mount: d.Mount, files: filepath.Join(d.Path, d.File), file: d.File, entry: m.entry(spec.ID, len(all))}
		if d.Access == api.AccessCopy {
			v.files, v.file = filepath.Join(m.dir(spec.ID), workDir, "data", d.Key()), ""
		}
		all = append(all, v)
	}
	return all
}

func (m *Machine) entry(id string, number int) string {
	return filepath.Join(m.dir(id), volumesDir, strconv.Itoa(number))
}

// writeVolumes fills volumesDir of a job whose directory is not yet in its place.
func writeVolumes(dir string, volumes []volume) error {
	if len(volumes) == 0 {
		return nil
	}
	dir = filepath.Join(dir, volumesDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, v := range volumes {
		entry := filepath.Join(dir, filepath.Base(v.entry))
		if v.file != "" {
			if err := os.Mkdir(entry, 0o700); err != nil {
				return err
			}
			entry = filepath.Join(entry, v.file)
		}
		if err := os.Symlink(v.files, entry); err != nil {
			return err
		}
	}
	return nil
}

// link makes a link at the path of each volume, unless something is there or this user lacks the
// permission. The error names the paths without a link.
func (m *Machine) link(ctx context.Context, volumes []volume) error {
	var without, names []string
	for i, v := range volumes {
		err := os.Symlink(v.entry, v.mount)
		if errors.Is(err, fs.ErrExist) && m.isStale(v.mount) {
			err = m.replace(ctx, v)
		}
		if cause, ok := errors.AsType[*os.LinkError](err); ok {
			without = append(without, fmt.Sprintf("%s (%v)", v.mount, cause.Err))
			names = append(names, api.VolumeVariable(i))
		}
	}
	if without == nil {
		return nil
	}
	return fmt.Errorf("--volume: no link can be made at %s: the job finds its files with %s", strings.Join(without, ", "), strings.Join(names, ", "))
}

// replace replaces the link of a job that has ended. Jobs that start at the same time take turns: otherwise one
// could remove the link that another has just made.
func (m *Machine) replace(ctx context.Context, v volume) error {
	lock, err := os.OpenFile(filepath.Join(m.config.StateDir, ".volumes.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		defer lock.Close()
		err = platform.Wait(ctx, lock)
	}
	if err != nil {
		return &os.LinkError{Op: "symlink", Old: v.entry, New: v.mount, Err: err}
	}
	if m.isStale(v.mount) {
		_ = os.Remove(v.mount) // if it fails, so does the link
	}
	return os.Symlink(v.entry, v.mount)
}

// isStale reports whether a path is the link of a job of this machine that has ended.
func (m *Machine) isStale(path string) bool {
	target, err := os.Readlink(path)
	if err != nil {
		return false
	}
	rest, ours := strings.CutPrefix(target, m.config.StateDir+string(filepath.Separator))
	id, _, _ := strings.Cut(rest, string(filepath.Separator))
	if !ours {
		return false
	}
	r, err := m.read(id)
	return errors.Is(err, fs.ErrNotExist) || err == nil && r.Process.life() == ended
}

// unlink removes the links of a job that has ended.
func (m *Machine) unlink(r Record) {
	for i, mount := range r.Volumes {
		if target, err := os.Readlink(mount); err == nil && target == m.entry(r.ID, i) {
			_ = os.Remove(mount)
		}
	}
}

func mounts(volumes []volume) []string {
	var paths []string
	for _, v := range volumes {
		paths = append(paths, v.mount)
	}
	return paths
}

// linkArguments tell boot.py which links to remove when the job ends.
func linkArguments(volumes []volume) []string {
	var args []string
	for _, v := range volumes {
		args = append(args, "--link="+v.mount+"="+v.entry)
	}
	return args
}
