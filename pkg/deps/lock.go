package deps

import (
	"path/filepath"

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
		project := filepath.Join(filepath.Dir(path), string(Project))
		if !isFile(project) {
			return nil
		}
		return r.project(filepath.Dir(path), r.name(project), r.Extras, r.Groups)
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
