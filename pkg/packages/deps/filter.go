package deps

import (
	"fmt"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// keep is the comment that keeps a requirement from the filter.
const keep = "# kn:keep"

// pythonTool is the client that this one descends from. A job that was submitted needs no client.
const pythonTool = "keras-kinetic"

// filter drops what is provided, and the Python tool, unless the line says that it has to be kept.
func (r *reader) filter() {
	// provided are the packages that a job gets in the version that fits its accelerator.
	provided := []string{"jax", "jaxlib", "libtpu", "libtpu-nightly"}
	w := &r.wanted
	var left []Line
	for _, l := range w.Requirements {
		switch name := requirement.Normalize(l.Name()); {
		case l.kept:
		case name == pythonTool:
			r.warn(fmt.Sprintf("%s (%s) is left out: the job does not need it; to keep it, end the line with # kn:keep", l.Name(), l.Place()))
			continue
		case slices.Contains(provided, name):
			w.Dropped = append(w.Dropped, l)
			continue
		}
		left = append(left, l)
	}
	w.Requirements = left
}
