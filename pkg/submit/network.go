package submit

import (
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// WantedNetwork returns the network that the hosts of a job should talk over, as far as that follows from the job: if
// why is empty, a node pool decides whether they can. A job without several hosts of GPUs has none.
func WantedNetwork(s api.Spec) (n api.Network, why string) {
	if s.Backend == api.BackendLocal || s.Hosts == 1 || s.Accelerator.Kind != api.GPU {
		return "", ""
	}
	machine := s.Accelerator.MachineType
	switch kind := accelerator.NetworkOf(machine); {
	case s.Network == api.NetworkTCP:
		return api.NetworkTCP, "--network is tcp"
	case kind == accelerator.TCPX:
		return api.NetworkTCP, "kinetic has no manifests for GPUDirect-TCPX, the network of " + machine
	case kind != api.NetworkRDMA && kind != api.NetworkTCPXO:
		return api.NetworkTCP, "kinetic knows no other network of " + machine
	case s.Restricted:
		return api.NetworkTCP, "the pods of --restricted can't use directories of their nodes"
	case s.Network == "" && waitsForClaim(s, kind):
		return api.NetworkTCP, "from v0.18 on, Kueue admits no job with a claim of RDMA cards; with an older Kueue, use --network rdma"
	case s.Network == "" && (s.Capacity.Kind == api.CapacityClass || s.AutopilotClass != ""):
		return api.NetworkTCP, "a ComputeClass decides which nodes are made"
	default:
		return kind, ""
	}
}

// waitsForClaim reports whether a queue would never admit a job on a network: from v0.18 on, Kueue counts what pods
// claim, and refuses claims of all devices of a class (github.com/kubernetes-sigs/kueue, pkg/dra/claims.go), also of a
// class that its deviceClassMappings name. The pods of RDMA have such a claim.
func waitsForClaim(s api.Spec, n api.Network) bool {
	return s.Queue != "" && n == api.NetworkRDMA
}

// LosesNetwork reports whether a job with a queue gets plain TCP although its machines have RDMA, and nobody asked for
// that.
func LosesNetwork(s api.Spec) bool {
	return s.Network == "" && !s.Restricted && waitsForClaim(s, accelerator.NetworkOf(s.Accelerator.MachineType))
}
