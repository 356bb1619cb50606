package accelerator

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Text spells a shape without relying on defaults, and Parse reads it back: "v6e-2x4:spot",
// "l4x2", "cpu". The number of hosts is not part of it: where a topology exists on one host
// and on several, Options.Backend decides again.
func Text(a api.Accelerator) string {
	text := a.Short()
	if a.Kind == api.TPU {
		text = a.Name + "-" + a.Topology
	}
	if a.Spot {
		text += spotSuffix
	}
	return text
}

// TextByChips spells a shape by its number of chips: "v6e-8", "l4x2", "cpu". Parse reads it as
// the usual shape with so many chips, which may be another one.
func TextByChips(a api.Accelerator) string {
	if f := builtin().byName[a.Name]; f != nil {
		return f.spell(a.Chips)
	}
	return a.Short()
}

// Describe returns one line for people: `v6e 2x4: 8 chips on 1 host (ct6e-standard-8t),
// spot`, without the machine type if that is empty. If Google Cloud has another name for a
// TPU, the line has that too: `(ct5p-hightpu-4t; Google Cloud: v5p-16)`.
func Describe(a api.Accelerator) string {
	var parts []string
	switch a.Kind {
	case api.TPU:
		parts = append(parts, fmt.Sprintf("%s %s: %s on %s%s", a.Name, a.Topology,
			count(a.Chips, "chip"), count(a.Hosts, "host"), names(a)))
	case api.GPU:
		parts = append(parts, fmt.Sprintf("%s: %s on %s%s", a.Name,
			count(a.Chips, "GPU"), count(a.Hosts, "host"), names(a)))
	default:
		parts = append(parts, "cpu: no accelerator")
	}
	if a.Arch != "" {
		parts = append(parts, a.Arch)
	}
	if a.Spot {
		parts = append(parts, "spot")
	}
	return strings.Join(parts, ", ")
}

// names returns the machine type and Google Cloud's name in parentheses, "" if a has
// neither.
func names(a api.Accelerator) string {
	var known []string
	if a.MachineType != "" {
		known = append(known, a.MachineType)
	}
	if name := googleName(a); name != "" {
		known = append(known, "Google Cloud: "+name)
	}
	if known == nil {
		return ""
	}
	return " (" + strings.Join(known, "; ") + ")"
}

// v5e is the only TPU that Google Cloud gives another name, not just another number.
const (
	v5e       = "v5e"
	googleV5e = "v5litepod"
)

// googleName returns Google Cloud's name of a TPU slice, "" if that is the same as ours.
// Most of Google Cloud's names count cores. The same text may mean another slice here.
func googleName(a api.Accelerator) string {
	f := builtin().byName[a.Name]
	switch {
	case f == nil || a.Kind != api.TPU:
		return ""
	case a.Name == v5e:
		return fmt.Sprintf("%s-%d", googleV5e, a.Chips)
	case f.cores > 1:
		return f.spell(f.cores * a.Chips)
	}
	return ""
}

// PriceBasis returns the region and the month of a shape's price: "us-central1, 2026-08".
// It is empty for a shape without a price.
func PriceBasis(a api.Accelerator) string {
	f := builtin().byName[a.Name]
	if f == nil || a.PricePerHour == nil {
		return ""
	}
	for _, s := range f.shapes {
		if s.typ == a.MachineType {
			return s.region + ", " + s.asOf
		}
	}
	return ""
}

// count returns "1 host", "2 hosts".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
