package api

// Request is what a user asked for, typed but not yet looked up, hashed or
// checked against the world: submit.Plan does that.
type Request struct {
	Invocation
	// HideArgs leaves arguments out of Spec.CallText.
	HideArgs bool
	// Map names the file of a map's inputs, "-" for standard input; "" is one call.
	Map string
	// MapResume is the id of the map whose values are taken over, "" for none.
	MapResume string
	// Chunk and Parallelism are those of the map, 0 for the default.
	Chunk, Parallelism int

	Placement
	// Spot, Reservation, FlexStart and ComputeClass are the ways to get machines that were
	// named. A Spec has one of them.
	Spot, FlexStart           bool
	Reservation, ComputeClass string

	Execution
	// Name replaces the middle of the job id, JobID the whole of it.
	Name, JobID string
	// Secrets are values that travel outside of the Spec.
	Secrets map[string]string
	// OverlayDir is the user's kustomize component, empty for none.
	OverlayDir string
}

// Invocation is the part of a command line that says what to run.
type Invocation struct {
	// Target is the TARGET word, empty for a command. Module says that it
	// follows -m, Command that Args are a command line.
	Target          string
	Module, Command bool
	// Args are the words after --.
	Args []string
	// KWArgs are the values of --arg, NAME=VALUE, in the order given.
	KWArgs []string
}
