package api

import "encoding/json"

// Request is what a user asked for: typed values that are not yet looked up, hashed or
// checked against the world. submit.Plan does that.
type Request struct {
	Invocation
	// HideArgs leaves arguments out of Spec.CallText.
	HideArgs bool
	// Data and Volumes are the values of --data and --volume, in the order given.
	Data, Volumes []string
	// Map names the file of a map's inputs, "-" for standard input, "" for a job with a
	// single call.
	Map string
	// MapResume is the id of the map to take values from, "" for none.
	MapResume string
	// Chunk and Parallelism are for the map, 0 for the default.
	Chunk, Parallelism int

	Placement
	// Reservation, FlexStart and ComputeClass are the ways to get machines that the user named,
	// beside Accelerator.Spot. A Spec has at most one of them, as Capacity.
	FlexStart                 bool
	Reservation, ComputeClass string

	Execution
	// Images says where the job's packages come from. The image itself is in Placement.
	Images Images
	// KeepWarm is about warm hosts.
	KeepWarm KeepWarm
	// CacheSize is how much is kept of what compilers made: a Kubernetes quantity, 0 for nothing, empty for the default. NoCache
	// means no cache, and SharedCache one for all users who want that.
	CacheSize            string
	NoCache, SharedCache bool
	// Pathways is about the runtime of that name.
	Pathways PathwaysWish
	// Name replaces the middle of the job id, JobID the whole id.
	Name, JobID string
	// Secrets are values that are kept out of the Spec.
	Secrets map[string]string
	// OverlayDir is the user's kustomize component, empty for none.
	OverlayDir string
	// Flags are those that ask for all this, for the job's handle.
	Flags []string
}

// Invocation is the part of a command line that says what to run.
type Invocation struct {
	// Payload names the file with a pickled call, empty for any other call.
	Payload string
	// Target is the TARGET word, empty for a command. With a payload it is a file of its
	// project, or empty. Module means that it follows -m,
	// Command that Args are a command line.
	Target          string
	Module, Command bool
	// Args are the words after --.
	Args []string
	// KWArgs are the values of --arg, NAME=VALUE, in the order given.
	KWArgs []string
	// Known are arguments of the function whose values are known, as JSON texts.
	Known map[string]json.RawMessage
}

// Images says which packages a job gets, and how its image is made. Empty fields mean the default.
type Images struct {
	// BaseImage is the image that others are made on. BaseImageRepo is a repository that has the
	// images of build-image. ImageRepo is where images go.
	BaseImage, BaseImageRepo, ImageRepo string
	// Requirements is the file that says what the project needs, Extras and Groups what of it.
	Requirements   string
	Extras, Groups []string
	// NoDeps installs nothing of the project's, RefreshDeps resolves its requirements again.
	NoDeps, RefreshDeps bool
	// Runtime is auto, jax or none.
	Runtime string
	// Python is the version of Python, X.Y.
	Python string
	// Builder is auto, client or cloudbuild.
	Builder string
	// UploadLimit is how many bytes may be sent for an image, 0 for the default.
	UploadLimit int64
	// NoImageCheck doesn't look whether the user's own image exists. VerifyLayers believes no layer
	// that someone else made.
	NoImageCheck, VerifyLayers bool
}
