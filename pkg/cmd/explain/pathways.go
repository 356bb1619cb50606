package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// explainedPathways is the Pathways runtime of a job. The pod that runs the call is on a TPU host, so it costs nothing more.
type explainedPathways struct {
	// Version is the tag of its images, null before the job's JAX is known, as are Server and Proxy, the images.
	Version *string `json:"version"`
	Server  *string `json:"server"`
	Proxy   *string `json:"proxy"`
	// CPU and Memory are what its sidecars request beside the call.
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
	// Scratch is where compiled programs are kept, null for nowhere.
	Scratch *string `json:"scratch"`
	// NetworkPolicy says whether one keeps other pods away.
	NetworkPolicy bool `json:"networkPolicy"`
}

// explainPathways returns the runtime of a job, nil for a job without one.
func explainPathways(s api.Spec) *explainedPathways {
	r := s.Pathways
	if r == nil {
		return nil
	}
	e := explainedPathways{Version: Optional(r.Version), Server: Optional(r.Server), Proxy: Optional(r.Proxy),
		CPU: fmt.Sprint(api.PathwaysCPUs), Memory: fmt.Sprintf("%dGi", api.PathwaysGiB), NetworkPolicy: !r.OpenNetwork}
	if strings.HasPrefix(s.Store, "gs://") {
		e.Scratch = Optional(s.Store + "/" + api.PathwaysScratch)
	}
	return &e
}

func (e explainedPathways) text() string {
	version, kept := "the version that fits the job's JAX", "compiled programs are not kept"
	if e.Version != nil {
		version = *e.Version
	}
	if e.Scratch != nil {
		kept = "compiled programs in " + *e.Scratch
	}
	text := fmt.Sprintf("%s, with cpu %s and memory %s beside the call, on a TPU host, at no extra cost; %s", version, e.CPU, e.Memory, kept)
	if !e.NetworkPolicy {
		text += "; its ports are open to all pods"
	}
	return text
}
