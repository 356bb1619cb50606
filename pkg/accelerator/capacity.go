package accelerator

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// HasFlexStart reports whether the Dynamic Workload Scheduler offers a's machines. It does
// not offer the oldest TPUs, and A4X machines come from reservations alone.
func HasFlexStart(a api.Accelerator) bool {
	return a.Name != "v3" && a.Name != "v4" && !OnlyReserved(a)
}

// OnlyReserved reports whether a's machines come from reservations alone: A4X
// (docs.cloud.google.com/ai-hypercomputer/docs/consumption-models).
func OnlyReserved(a api.Accelerator) bool { return strings.HasPrefix(a.MachineType, "a4x-") }

// IsBareMetal reports whether a's machines are bare metal, which neither GKE's autoscaler nor its network profiles know.
func IsBareMetal(a api.Accelerator) bool { return strings.HasSuffix(a.MachineType, "-metal") }

// HasCompactPlacement reports whether machines of GPUs can be placed close to each other. Of those in the catalogue,
// N1 can't, as in GKE's own autoscaler (github.com/GoogleCloudPlatform/cluster-autoscaler, machinetypes,
// supportCompactPlacement). A4X machines have a workload policy instead, and TPUs a topology.
func HasCompactPlacement(a api.Accelerator) bool { return !strings.HasPrefix(a.MachineType, "n1-") }

// NotOnDemand returns the flags that choose how a's machines come if Google Cloud doesn't sell them on demand,
// the safest first; none for all other machines. A3 machines with fewer than 8 GPUs come as spot or from the
// Dynamic Workload Scheduler, A4X machines from reservations
// (docs.cloud.google.com/compute/docs/accelerator-optimized-machines).
func NotOnDemand(a api.Accelerator) []string {
	switch {
	case a.Name == "h100" && a.ChipsPerHost < 8:
		return []string{"--flex-start", "--spot"}
	case OnlyReserved(a):
		return []string{"--reservation"}
	}
	return nil
}

// CapacityDoubts returns warnings about where the machines of a job's hosts come from. queued means that a queue
// decides when the job starts.
func CapacityDoubts(a api.Accelerator, from api.CapacityKind, hosts int, queued bool) []string {
	var doubts []string
	switch flags := NotOnDemand(a); {
	case OnlyReserved(a) && a.Spot:
		doubts = append(doubts, fmt.Sprintf("Google Cloud has no spot %s: use --reservation instead of spot, or the job may wait for ever", a.MachineType))
	case flags != nil && from == api.CapacityOnDemand && !a.Spot:
		doubts = append(doubts, fmt.Sprintf("Google Cloud sells no %s on demand: without %s, the job may wait for ever", a.MachineType, strings.Join(flags, " or ")))
	}
	if from == api.CapacityFlexStart && !queued && hosts > 1 && a.Kind == api.GPU {
		doubts = append(doubts, fmt.Sprintf("--flex-start: the %d hosts come one by one, and each is paid from then on, while the job waits for the last one", hosts))
	}
	return doubts
}

// WithHosts returns the shape of the same TPU with that many hosts. If there is none, it
// takes the next larger number of hosts, or else the largest. Among shapes with equally
// many hosts it takes the one with the most chips.
func WithHosts(a api.Accelerator, hosts int) api.Accelerator {
	best, known := a, map[string]bool{}
	for _, s := range Catalogue() {
		text := Text(s)
		if s.Name != a.Name || known[text] { // Parse reads a text as the first of its shapes
			continue
		}
		known[text] = true
		if best.Hosts < hosts && s.Hosts > best.Hosts || s.Hosts >= hosts && s.Hosts <= best.Hosts {
			best = s
		}
	}
	return best
}

// OnMoreHosts returns the same slice on more hosts: nodes with the label and the topology, and fewer chips for each host.
func OnMoreHosts(label, topology string, chipsPerHost int) (a api.Accelerator, found bool) {
	for _, s := range Catalogue() {
		if s.Kind == api.TPU && s.Label == label && s.Topology == topology && s.ChipsPerHost < chipsPerHost {
			return s, true
		}
	}
	return api.Accelerator{}, false
}

// HasMultislice reports whether slices of a TPU can be joined by the data center network:
// multi-host slices of all but the oldest TPUs.
func HasMultislice(a api.Accelerator) bool {
	return a.Kind == api.TPU && a.Hosts > 1 && a.Name != "v3"
}

// MaxDisk is the most of a node's disk that a pod in a compute class may request, in bytes; 0
// if that is not known. Autopilot's classes without accelerators share small disks among pods,
// but for Performance, whose pods have machines of their own.
func MaxDisk(class string) int64 {
	if class == "Balanced" || class == "Scale-Out" {
		return 10 << 30
	}
	return 0
}

// TakesComputeClass reports whether pods of a kind can be in a compute class. Of
// Autopilot's built-in classes, AcceleratorClass is for accelerators only and the others
// are for CPUs only; any other class belongs to the cluster and takes every kind.
func TakesComputeClass(kind api.AcceleratorKind, class string) bool {
	return !api.IsBuiltInClass(class) || (class == api.AcceleratorClass) == (kind != api.CPU)
}
