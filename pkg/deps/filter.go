package deps

import (
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/requirement"
)

// keep is the comment that keeps a requirement from the filter.
const keep = "# kn:keep"

// provided are the packages that a job gets in the version that fits its accelerator.
var provided = []string{"jax", "jaxlib", "libtpu", "libtpu-nightly"}

// filter drops what is provided, unless its line says that it has to be kept.
func (r *reader) filter() {
	w := &r.wanted
	var left []Line
	for _, l := range w.Requirements {
		isProvided := slices.Contains(provided, requirement.Normalize(l.Name()))
		if isProvided && !l.kept {
			w.Dropped = append(w.Dropped, l)
			continue
		}
		left = append(left, l)
	}
	w.Requirements = left
}
