package api

import (
	"strconv"
	"time"
)

// Placement says what the pods of a job run on. In a Request it is as typed, in a Spec all
// defaults are filled in.
type Placement struct {
	// Backend is what runs the job; empty in a Request for auto.
	Backend Backend
	// AcceleratorText is the accelerator as typed.
	AcceleratorText string
	// Hosts is the number of pods in all slices together, numbered from 0. In a Request it
	// is the number of CPU or GPU hosts, 0 for one.
	Hosts int
	// Slices is the number of TPU slices, which have equally many hosts; 0 in a Request for
	// one.
	Slices int
	// NodePools says whether slices share node pools, empty for exclusive.
	NodePools NodePools
	// Network is what the GPUs of several hosts talk over; empty in a Request to choose what the
	// nodes have, in a Spec for NetworkTCP and for jobs without several hosts of GPUs.
	Network Network
	// Image is what the container runs.
	Image string
	// CPU, Memory and Disk are what a host requests: Kubernetes quantities, empty for none.
	CPU, Memory, Disk string
	// DiskClass is the StorageClass of a volume of size Disk for the job's files; empty for none,
	// or for the cluster's default (Spec.DiskVolume).
	DiskClass string
	// Queue, PriorityClass and ServiceAccount are names in Kubernetes, empty for none.
	Queue, PriorityClass, ServiceAccount string
	// StoreCredentials names the Secret whose key.json gives the pod access to the store,
	// empty if the node's identity does.
	StoreCredentials string
	// Restricted makes the pods comply with the PodSecurity level restricted.
	Restricted bool
	// Labels and Annotations are what the user adds to the workload and its pods.
	Labels, Annotations map[string]string
	// Accelerator is what AcceleratorText means. A Request always has one.
	Accelerator Accelerator
	// Capacity is the one way to get the machines. Only a Spec has it; a Request has what the flags say.
	Capacity Capacity
	// AutopilotClass is one of BuiltInClasses, which work with any capacity; "" for none. Only a Spec has it.
	AutopilotClass string
}

// NodePools says whether the hosts of a TPU slice have a node pool to themselves.
type NodePools string

// The values of NodePools.
const (
	NodePoolsExclusive NodePools = "exclusive"
	NodePoolsShared    NodePools = "shared"
)

// Network is what the accelerators of several hosts talk over.
type Network string

// The networks that a job can choose. TCP is the one that every machine has.
const (
	NetworkTCP   Network = "tcp"
	NetworkRDMA  Network = "rdma"  // GPUDirect RDMA, with NCCL's plugin gIB
	NetworkTCPXO Network = "tcpxo" // GPUDirect-TCPXO
)

// Words returns the name of a network that a job can choose, for people.
func (n Network) Words() string {
	switch n {
	case NetworkRDMA:
		return "RDMA"
	case NetworkTCPXO:
		return "TCPXO"
	}
	return "plain TCP"
}

// OutputMountPath is where the outputs of a job are mounted.
const OutputMountPath = "/kinetic-outputs"

// Execution says how the call of a job runs, independent of the host. In a Request it is as
// typed, in a Spec all defaults are filled in.
type Execution struct {
	// Env is in the order given, each name only once.
	Env []EnvVar
	// OutputDir is KINETIC_OUTPUT_DIR if the user chose one; empty for the job's own prefix
	// in the store.
	OutputDir string
	// OutputSync is how often finished outputs are saved while the call runs: zero means the
	// runner's default, negative only at the end.
	OutputSync time.Duration
	// OutputMount mounts the place of the outputs in the bucket, instead of saving them there.
	OutputMount bool
	// ResumeFrom is the ID of the job with whose outputs this one begins; empty for none.
	ResumeFrom string
	// Retries is how often the job may start again. Negative in a Request means the
	// default: 3 with spot capacity and for a map, else 0.
	Retries int
	// RetryOn says which failures are retried; the zero value is RetryOnCrash.
	RetryOn RetryOn
	// MaxDisruptions is how often the job may lose its machine before it ends; negative in
	// a Request for the default.
	MaxDisruptions int
	// MaxRuntime limits one attempt; 0 means no limit.
	MaxRuntime time.Duration
	// HangTimeout is how long the call may print, write and finish nothing before its stacks are printed; 0 for ever.
	// HangAction says what happens then; the zero value is HangStacks.
	HangTimeout time.Duration
	HangAction  HangAction
	// MaxCost is the list price in USD at which the call ends; 0 means no limit. Budget, only in a
	// Spec, is for how long it pays, all attempts together.
	MaxCost float64
	Budget  time.Duration
	// Processes is how often the call is started on each host: a number, ProcessesAuto, or "" for one process that is not
	// numbered.
	Processes string
	// Debug makes the call wait for a debugger before it begins.
	Debug bool
}

// OutputArguments returns the runner's arguments about outputs.
func (e Execution) OutputArguments() []string {
	var args []string
	if e.OutputDir != "" {
		args = append(args, "--output-dir", e.OutputDir)
	}
	if e.OutputSync != 0 {
		args = append(args, "--output-sync", strconv.FormatFloat(max(e.OutputSync, 0).Seconds(), 'f', -1, 64))
	}
	if e.OutputMount {
		args = append(args, "--output-mount", OutputMountPath)
	}
	if e.ResumeFrom != "" {
		args = append(args, "--resume-from", e.ResumeFrom)
	}
	return args
}

// ProcessesAuto starts one process for each GPU of a host if PyTorch is installed there, and one if JAX is.
const ProcessesAuto = "auto"

// HangArguments returns the runner's arguments about calls that hang.
func (e Execution) HangArguments() []string {
	if e.HangTimeout == 0 {
		return nil
	}
	args := []string{"--hang-timeout", strconv.FormatFloat(e.HangTimeout.Seconds(), 'f', -1, 64)}
	if e.HangAction != "" {
		args = append(args, "--hang-action", string(e.HangAction))
	}
	return args
}

// HangAction is what happens when a call hangs.
type HangAction string

// The values of HangAction. Both print the stacks of the call's threads; a restart then ends the attempt as a crash does.
const (
	HangStacks  HangAction = "stacks"
	HangRestart HangAction = "restart"
)

// RetryArguments returns the runner's arguments about retries, for a runner that counts
// them itself.
func (e Execution) RetryArguments() []string {
	var args []string
	if e.RetryOn == RetryOnError {
		args = append(args, "--retry-on", string(e.RetryOn))
	}
	return append(args, "--retries", strconv.Itoa(e.Retries))
}

// RetryOn is the kind of failure after which a job is retried.
type RetryOn string

// The values of RetryOn. A crash is a process that was killed or a runner that
// failed. An error is a crash, an exception or a non-zero exit code.
const (
	RetryOnCrash RetryOn = "crash"
	RetryOnError RetryOn = "error"
)
