package api

import "time"

// Placement says what the pods of a job run on. A Request has it as it was typed, a Spec with
// all defaults filled in.
type Placement struct {
	// Backend is what runs the job; in a Request empty for auto.
	Backend Backend
	// AcceleratorText is the accelerator as typed; in a Request "" for cpu.
	AcceleratorText string
	// Hosts are the pods of the job in all slices, numbered from 0. In a Request they are how
	// many CPU or GPU hosts take part, 0 for one.
	Hosts int
	// Slices are those of a TPU that share the hosts evenly; in a Request 0 for one.
	Slices int
	// NodePools says what the node pools of a slice are for, empty for exclusive.
	NodePools NodePools
	// Image is what the container runs.
	Image string
	// CPU, Memory and Disk are what a host asks for: Kubernetes quantities, empty for none.
	CPU, Memory, Disk string
	// Queue, PriorityClass and ServiceAccount are names in Kubernetes, empty for none.
	Queue, PriorityClass, ServiceAccount string
	// StoreCredentials names the Secret whose key.json opens the store to the
	// pod, empty where the pod's node does.
	StoreCredentials string
	// Restricted says that the pods keep to the PodSecurity level restricted.
	Restricted bool
	// Labels and Annotations are the user's, for the workload and its pods.
	Labels, Annotations map[string]string
}

// NodePools says whether the hosts of a TPU slice have a node pool to themselves.
type NodePools string

// The values of NodePools.
const (
	NodePoolsExclusive NodePools = "exclusive"
	NodePoolsShared    NodePools = "shared"
)

// Execution says how the call of a job is run, on whatever host. A Request has it as it was
// typed, a Spec with all defaults filled in.
type Execution struct {
	// Env is in the order given, each name once.
	Env []EnvVar
	// OutputDir is KINETIC_OUTPUT_DIR when the user chose one, else empty: the
	// job's own prefix in the store.
	OutputDir string
	// Retries is how often the job starts again. In a Request it is negative for the default:
	// 3 with spot capacity and for a map, else 0.
	Retries int
	// RetryOn says what Retries are for; the zero value is RetryOnCrash.
	RetryOn RetryOn
	// MaxDisruptions is how often the job may lose its machine before that ends
	// it; in a Request negative for the default.
	MaxDisruptions int
	// MaxRuntime bounds one attempt; 0 is no bound.
	MaxRuntime time.Duration
	// Debug says that the call waits for a debugger before it begins.
	Debug bool
}

// RetryOn is what a job is retried after.
type RetryOn string

// The values of RetryOn. A crash is a process that was killed or a runner that
// failed. An error is a crash, an exception or a non-zero exit code.
const (
	RetryOnCrash RetryOn = "crash"
	RetryOnError RetryOn = "error"
)
