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
// hold for the target are left out.
func Pins(lines []Line, o LockOptions) (pins []Pin, complete bool, err error) {
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
		pins = append(pins, pin)
	}
	return pins, len(lines) > 0, nil
}
