package decide

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

// Base is an image that environments are installed on.
type Base struct {
	// Ref is its reference, with a digest if one is pinned.
	Ref string
	// Known is set for the images of the table: what they have is known without asking a registry.
	Known bool
	// Python is X.Y, "" if it is not known.
	Python string
	// Patch is the patch version of Python, or the newest one known when the table was made.
	Patch int
	// Runtime means that it has JAX and Keras for the accelerator: it is one of build-image.
	Runtime bool
	libc    string
}

// Facts returns what the image has for an architecture, without its digest.
func (b Base) Facts(arch string) image.Facts {
	return image.Facts{Arch: arch, Python: b.Python, FullPython: b.full(), Interpreter: "/usr/local/bin/python" + b.Python, Libc: b.libc}
}

// full returns the version of Python X.Y.Z.
func (b Base) full() string { return fmt.Sprintf("%s.%d", b.Python, b.Patch) }

// BaseName returns the name that build-image gives the image for a kind of accelerator, without its tag.
func BaseName(repository string, kind api.AcceleratorKind) string {
	return fmt.Sprintf("%s/base-%s", strings.TrimSuffix(repository, "/"), strings.ToLower(string(kind)))
}

// BaseTag returns the tag that build-image gives images by default: the version of this program.
func BaseTag(version string) string {
	return strings.ReplaceAll(version, "+", "-") // of a changed checkout; tags have no +
}

// pinned is the table of base images. `make update-bases` fills in digests.
//
//go:embed bases.json
var pinned []byte

// Bases returns the table of base images, Docker's official ones of Python, oldest Python first.
func Bases() []Base {
	var table []struct {
		Python, Image, Digest, Libc string
		Patch                       int
	}
	// The text is a part of the program; a test reads it.
	_ = json.Unmarshal(pinned, &table)
	bases := make([]Base, 0, len(table))
	for _, row := range table {
		b := Base{Ref: row.Image, Known: true, Python: row.Python, Patch: row.Patch, libc: row.Libc}
		if row.Digest != "" {
			b.Ref += "@" + row.Digest
		}
		bases = append(bases, b)
	}
	return bases
}

// Pythons returns the versions of Python, X.Y, that there are base images for.
func Pythons() []string {
	var all []string
	for _, b := range Bases() {
		all = append(all, b.Python)
	}
	return all
}

// baseFor returns the image with a version of Python, or the one with the nearest version.
func baseFor(python string) Base {
	bases := Bases()
	i, _ := slices.BinarySearchFunc(bases, python, func(b Base, python string) int { return comparePythons(b.Python, python) })
	if python == "" || i == len(bases) {
		i = len(bases) - 1
	}
	return bases[i]
}

// comparePythons compares versions such as 3.12. It does without requirement.CompareVersions, whose expression takes
// each dry-run half a millisecond to compile.
func comparePythons(a, b string) int {
	number := func(version string) (int, int) {
		major, minor, _ := strings.Cut(version, ".")
		x, _ := strconv.Atoi(major)
		y, _ := strconv.Atoi(minor)
		return x, y
	}
	ax, ay := number(a)
	bx, by := number(b)
	return cmp.Or(cmp.Compare(ax, bx), cmp.Compare(ay, by))
}
