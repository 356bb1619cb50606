package accelerator

import (
	_ "embed" // for the data file
	"strings"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

//go:embed disks.txt
var disksText string

// disks is one line of disks.txt, which explains the columns.
type disks struct {
	machines string
	boot     string
	attach   []string
}

// builtinDisks returns the embedded table.
var builtinDisks = sync.OnceValue(func() (table []disks) {
	for fields := range dataLines(disksText) {
		table = append(table, disks{machines: fields[0], boot: fields[1], attach: strings.Split(fields[2], ",")})
	}
	return table
})

// disksOf returns the line for a machine type, with the longest beginning. It is zero for machines without
// one.
func disksOf(machine string) disks {
	var best disks
	for _, d := range builtinDisks() {
		if strings.HasPrefix(machine, d.machines) && len(d.machines) > len(best.machines) {
			best = d
		}
	}
	return best
}

// BootDisk returns the type of the disk from which nodes of a machine type start, such as pd-balanced; ""
// for machines that are in no shape of the catalogue.
func BootDisk(machine string) string { return disksOf(machine).boot }

// Disks lists the types of disks that a machine type can attach, such as hyperdisk-balanced; none if that is
// not known. The caller must not change the list.
func Disks(machine string) []string { return disksOf(machine).attach }

// Unattachable returns the type of a disk and that of a machine, if a message of Compute Engine says that the
// one can't be attached to the other; else "".
func Unattachable(message string) (disk, machine string) {
	// Compute Engine, and GKE's driver of its disks, say it in one of these ways.
	for _, form := range []string{
		`\b((?:pd|hyperdisk)-[a-z-]+) disk type cannot be used by ([a-z0-9-]+) machine type`,
		`\[((?:pd|hyperdisk)-[a-z-]+), ([a-z0-9-]+)\] features are not compatible`,
		`'((?:pd|hyperdisk)-[a-z-]+)' is not a compatible disk type with the machine type '?([a-z0-9-]+)`,
	} {
		if m := lazyregexp.Of(form).FindStringSubmatch(message); m != nil {
			return m[1], m[2]
		}
	}
	return "", ""
}
