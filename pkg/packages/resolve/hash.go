package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// hashed reports whether the project's files name all packages with their hashes, as with pip's
// --require-hashes. What the runtime adds has none.
func (w Request) hashed() bool {
	return len(w.Requirements) > 0 && len(w.Added) == 0 && !slices.ContainsFunc(w.Requirements, func(l deps.Line) bool { return len(l.Hashes) == 0 })
}

// checkPinned returns a *MistakeError if every requirement has hashes but one has no version: another
// version would have other hashes.
func (w Request) checkPinned() error {
	if !w.hashed() {
		return nil
	}
	for _, l := range w.Requirements {
		r, err := requirement.Parse(l.Text)
		if _, pinned := r.Specifiers.Pinned(); err != nil || l.Name() == "" || r.URL != "" || pinned {
			continue
		}
		if wanted, err := r.Marker.Holds(w.lockOptions("").Environment()); err == nil && wanted {
			return &MistakeError{fmt.Errorf("%s: %q has hashes but no exact version (%s==VERSION): with hashes, every requirement needs one; lock the requirements again, or remove all hashes", l.Place(), l.Text, r.Name)}
		}
	}
	return nil
}

// checkHash returns a *MistakeError if the hash of the chosen wheel is not among those of its requirements and
// constraints, or if they have none although all packages need one.
func (j *job) checkHash(p deps.Package) error {
	found := false
	for _, l := range slices.Concat(j.wish.Requirements, j.wish.Constraints) {
		inURL := lazyregexp.Of(`#(?:.*&)?(sha256|sha384|sha512)=([0-9A-Fa-f]+)`).FindStringSubmatch(l.Text)
		if len(l.Hashes) == 0 && inURL == nil || l.Project() != p.Name {
			continue
		}
		r, err := requirement.Parse(l.Text)
		if err != nil && l.Name() != "" {
			return err
		}
		if at := lazyregexp.Of(` ;|; `).FindStringIndex(l.Text); at != nil && l.Name() == "" {
			if r.Marker, err = requirement.ParseMarker(l.Text[at[1]:]); err != nil {
				return &MistakeError{fmt.Errorf("%s: %w", l.Place(), err)}
			}
		}
		if wanted, err := r.Marker.Holds(j.wish.lockOptions("").Environment()); err != nil || !wanted {
			continue
		}
		hashes := l.Hashes
		switch {
		case inURL == nil:
		case inURL[1] == "sha256":
			hashes = append(slices.Clip(hashes), "sha256:"+strings.ToLower(inURL[2]))
		case j.tool.way() == UV && len(hashes) == 0: // pip has compared it
			return &MistakeError{fmt.Errorf("%s: uv does not compare the hash behind the # of %s: give its SHA-256, #sha256=%s if the file is the right one", l.Place(), p.Wheel.File, p.Wheel.SHA256)}
		}
		if len(hashes) > 0 && !slices.Contains(hashes, "sha256:"+p.Wheel.SHA256) {
			return &MistakeError{fmt.Errorf("%s: %s has the SHA-256 %s, which is not among the hashes of %s: if the file changed on purpose, make them again",
				l.Place(), p.Wheel.File, p.Wheel.SHA256, p.Name)}
		}
		found = true
	}
	if !found && (j.wish.hashed() || j.wish.HashesAt != "") {
		return &MistakeError{fmt.Errorf("%s needs %s %s, but has no line with its hash: with hashes, every package needs a line; lock the requirements again, or remove all hashes",
			j.wish.Source, p.Name, p.Version)}
	}
	return nil
}
