package accelerator

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Text spells a shape without a choice left to a default, and Parse reads it
// back: "v6e-2x4:spot", "l4x2", "cpu". The number of hosts is not part of it:
// where a topology exists on one host and on several, Options.Backend decides
// again.
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

// Describe is one line for people: `v6e 2x4: 8 chips on 1 host
// (ct6e-standard-8t), spot`, without the machine type where that is empty. Where Cloud TPU's names count cores it ends with
// which reading was taken: `(chips; Cloud TPU's v5p-16)`.
func Describe(a api.Accelerator) string {
	var parts []string
	switch a.Kind {
	case api.TPU:
		parts = append(parts, fmt.Sprintf("%s %s: %s on %s%s", a.Name, a.Topology,
			count(a.Chips, "chip"), count(a.Hosts, "host"), machineType(a)))
	case api.GPU:
		parts = append(parts, fmt.Sprintf("%s: %s on %s%s", a.Name,
			count(a.Chips, "GPU"), count(a.Hosts, "host"), machineType(a)))
	default:
		parts = append(parts, "cpu: no accelerator")
	}
	if a.Arch != "" {
		parts = append(parts, a.Arch)
	}
	if a.Spot {
		parts = append(parts, "spot")
	}
	text := strings.Join(parts, ", ")
	if f := builtin().byName[a.Name]; f != nil && f.cores > 1 {
		text += fmt.Sprintf(" (chips; Cloud TPU's %s)", f.spell(f.cores*a.Chips))
	}
	return text
}

func machineType(a api.Accelerator) string {
	if a.MachineType == "" {
		return ""
	}
	return " (" + a.MachineType + ")"
}

// PriceBasis says where and when the price of a shape was true: "us-central1,
// 2026-08". It is empty for a shape without a price.
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

// count is "1 host", "2 hosts".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
