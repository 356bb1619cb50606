package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	versioned = `^python(3\.\d+)$`
	glibcFile = `^/(usr/)?lib(64)?/([a-z0-9_]+-linux-gnu/)?libc(\.so\.6|-2\.\d+\.so)$`
	muslFile  = `^/(usr/)?lib/ld-musl-[a-z0-9_]+\.so\.1$`

	glibcVersion = `GNU C Library [^\n]*release version (\d+\.\d+)`
	muslVersion  = `\x00(1\.\d+)\.\d+[^\x00]*\x00`
)

// findings are what the layers of an image were found to have.
type findings struct {
	path   []string // PATH of the image
	python string   // its version, if that was known before

	files map[string]string // of Python by path: the target of a link, itself, or "" if it was deleted
	links map[string]string // of directories by path: the target, or "" if it is no link
	whole bool              // whether the layer that has the first python3 of the PATH was read to its end
	glibc string
	musl  string // "?" if its version is unknown
}

// read reads one layer, until enough is known. Layers that were read before win.
func (f *findings) read(ctx context.Context, l v1.Layer) error {
	if f.enough() {
		return nil
	}
	plain, err := l.Uncompressed()
	if err != nil {
		return err
	}
	defer plain.Close()
	for archive := tar.NewReader(plain); !f.enough(); {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			f.whole = f.whole || f.has(path.Join(f.path[0], "python3"))
			return nil
		}
		if err == nil {
			err = f.entry(h, archive)
		}
		if err != nil {
			return fmt.Errorf("read a layer: %w", err)
		}
	}
	return nil
}

// enough reports whether nothing that was not read yet matters. A Python that comes later on
// the PATH is not certain before the end.
func (f *findings) enough() bool {
	if f.glibc == "" {
		return false
	}
	if f.python != "" {
		return true
	}
	found, _, err := f.find(f.path[0])
	// One that is a link to elsewhere may be that of a virtual environment.
	return err == nil && (path.Dir(found) == f.path[0] || f.whole || f.environment(f.path[0]) != "")
}

// configName is the file at the root of a virtual environment (PEP 405).
const configName = "pyvenv.cfg"

// entry looks at a file of a layer.
func (f *findings) entry(h *tar.Header, content io.Reader) error {
	name := path.Clean("/" + h.Name)
	dir, base := path.Split(name)
	if deleted, ok := strings.CutPrefix(base, ".wh."); ok {
		name, base = dir+deleted, deleted
	}
	regular, to := h.Typeflag == tar.TypeReg, target(name, h)
	if !regular && to != name { // a link may be one to a directory, or deleted
		keep(f.links, name, to)
	} else if h.Typeflag == tar.TypeDir {
		keep(f.links, name, "")
	}
	switch {
	case (strings.HasPrefix(base, "python") || base == configName) && h.Typeflag != tar.TypeDir:
		keep(f.files, name, to)
	case regular && f.glibc == "" && lazyregexp.Of(glibcFile).MatchString(name):
		text, err := io.ReadAll(io.LimitReader(content, 16<<20))
		if m := lazyregexp.Of(glibcVersion).FindSubmatch(text); m != nil {
			f.glibc = string(m[1])
		}
		return err
	case regular && f.musl == "" && lazyregexp.Of(muslFile).MatchString(name):
		text, err := io.ReadAll(io.LimitReader(content, 16<<20))
		if f.musl = "?"; lazyregexp.Of(muslVersion).Match(text) {
			f.musl = string(lazyregexp.Of(muslVersion).FindSubmatch(text)[1])
		}
		return err
	}
	return nil
}

// keep sets what a path is, unless an upper layer has said it.
func keep(known map[string]string, name, is string) {
	if _, ok := known[name]; !ok {
		known[name] = is
	}
}

func target(name string, h *tar.Header) string {
	switch {
	case strings.HasPrefix(path.Base(h.Name), ".wh."):
		return ""
	case h.Typeflag == tar.TypeLink:
		return path.Clean("/" + h.Linkname)
	case h.Typeflag == tar.TypeSymlink && path.IsAbs(h.Linkname):
		return path.Clean(h.Linkname)
	case h.Typeflag == tar.TypeSymlink:
		return path.Join(path.Dir(name), h.Linkname) //nolint:gosec // nothing is written there
	}
	return name
}

// maxLinks is how many links Linux follows.
const maxLinks = 40

// real returns a path whose directories are no links.
func (f *findings) real(name string) string {
	for range maxLinks {
		followed := name
		for i := range name {
			if to := f.links[name[:i]]; name[i] == '/' && to != "" {
				followed = path.Join(to, name[i:])
				break
			}
		}
		if followed == name {
			break
		}
		name = followed
	}
	return name
}

// has reports whether there is a file of Python.
func (f *findings) has(name string) bool { return f.files[f.real(name)] != "" }

// interpreter returns the interpreter that the image's PATH finds, its version X.Y, and the virtual
// environment that it is in, "" for none.
func (f *findings) interpreter() (found, version, environment string, err error) {
	for _, dir := range f.path {
		if f.has(path.Join(dir, "python3")) {
			found, version, err = f.find(dir)
			return found, version, f.environment(dir), err
		}
	}
	return "", "", "", errors.New(noPython)
}

// environment returns the virtual environment whose commands a directory has, "" if it has others.
func (f *findings) environment(dir string) string {
	if root := path.Dir(dir); f.has(path.Join(root, configName)) {
		return root
	}
	return ""
}

// find follows the links from python3 in a directory.
func (f *findings) find(dir string) (string, string, error) {
	name := path.Join(dir, "python3")
	for range maxLinks {
		name = f.real(name)
		to := f.files[name]
		if to == "" {
			return "", "", errors.New(noPython)
		}
		if to != name {
			name = to
			continue
		}
		m := lazyregexp.Of(versioned).FindStringSubmatch(path.Base(name))
		if m == nil {
			return "", "", fmt.Errorf("the version of its Python is unknown: %s/python3 is %s, not pythonX.Y; name an image that has CPython, such as python:3.12-slim", dir, name)
		}
		return name, m[1], nil
	}
	return "", "", fmt.Errorf("%s/python3 is a link that leads to itself", dir)
}

// libc returns the C library. An image with glibc may have musl beside it.
func (f *findings) libc() (string, error) {
	switch {
	case f.glibc != "":
		return "glibc " + f.glibc, nil
	case f.musl == "?":
		return "", errors.New("its C library is musl, of an unknown version; name an image with glibc, such as python:3.12-slim")
	case f.musl != "":
		return "musl " + f.musl, nil
	}
	return "", errors.New("its C library was not found, neither glibc nor musl; name another image, such as python:3.12-slim")
}
