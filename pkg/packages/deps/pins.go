package deps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// Pin is a package with a known version and known hashes of its files. Where the files are is
// not known.
type Pin struct {
	Name    string // normalized
	Version string
	Hashes  []string // SHA-256 in hexadecimal
}

// Pins returns the pins of requirements that name every package with its version and hashes,
// as pip-compile --generate-hashes writes them, and whether they do. Those whose marker does not
// hold for the target are left out. Several lines of one package are one pin, with the hashes that all of them have.
func Pins(lines []Line, o LockOptions) (pins []Pin, complete bool, err error) {
	var places []string // of the pins
	for _, l := range lines {
		if len(l.Hashes) == 0 || l.Name() == "" {
			return nil, false, nil
		}
		r, err := requirement.Parse(l.Text)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", l.Place(), err)
		}
		version, pinned := r.Specifiers.Pinned()
		if !pinned || r.URL != "" {
			return nil, false, nil
		}
		wanted, err := r.Marker.Holds(o.Environment())
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", l.Place(), err)
		}
		if !wanted {
			continue
		}
		pin := Pin{Name: requirement.Normalize(r.Name), Version: version}
		for _, hash := range l.Hashes {
			if sum, ok := strings.CutPrefix(hash, "sha256:"); ok {
				pin.Hashes = append(pin.Hashes, strings.ToLower(sum))
			}
		}
		if i := slices.IndexFunc(pin.Hashes, func(sum string) bool { return !lazyregexp.Of(sha256Form).MatchString(sum) }); i >= 0 {
			return nil, false, fmt.Errorf("%s: --hash=sha256:%s: a SHA-256 has 64 hexadecimal digits", l.Place(), pin.Hashes[i])
		}
		if len(pin.Hashes) == 0 {
			return nil, false, fmt.Errorf("%s: %s has no hash that begins with sha256: only that kind is checked", l.Place(), l.Text)
		}
		i := slices.IndexFunc(pins, func(p Pin) bool { return p.Name == pin.Name })
		if i < 0 {
			pins, places = append(pins, pin), append(places, l.Place())
			continue
		}
		if err := pins[i].merge(pin); err != nil {
			return nil, false, fmt.Errorf("%s and %s: %w", places[i], l.Place(), err)
		}
	}
	return pins, len(lines) > 0, nil
}

// merge adds what another line pins of the same package.
func (p *Pin) merge(other Pin) error {
	order, err := requirement.CompareVersions(p.Version, other.Version)
	if p.Version != other.Version && (err != nil || order != 0) {
		return fmt.Errorf("%s is %s in one and %s in the other: lock the files together, or give the second the first as a constraint", p.Name, p.Version, other.Version)
	}
	p.Hashes = slices.DeleteFunc(p.Hashes, func(sum string) bool { return !slices.Contains(other.Hashes, sum) })
	if len(p.Hashes) == 0 {
		return fmt.Errorf("they have no hash of %s in common: lock the requirements again", p.Name)
	}
	return nil
}
