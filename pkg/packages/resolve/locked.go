package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

func (w Request) locked() ([]deps.Package, error) {
	l, err := w.ReadLock(deps.LockOptions{Root: w.Root, Target: w.Target, FullPython: w.FullPython})
	if err == nil {
		err = located(l.Packages)
	}
	if err != nil {
		return nil, &MistakeError{err}
	}
	return l.Packages, nil
}

// pins returns what requirements pin with hashes, and whether they pin all that the runtime adds,
// so that nothing is left to resolve. Pages of links are left to a resolver.
func (w Request) pins() ([]deps.Pin, bool, error) {
	if slices.ContainsFunc(w.Options, func(o string) bool { return strings.HasPrefix(o, "--find-links http") }) {
		return nil, false, nil
	}
	for _, text := range w.Added {
		if !slices.ContainsFunc(w.Requirements, func(l deps.Line) bool { return covers(l.Text, text) }) {
			return nil, false, nil
		}
	}
	pins, complete, err := deps.Pins(w.Requirements, w.lockOptions(w.Source))
	return pins, complete && err == nil, err
}

// covers reports whether a pinned requirement meets one that is added: the version fits, and it
// has its extras, whose packages are then pinned, too.
func covers(pinned, added string) bool {
	p, err := requirement.Parse(pinned)
	if err != nil {
		return false
	}
	a, err := requirement.Parse(added)
	if err != nil || requirement.Normalize(p.Name) != requirement.Normalize(a.Name) {
		return false
	}
	text, _ := p.Specifiers.Pinned()
	v, err := requirement.ParseVersion(text)
	if err != nil || !a.Specifiers.Contain(v) {
		return false
	}
	return !slices.ContainsFunc(a.Extras, func(extra string) bool { return !slices.Contains(p.Extras, extra) })
}

func located(packages []deps.Package) (err error) {
	for _, p := range packages {
		if p.Wheel == nil {
			continue
		}
		if *p.Wheel, err = Locate(*p.Wheel); err != nil {
			return fmt.Errorf("package %s: %w", p.Name, err)
		}
	}
	return nil
}

// pinned finds the wheels of pins: in directories, then in the indexes.
func (r Resolver) pinned(ctx context.Context, w Request) ([]deps.Package, error) {
	pins, _, err := w.pins()
	if err != nil {
		return nil, &MistakeError{err}
	}
	if err = w.checkConstraints(pins); err == nil {
		err = w.checkBuilds()
	}
	if err != nil {
		return nil, err
	}
	s, err := r.sources(w)
	if err != nil {
		return nil, err
	}
	var found []deps.Package
	var rest []deps.Pin
	for _, pin := range pins {
		p, ok, err := FindInDirs(s.Dirs(), pin, w.Target)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, p)
		} else {
			rest = append(rest, pin)
		}
	}
	if len(rest) == 0 {
		return found, nil
	}
	if err := r.authorize(ctx, &s); err != nil {
		return nil, err
	}
	asked, err := Find(ctx, r.HTTP, s.Bases(), rest, w.Target)
	err = s.HideIn(err)
	var missing *MissingError
	if errors.As(err, &missing) {
		next := ": correct its version, name an index that has it, or lock the requirements again"
		if s.NoIndex != "" {
			next = fmt.Sprintf(", and %s disables package indexes: put its file into a directory of --find-links", s.NoIndex)
		}
		return nil, &MistakeError{fmt.Errorf("%s: %w%s", w.placeOf(missing.Pin.Name), err, next)}
	}
	if err == nil {
		err = located(asked)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the wheels of %s: %w", w.Source, err)
	}
	return append(found, asked...), nil
}

func (w Request) placeOf(name string) string {
	for _, l := range w.Requirements {
		if requirement.Normalize(l.Name()) == name {
			return l.Place()
		}
	}
	return w.Source
}

// checkConstraints returns a *ConflictError if a constraint excludes a pin.
func (w Request) checkConstraints(pins []deps.Pin) error {
	for _, l := range w.Constraints {
		c, err := requirement.Parse(l.Text)
		if err != nil {
			continue
		}
		for _, pin := range pins {
			v, err := requirement.ParseVersion(pin.Version)
			if err != nil || pin.Name != requirement.Normalize(c.Name) || c.Specifiers.Contain(v) {
				continue
			}
			if holds, err := c.Marker.Holds(w.lockOptions("").Environment()); err != nil || !holds {
				continue
			}
			lines := []deps.Line{l}
			for _, r := range w.Requirements {
				if requirement.Normalize(r.Name()) == pin.Name {
					lines = append(lines, r)
				}
			}
			return &ConflictError{By: Hashes, Lines: lines, Output: fmt.Sprintf("%s==%s is excluded by the constraint %s", pin.Name, pin.Version, l.Text)}
		}
	}
	return nil
}
