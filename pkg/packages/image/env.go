package image

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// format is the version of what an image consists of beside its layers, whose format is
// wheel.Format. Raise it with every change after which the same Env gives another image.
const format = 3

// Env is what an image consists of.
type Env struct {
	Base     string         // a reference, such as "python:3.12-slim"
	Arch     string         // "amd64"; an index has an image for each
	Layout   wheel.Layout   // where the wheels are installed; its Python must be the base's
	InBase   bool           // whether the wheels go into the base's own Python, at the layout's prefix, instead of an environment
	Bytecode bool           // whether modules are to be compiled; without an interpreter they are not
	Wheels   []wheel.Source // to install, in any order
}

// Tag returns the name of the image in a repository. It depends on all that decides about
// the image's content, and on nothing else: not on the repository, nor on where wheels come
// from. It needs no network.
func (e Env) Tag() (string, error) {
	checked, err := e.check()
	if err != nil {
		return "", err
	}
	wheels := [][2]string{}
	for _, w := range checked.Wheels {
		wheels = append(wheels, [2]string{w.Project(), w.SHA256})
	}
	text, err := json.Marshal([]any{format, wheel.Format, checked.Base, e.Arch, e.Layout.Prefix, e.Layout.Python, e.Bytecode, wheels})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "e-" + hex.EncodeToString(sum[:])[:40], nil
}

// check returns the environment in the form that decides about its name: the base's whole
// reference, and the wheels by project.
func (e Env) check() (Env, error) {
	base, err := name.ParseReference(e.Base)
	if err != nil {
		return e, &BaseError{e.Base, err}
	}
	e.Base = base.Name()
	e.Wheels = slices.Clone(e.Wheels)
	for _, w := range e.Wheels {
		if err := w.Check(); err != nil {
			return e, err
		}
	}
	slices.SortFunc(e.Wheels, func(a, b wheel.Source) int { return cmp.Compare(a.Project(), b.Project()) })
	for i := 1; i < len(e.Wheels); i++ {
		if a, b := e.Wheels[i-1], e.Wheels[i]; a.Project() == b.Project() {
			return e, fmt.Errorf("%s and %s are of one project: an environment has one version of each", a.File, b.File)
		}
	}
	return e, nil
}

// InOrder returns wheels in the order in which an environment gets them, in an image and in a pod: the
// largest first. Of two with one file, the later one's counts.
func InOrder(wheels []wheel.Source) []wheel.Source {
	ordered := slices.Clone(wheels)
	slices.SortFunc(ordered, func(a, b wheel.Source) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Project(), b.Project()))
	})
	return ordered
}
