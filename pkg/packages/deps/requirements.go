package deps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// file reads a requirements file, or one of constraints. name is its path as users know it.
func (r *reader) file(path, name string, constraints bool) error {
	visit := fmt.Sprint(path, constraints)
	if slices.Contains(r.files, visit) {
		return nil // its lines are read already
	}
	r.files = append(r.files, visit)
	text, err := readText(path, name)
	if err != nil {
		return err
	}
	return r.lines(text, filepath.Dir(path), name, constraints)
}

// lines reads the lines of a requirements file in a directory, which is a URL for one that was fetched.
func (r *reader) lines(text []byte, dir, name string, constraints bool) error {
	lines, err := logicalLines(text, name)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if found := Variable(l.text); found != "" && isURL(dir) {
			return wrong(place(name, l.number), errVariable(found))
		}
		if err := r.line(l, dir, name, constraints); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) line(l logicalLine, dir, file string, constraint bool) error {
	at := place(file, l.number)
	if strings.HasPrefix(l.text, "-") {
		all, err := parseOptions(l.text)
		for _, o := range all {
			if err = r.option(o, Line{Text: l.text, File: file, Number: l.number}, dir, constraint); err != nil {
				break
			}
		}
		var inner *includedError
		if err != nil && !errors.As(err, &inner) {
			return wrong(at, err)
		}
		return err
	}
	text, hashes, err := splitOptions(l.text)
	if err != nil {
		return wrong(at, err)
	}
	found := Line{Text: text, Hashes: hashes, File: file, Number: l.number, kept: strings.Contains(l.comment, keep)}
	if err := r.add(found, dir, constraint); err != nil {
		return wrong(at, err)
	}
	return nil
}

// includedError is an error in an included file, which names its own place.
type includedError struct{ error }

func (e *includedError) Unwrap() error { return e.error }

func (r *reader) option(o given, l Line, dir string, constraint bool) error {
	value := o.value
	if found := Variable(value); found != "" && isURL(dir) { // which quotes have split in the line
		return errVariable(found)
	}
	switch o.effect {
	case include, constrain:
		if isURL(value) || isURL(dir) {
			return r.remote(value, dir, l, constraint || o.effect == constrain)
		}
		path, err := r.within(value, dir, l.Text)
		if err != nil {
			return err
		}
		if !platform.IsFile(path) {
			return fmt.Errorf("%q: %s: no such file", l.Text, r.name(path))
		}
		if err := r.file(path, r.name(path), constraint || o.effect == constrain); err != nil {
			return &includedError{err}
		}
		return nil
	case edit:
		if !isURL(value) && !looksLocal(value) {
			value = "./" + value
		}
		l.Text = value
		return r.add(l, dir, constraint)
	case findLinks:
		if !isURL(value) {
			if isURL(dir) {
				return errNotHere(l.Text)
			}
			path := under(dir, value)
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s %s: there is no %s: name a directory with wheels, or the URL of one", o.long, value, path)
			}
			value = path // the resolver here reads it
		}
		r.addOption(o.long+" "+value, l.File)
	case requireHashes:
		r.wanted.HashesAt = l.Place()
	case passOn:
		r.addOption(strings.TrimSpace(o.long+" "+value), l.File)
	}
	return nil
}

func isURL(text string) bool {
	scheme, _, found := strings.Cut(text, ":")
	return found && len(scheme) > 1 && !strings.ContainsAny(scheme, `/\ @`) // C: is a drive
}

// within returns the path of something that a requirements file names, which must be in the
// project: whatever is outside is not the project's to send.
func (r *reader) within(name, dir, line string) (string, error) {
	path := filepath.Clean(under(dir, filepath.FromSlash(name)))
	if !r.contains(path) {
		return "", fmt.Errorf("%q: %s is outside the package root %s: move it there, or choose another with --package-root", line, path, r.Root)
	}
	return path, nil
}

func (r *reader) add(l Line, dir string, constraint bool) error {
	path, extras, err := localPath(l.Text)
	if err != nil {
		return err
	}
	if path == "" {
		return r.addNamed(l, constraint)
	}
	if constraint {
		return fmt.Errorf("%q: a constraint names a package and its version", l.Text)
	}
	if isURL(dir) {
		return errNotHere(l.Text)
	}
	if l.Path, err = r.within(path, dir, l.Text); err != nil {
		return err
	}
	info, err := os.Stat(l.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%q: %s: no such file or directory", l.Text, r.name(l.Path))
	case err != nil:
		return fmt.Errorf("%q: %w", l.Text, err)
	case !info.IsDir():
		r.wanted.Requirements = append(r.wanted.Requirements, l)
		return nil
	}
	dir, l.Path = l.Path, ""
	r.wanted.Local = append(r.wanted.Local, l)
	r.wanted.LocalDirs = append(r.wanted.LocalDirs, dir)
	if r.wanted.Kind == UVLock { // which has what the project needs
		return nil
	}
	file := filepath.Join(dir, string(Project))
	if !platform.IsFile(file) {
		name, _, _ := cutName(l.Text)
		r.isProject(requirement.LeadingName(name), dir)
		r.unlisted = append(r.unlisted, dir) // what a setup.py needs is only known when it runs
		return nil
	}
	if !declares(file) {
		r.unlisted = append(r.unlisted, dir)
	}
	if err := r.project(dir, r.name(file), extras, nil); err != nil {
		return &includedError{err}
	}
	return nil
}

// addNamed adds a requirement that is not a path.
func (r *reader) addNamed(l Line, constraint bool) error {
	if !isURL(l.Text) { // else it is the URL of a package, which has no other name
		if _, err := requirement.Parse(l.Text); err != nil {
			var syntax *requirement.SyntaxError
			if errors.As(err, &syntax) {
				return fmt.Errorf("column %d of %q: %w", syntax.Column, l.Text, err)
			}
			return err
		}
	}
	if constraint {
		r.wanted.Constraints = append(r.wanted.Constraints, l)
	} else {
		r.wanted.Requirements = append(r.wanted.Requirements, l)
	}
	return nil
}

// cutName cuts the name, with extras, off a requirement that is NAME @ PATH or NAME @ URL.
func cutName(text string) (name, path string, found bool) {
	name, path, found = strings.Cut(text, "@")
	if !found || requirement.LeadingName(name) == "" || isURL(text) || strings.ContainsAny(name, `/\`) {
		return "", text, false
	}
	return strings.TrimSpace(name), strings.TrimSpace(path), true
}

// localPath returns the path that a requirement names, "" if it names none, and the extras in
// brackets behind it.
func localPath(text string) (path string, extras []string, err error) {
	path = text
	if name, url, found := cutName(text); found {
		path = url
		if r, err := requirement.Parse(name); err == nil {
			extras = r.Extras
		}
		if !isURL(path) && !looksLocal(path) {
			return "", nil, nil
		}
	}
	if url, found := strings.CutPrefix(path, "file:"); found {
		path = strings.TrimPrefix(strings.TrimPrefix(url, "//localhost"), "//")
		rest := ""
		path, rest, _ = strings.Cut(path, "#")
		rest, _, _ = strings.Cut(rest, ";")
		for part := range strings.SplitSeq(rest, "&") {
			egg, _ := strings.CutPrefix(part, "egg=")
			if r, err := requirement.Parse(egg); err == nil {
				extras = append(extras, r.Extras...)
			}
		}
	} else if isURL(path) || !looksLocal(path) {
		return "", nil, nil
	}
	path, _, _ = strings.Cut(path, ";")
	path = strings.TrimSpace(path)
	if before, after, found := strings.Cut(path, "["); found && strings.HasSuffix(after, "]") {
		r, err := requirement.Parse("x[" + after)
		if err != nil {
			return "", nil, fmt.Errorf("%q: %w", text, err)
		}
		path, extras = before, append(extras, r.Extras...)
	}
	return path, extras, nil
}

// looksLocal reports whether a requirement is a path, as pip decides.
func looksLocal(text string) bool {
	// archives are the ends of the names of packages.
	archives := []string{".whl", ".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz"}
	word, _, _ := strings.Cut(text, ";")
	word = strings.TrimSpace(word)
	if strings.HasPrefix(word, ".") || strings.HasPrefix(word, "~/") || filepath.IsAbs(word) || len(word) > 1 && word[1] == ':' {
		return true
	}
	if strings.ContainsAny(word, " <>=!@") {
		return false
	}
	return strings.ContainsAny(word, `/\`) || slices.ContainsFunc(archives, func(end string) bool { return strings.HasSuffix(word, end) })
}
