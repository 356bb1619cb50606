package deps

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/tomlfile"
)

// lockFile is what is read of pylock.toml (PEP 751).
type lockFile struct {
	Packages []struct{ Name, Version string }
}

// lock reads a lock file. For uv.lock, the requirements are those of the project next to it.
func (r *reader) lock(path string, kind Kind) (err error) {
	if r.wanted.Lock, err = readText(path, r.shown); err != nil {
		return err
	}
	if kind == UVLock {
		dir := filepath.Dir(path)
		if project := filepath.Join(dir, string(Project)); isFile(project) {
			if err := r.project(dir, r.name(project), r.Extras, r.Groups); err != nil {
				return err
			}
		}
		return r.members(dir)
	}
	var f lockFile
	if err := tomlfile.Decode(r.wanted.Lock, r.shown, &f); err != nil {
		return err
	}
	for _, p := range f.Packages {
		l := Line{Text: p.Name, File: r.shown}
		if p.Version != "" {
			l.Text += "==" + p.Version
		}
		r.wanted.Requirements = append(r.wanted.Requirements, l)
	}
	return nil
}

// uvLock is what is read of uv.lock.
type uvLock struct {
	Packages []struct {
		Source struct{ Editable, Directory string }
	} `toml:"package"`
}

// members adds the directories of the projects that a uv.lock in a directory names, such as those of a workspace.
func (r *reader) members(dir string) error {
	if !bytes.Contains(r.wanted.Lock, []byte("editable = ")) && !bytes.Contains(r.wanted.Lock, []byte("directory = ")) {
		return nil
	}
	var f uvLock
	if err := tomlfile.Decode(r.wanted.Lock, r.shown, &f); err != nil {
		return err
	}
	for _, p := range f.Packages {
		member := filepath.FromSlash(p.Source.Editable + p.Source.Directory)
		if member == "" {
			continue
		}
		if !filepath.IsAbs(member) {
			member = filepath.Join(dir, member)
		}
		if !slices.Contains(r.wanted.LocalDirs, member) {
			r.wanted.LocalDirs = append(r.wanted.LocalDirs, member)
		}
	}
	return nil
}
