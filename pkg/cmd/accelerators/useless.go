package accelerators

import (
	"fmt"
	"math"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// useless says which words leave nothing, and what is nearest. all are all offers, left those that fit.
func (f filter) useless(all, left []offer) []string {
	var said []string
	for i, group := range f.groups {
		for _, w := range group {
			switch {
			case len(group) > 1 && !slices.ContainsFunc(left, w.allows):
				said = append(said, fmt.Sprintf("filter %q: no accelerator matches this and the other filters", w.typed))
			case len(left) == 0 && !slices.ContainsFunc(all, w.allows):
				said = append(said, fmt.Sprintf("filter %q: no accelerator has that%s", w.typed, w.nearest(all)))
			case len(left) == 0 && len(group) == 1:
				others := f.without(i, all)
				if len(others) > 0 {
					said = append(said, fmt.Sprintf("filter %q: %s without it%s", w.typed, fit(len(others)), w.nearest(others)))
				}
			}
		}
	}
	if len(left) == 0 && len(said) == 0 {
		said = append(said, "use fewer filters")
	}
	return said
}

// without returns the offers that all groups but one allow; with -1, all groups.
func (f filter) without(but int, all []offer) []offer {
	return slices.DeleteFunc(slices.Clone(all), func(o offer) bool {
		for i, group := range f.groups {
			if i != but && !slices.ContainsFunc(group, func(w word) bool { return w.allows(o) }) {
				return true
			}
		}
		return false
	})
}

// nearest says what of some offers is nearest to a limit, "" if the word is none.
func (w word) nearest(some []offer) string {
	if w.limit == nil {
		return ""
	}
	var nearest offer
	least, found := math.Inf(1), 0.0
	for _, o := range some {
		if value, known := w.limit.of(o); known && math.Abs(value-w.limit.number) < least {
			nearest, found, least = o, value, math.Abs(value-w.limit.number)
		}
	}
	if math.IsInf(least, 1) {
		return ", and none has a known price"
	}
	return fmt.Sprintf("; the nearest is %s with %s", nearest.text(), w.limit.text(found))
}

func fit(n int) string {
	if n == 1 {
		return "1 accelerator fits"
	}
	return human.Count(n, "accelerator") + " fit"
}
