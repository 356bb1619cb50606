package api

import "time"

// Request is what a user asked for, typed but not yet looked up, hashed or
// checked against the world: submit.Plan does that.
type Request struct {
	// Target is the TARGET word, empty for a command. Module says that it
	// follows -m, Command that Args are a command line.
	Target          string
	Module, Command bool
	// Args are the words after --.
	Args []string
	// KWArgs are the values of --arg, NAME=VALUE.
	KWArgs []string
	// HideArgs leaves arguments out of Spec.CallText.
	HideArgs bool
	// Map names the file of a map's inputs, "-" for standard input; "" is one call.
	Map string
	// MapResume is the id of the map whose values are taken over, "" for none.
	MapResume string
	// Chunk and Parallelism are those of the map, 0 for the default.
	Chunk, Parallelism int

	// Accelerator as typed, "" for cpu.
	Accelerator string
	Spot        bool
	// Backend is empty for auto.
	Backend Backend
	// Hosts is how many CPU or GPU hosts take part, Slices how many slices of a
	// TPU; 0 is one.
	Hosts, Slices int
	Image         string

	// Name replaces the middle of the job id, JobID the whole of it.
	Name, JobID string
	// Env is in the order given; Secrets are values that travel outside of
	// the Spec.
	Env     []EnvVar
	Secrets map[string]string

	OutputDir string
	// Retries is negative for the default: 3 with spot capacity and for a map, else 0.
	Retries int
	// RetryOn is empty for RetryOnCrash.
	RetryOn    RetryOn
	MaxRuntime time.Duration

	// MaxDisruptions is how often the job may lose its machine, negative for the
	// default.
	MaxDisruptions int

	ServiceAccount, Queue, Reservation, PriorityClass string
	// FlexStart asks for capacity of the Dynamic Workload Scheduler.
	FlexStart    bool
	ComputeClass string
	// Placement is empty for the default.
	Placement           Placement
	Restricted          bool
	CPU, Memory, Disk   string
	Labels, Annotations map[string]string
	// StoreCredentials names the Secret whose key.json opens the store to the
	// pod, empty where the pod's node does.
	StoreCredentials string
	// Debug says that the call waits for a debugger before it begins.
	Debug bool
	// OverlayDir is the user's kustomize component, empty for none.
	OverlayDir string
}
