package deps

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// ReadLock reads the project's lock. Of the options, it sets those that are about the project.
func (w Wanted) ReadLock(o LockOptions) (Lock, error) {
	o.Name, o.Dir, o.Extras, o.Groups, o.Wanted = w.Source, w.Dir, w.Extras, w.Groups, w.Named()
	if w.Kind == UVLock {
		return ReadUV(w.Lock, w.ProjectName, o)
	}
	return ReadPyLock(w.Lock, o)
}

// lock reads a lock file. For uv.lock, the requirements are those of its project.
func (r *reader) lock(path string, kind Kind) (err error) {
	if r.wanted.Lock, err = readText(path, r.wanted.Source); err != nil {
		return err
	}
	if kind == UVLock {
		if project := filepath.Join(r.projectDir, string(Project)); platform.IsFile(project) {
			if err := r.project(r.projectDir, r.name(project), r.Extras, r.Groups); err != nil {
				return err
			}
		}
		return r.members()
	}
	var f pylock
	if err := Decode(r.wanted.Lock, r.wanted.Source, &f); err != nil {
		return err
	}
	for _, p := range f.Packages {
		l := Line{Text: p.Name, File: r.wanted.Source}
		if p.Version != "" {
			l.Text += "==" + p.Version
		}
		r.wanted.Requirements = append(r.wanted.Requirements, l)
		if p.Directory != nil {
			r.member(p.Name, filepath.FromSlash(p.Directory.Path), filepath.FromSlash(p.Directory.Subdirectory))
		}
	}
	return nil
}

// members adds the directories of the projects that the one in uv.lock needs, such as those of its workspace,
// and warns of those that don't travel with the job.
func (r *reader) members() error {
	if !bytes.Contains(r.wanted.Lock, []byte("editable = ")) && !bytes.Contains(r.wanted.Lock, []byte("directory = ")) {
		return nil
	}
	var f uvLock
	if err := Decode(r.wanted.Lock, r.wanted.Source, &f); err != nil {
		return err
	}
	needed := f.needed(r.wanted)
	for _, p := range f.Packages {
		if path := filepath.FromSlash(p.Source.Editable + p.Source.Directory); path != "" && needed[p.Name] {
			r.member(p.Name, path, "")
		}
	}
	return nil
}

// member adds the directory of a project in a lock. It is relative to the lock's.
func (r *reader) member(name, dir, below string) {
	dir = filepath.Join(under(r.wanted.Dir, dir), below)
	if slices.Contains(r.wanted.LocalDirs, dir) {
		return
	}
	r.wanted.LocalDirs = append(r.wanted.LocalDirs, dir)
	if !Contains(r.Root, dir) {
		r.warn(fmt.Sprintf("%s: the project %s in %s is outside the package root %s, so its code does not travel with the job: choose another with --package-root", r.wanted.Source, name, dir, r.Root))
	}
}

// needed returns the names of what a project needs, and its own, whatever markers say.
func (f uvLock) needed(w Wanted) map[string]bool {
	byName := map[string][]uvPackage{}
	var next []string
	for _, p := range f.Packages {
		byName[p.Name] = append(byName[p.Name], p)
		if p.Source.isCode() && (w.ProjectName == "" || p.Name == requirement.Normalize(w.ProjectName)) {
			next = append(next, p.Name)
		}
	}
	needed := map[string]bool{}
	for len(next) > 0 {
		name := next[0]
		if next = next[1:]; needed[name] {
			continue
		}
		needed[name] = true
		for _, p := range byName[name] {
			all := slices.Clone(p.Dependencies)
			for _, of := range []map[string][]uvDependency{p.Optional, p.Dev} {
				for _, more := range of {
					all = append(all, more...)
				}
			}
			for _, d := range all {
				next = append(next, d.Name)
			}
		}
	}
	return needed
}
