package api

import (
	"fmt"
	"strconv"
	"strings"
)

// PathwaysWish is what the user said about the Pathways runtime.
type PathwaysWish struct {
	// Version is the tag of the runtime's images, "" for the one that fits the job's JAX.
	Version string
	// Images is the repository of the runtime's images, "" for Google's.
	Images string
	// XLAFlags are flags of the XLA compiler, in the order given.
	XLAFlags []string
	// NoNetworkPolicy leaves out the NetworkPolicy around the job's pods.
	NoNetworkPolicy bool
}

// Pathways is the runtime of a job with BackendPathways: host 0, which has no chips, runs the call and sees the chips of
// all TPU hosts.
type Pathways struct {
	// Version is the tag of the images, such as jax-0.9.2; "" until the job's JAX is known.
	Version string `json:"version"`
	// Server is the image of the resource manager and the workers, Proxy the image of the proxy.
	Server string `json:"server"`
	Proxy  string `json:"proxy"`
	// TPUHosts is the number of hosts with chips.
	TPUHosts int `json:"tpu_hosts"`
	// Instance is what the runtime calls the slice, such as tpuv6e:4x4.
	Instance string `json:"instance"`
	// XLAFlags are flags of the XLA compiler, which runs in the proxy.
	XLAFlags []string `json:"-"`
	// OpenNetwork leaves out the NetworkPolicy.
	OpenNetwork bool `json:"-"`
}

// What the sidecars together request beside the call, which the manifests say, too. A TPU host requests only chips.
const (
	PathwaysCPUs = 6
	PathwaysGiB  = 20
)

// PathwaysScratch is the place below the store that the runtimes of all jobs share: a bucket can have only so many.
const PathwaysScratch = "pathways"

// AnnotationPathways is Pathways.Version, on a LeaderWorkerSet with the runtime.
const AnnotationPathways = AnnotationPrefix + "pathways"

// IsLeaderWorkerSet reports whether a LeaderWorkerSet runs the jobs of a backend.
func (b Backend) IsLeaderWorkerSet() bool { return b == BackendLWS || b == BackendPathways }

// Machines returns how many machines a job has: its hosts, or the TPU hosts of the Pathways runtime, one of which has
// room for host 0.
func (s Spec) Machines() int {
	if s.Pathways != nil {
		return s.Pathways.TPUHosts
	}
	return s.Hosts
}

// Machines returns how many machines a job has, as a Spec's does.
func (h Handle) Machines() int {
	if h.Pathways != nil {
		return h.Pathways.TPUHosts
	}
	return h.Hosts
}

// Parts returns the names of the parts of the runtime: rm, proxy and worker-0, worker-1 and so on, one for each TPU host.
func (p *Pathways) Parts() []string {
	if p == nil {
		return nil
	}
	parts := []string{Contract.Parts.Manager, Contract.Parts.Proxy}
	for i := range p.TPUHosts {
		parts = append(parts, WorkerPart(i))
	}
	return parts
}

func partWorker() string { return strings.TrimSuffix(Contract.Parts.Worker, "%d") }

// WorkerPart returns the name of the part of the runtime on a TPU host.
func WorkerPart(host int) string { return fmt.Sprintf(Contract.Parts.Worker, host) }

// WorkerTitle returns what sentences call a TPU host.
func WorkerTitle(host int) string { return fmt.Sprintf(Contract.Parts.WorkerTitle, host) }

// IsWorkerPart reports whether a part of the runtime is on a TPU host, with chips.
func IsWorkerPart(part string) bool { return strings.HasPrefix(part, partWorker()) }

// IsPart reports whether a word may be the name of a part of the runtime.
func IsPart(word string) bool {
	number, isWorker := strings.CutPrefix(word, partWorker())
	_, err := strconv.ParseUint(number, 10, 16)
	return word == Contract.Parts.Manager || word == Contract.Parts.Proxy || isWorker && err == nil
}

// PartOf returns what users call a sidecar of the runtime, "" for any other container.
func PartOf(container string) string {
	return map[string]string{Contract.Pathways.Manager: Contract.Parts.Manager, Contract.Pathways.Proxy: Contract.Parts.Proxy}[container]
}

// PartPlace returns the number of the pod and the container of a part of the runtime.
func PartPlace(part string) (pod int, container string) {
	switch part {
	case Contract.Parts.Manager:
		return 0, Contract.Pathways.Manager
	case Contract.Parts.Proxy:
		return 0, Contract.Pathways.Proxy
	}
	host, _ := strconv.Atoi(strings.TrimPrefix(part, partWorker())) // of Parts
	return host + 1, Contract.Pathways.Worker
}
