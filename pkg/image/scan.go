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

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

var (
	versioned = pattern.Lazy(`^python(3\.\d+)$`)
	glibcFile = pattern.Lazy(`^/(usr/)?lib(64)?/([a-z0-9_]+-linux-gnu/)?libc(\.so\.6|-2\.\d+\.so)$`)
	muslFile  = pattern.Lazy(`^/(usr/)?lib/ld-musl-[a-z0-9_]+\.so\.1$`)

	glibcVersion = pattern.Lazy(`GNU C Library [^\n]*release version (\d+\.\d+)`)
	muslVersion  = pattern.Lazy(`\x00(1\.\d+)\.\d+[^\x00]*\x00`)
)

// findings are what the layers of an image were found to have.
type findings struct {
	path   []string // PATH of the image
	python string   // its version, if that was known before

	files map[string]string // of Python by path: the target of a link, itself, or "" if it was deleted
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
	_, _, err := f.find(f.path[0])
	return f.python != "" || err == nil
}

// entry looks at a file of a layer.
func (f *findings) entry(h *tar.Header, content io.Reader) error {
	name := path.Clean("/" + h.Name)
	dir, base := path.Split(name)
	if deleted, ok := strings.CutPrefix(base, ".wh."); ok {
		name, base = dir+deleted, deleted
	}
	regular := h.Typeflag == tar.TypeReg
	switch {
	case strings.HasPrefix(base, "python") && h.Typeflag != tar.TypeDir:
		if _, known := f.files[name]; !known {
			f.files[name] = target(name, h)
		}
	case regular && f.glibc == "" && glibcFile().MatchString(name):
		text, err := io.ReadAll(io.LimitReader(content, 16<<20))
		if m := glibcVersion().FindSubmatch(text); m != nil {
			f.glibc = string(m[1])
		}
		return err
	case regular && f.musl == "" && muslFile().MatchString(name):
		text, err := io.ReadAll(io.LimitReader(content, 16<<20))
		if f.musl = "?"; muslVersion().Match(text) {
			f.musl = string(muslVersion().FindSubmatch(text)[1])
		}
		return err
	}
	return nil
}

// target returns where a name leads to.
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

// interpreter returns the interpreter that the image's PATH finds, and its version X.Y.
func (f *findings) interpreter() (string, string, error) {
	for _, dir := range f.path {
		if f.files[path.Join(dir, "python3")] != "" {
			return f.find(dir)
		}
	}
	return "", "", errNoPython
}

// find follows the links from python3 in a directory.
func (f *findings) find(dir string) (string, string, error) {
	name := path.Join(dir, "python3")
	const maxLinks = 40 // as Linux
	for range maxLinks {
		to, ok := f.files[name]
		if !ok || to == "" {
			return "", "", errNoPython
		}
		if to != name {
			name = to
			continue
		}
		m := versioned().FindStringSubmatch(path.Base(name))
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
