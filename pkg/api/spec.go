package api

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"
)

// Backend is what runs a job.
type Backend string

// The backends.
const (
	BackendGKE      Backend = "gke"      // a batch/v1 Job
	BackendPathways Backend = "pathways" // a LeaderWorkerSet
	BackendLocal    Backend = "local"    // a process group on this machine
)

// EnvVar is one environment variable of a job.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Spec describes one job completely: the manifest, the handle and the runner's
// command line are made from it and from nothing else. It holds the names of
// secrets, never their values.
type Spec struct {
	// ID matches ^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$.
	ID string
	// Name is the function, script, module or command as the user knows it.
	Name      string
	Namespace string
	// Project, Zone and Cluster are those of GKE, where they are known.
	Project, Zone, Cluster string
	// Store is the URL of the store, without a trailing slash: gs://… or file:///….
	Store string

	Placement
	Accelerator Accelerator
	Capacity    Capacity
	// AutopilotClass is one of BuiltInClasses, which go with any capacity; "" for none.
	AutopilotClass string
	// MemoryLimit is not to be exceeded, empty for no limit.
	MemoryLimit string

	CallKind CallKind
	// CallText says what is called, for people, without values that may be secrets.
	CallText string
	// CallSHA256 and BundleSHA256 name call.json and the bundle's index.
	CallSHA256, BundleSHA256 string
	// Map is nil for a job of one call.
	Map *Map

	Execution
	// SecretEnv are names whose values travel outside of the Spec, sorted.
	SecretEnv []string

	// ClientVersion is the version of the program that made the Spec.
	ClientVersion string
	Created       time.Time
}

// Names that the manifests, the kube and the local code agree on.
const (
	// ContainerName is the container that runs the call. Look it up by name:
	// sidecars may come first.
	ContainerName = "kinetic-worker"
	// JobNamePrefix + ID is the name of a Job.
	JobNamePrefix = "kinetic-"
	// PathwaysNamePrefix begins the name of a LeaderWorkerSet.
	PathwaysNamePrefix = "keras-pathways-"
	// RunnerPrefix + SHA-256 is the name of the ConfigMap that holds the runner,
	// which jobs share.
	RunnerPrefix = "kinetic-runner-"
	// LabelApp and LabelJobID are the labels objects are found by.
	LabelApp, LabelJobID = "app", "job-id"
	AppSingleHost        = "kinetic"          // of Jobs, on several hosts too
	AppPathways          = "kinetic-pathways" // of LeaderWorkerSets
	// LabelQueue names the queue of Kueue that a workload waits in.
	LabelQueue = "kueue.x-k8s.io/queue-name"
	// AnnotationPrefix is the domain of our annotations and labels.
	AnnotationPrefix   = "kubectl-kinetic.github.io/"
	AnnotationStore    = AnnotationPrefix + "store"
	AnnotationFunction = AnnotationPrefix + "function"
	// AnnotationCall is the Spec's CallText.
	AnnotationCall = AnnotationPrefix + "call"
	// AnnotationRunnerSHA256 and AnnotationRunnerVersion are the hash of the
	// runner's zip and the version of the client that brought it.
	AnnotationRunnerSHA256  = AnnotationPrefix + "runner-sha256"
	AnnotationRunnerVersion = AnnotationPrefix + "runner-version"
	// AnnotationOutcome is end.json in one line, on a LeaderWorkerSet that has
	// ended: the same patch scales it to zero.
	AnnotationOutcome = AnnotationPrefix + "outcome"
	// AnnotationAccelerator is the accelerator as it was typed.
	AnnotationAccelerator = AnnotationPrefix + "accelerator"
	// LabelAccelerator carries the AcceleratorKind.
	LabelAccelerator = AnnotationPrefix + "accelerator"
	// DefaultServiceAccount is the one that `up` prepares in a namespace.
	DefaultServiceAccount = "kinetic"
)

// Variables by which Google's libraries find Cloud Storage. The runner is told the
// same by flags, and reads none of them: they are the call's.
const (
	EnvStorageEmulator = "STORAGE_EMULATOR_HOST"
	EnvMetadataHost    = "GCE_METADATA_HOST"
	EnvCredentials     = "GOOGLE_APPLICATION_CREDENTIALS" //nolint:gosec // a name, not a credential
)

// StoreFlags are the runner's flags that say the same as these variables.
var StoreFlags = []struct{ Flag, Variable string }{
	{"--emulator", EnvStorageEmulator},
	{"--metadata-host", EnvMetadataHost},
	{"--credentials", EnvCredentials},
}

// EnvCompletionIndex is how a pod of an Indexed Job learns its number; Kubernetes sets it.
const EnvCompletionIndex = "JOB_COMPLETION_INDEX"

// EnvPodUID is how the runner learns which pod it is.
const EnvPodUID = "KINETIC_POD_UID"

// What the runner of a job on several hosts knows from its manifest. In a
// LeaderWorkerSet the controller tells it the hosts and the leader.
const (
	// EnvHosts and EnvLeader are the number of hosts and the name of host 0, in an
	// Indexed Job.
	EnvHosts, EnvLeader = "KINETIC_HOSTS", "KINETIC_LEADER"
	// EnvSlices is the number of slices where there are several.
	EnvSlices = "KINETIC_SLICES"
	// EnvGroupKey is the secret by which the runners of several hosts know each other. It
	// is a key of the job's Secret.
	EnvGroupKey = "KINETIC_GROUP_KEY"
)

// DefaultMaxDisruptions is the number that the runner takes without being told.
const DefaultMaxDisruptions = 100

// OverlayMarker begins the kustomization.yaml of a directory that
// --write-overlay has written, and that is not a part of a project therefore.
const OverlayMarker = "# Written by kubectl kinetic run --write-overlay"

const (
	// maxPathwaysName is the length of the longest name of a LeaderWorkerSet whose
	// workers are created: StatefulSets append to it.
	maxPathwaysName = 50
	// MaxQueuedName is that of one which leaves its queue: Kueue makes a label of
	// the pods, leaderworkerset-NAME-0-XXXXX, which has 63 characters at most.
	MaxQueuedName = 39
)

// uniqueEnd is the part of a job id that tells it from all others.
var uniqueEnd = regexp.MustCompile(`[0-9]{8}-[0-9]{6}-[0-9a-f]{7}$`)

// JobName is the Kubernetes name of the job's workload: of what runs its pods,
// and of what comes with it.
func (s Spec) JobName() string {
	if s.Backend != BackendPathways {
		return JobNamePrefix + s.ID
	}
	room := maxPathwaysName - len(PathwaysNamePrefix)
	if s.Queue != "" {
		room = MaxQueuedName - len(PathwaysNamePrefix)
	}
	if len(s.ID) <= room {
		return PathwaysNamePrefix + s.ID
	}
	if end := uniqueEnd.FindString(s.ID); end != "" {
		return PathwaysNamePrefix + end
	}
	sum := sha256.Sum256([]byte(s.ID)) // an id of --job-id
	end := "-" + hex.EncodeToString(sum[:])[:7]
	return PathwaysNamePrefix + strings.TrimRight(s.ID[:room-len(end)], "-") + end
}

// SecretName is the Kubernetes Secret that holds the values of SecretEnv, and of several
// hosts EnvGroupKey.
func (s Spec) SecretName() string { return JobNamePrefix + s.ID + "-env" }
