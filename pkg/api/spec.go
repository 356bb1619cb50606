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
	BackendLWS      Backend = "lws"      // a LeaderWorkerSet, each of whose hosts runs the call
	BackendPathways Backend = "pathways" // a LeaderWorkerSet with the Pathways runtime, whose leader runs the call
	BackendLocal    Backend = "local"    // a process group on this machine
)

// EnvVar is one environment variable of a job.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Spec describes one job completely: the manifest, the handle and the runner's command line
// are made from it alone. It holds the names of secrets, never their values.
type Spec struct {
	// ID matches ^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$.
	ID string
	// Name is the function, script, module or command as the user knows it.
	Name      string
	Namespace string
	// Project, Zone and Cluster are the names in GKE, where known.
	Project, Zone, Cluster string
	// Store is the URL of the store, without a trailing slash: gs://… or file:///….
	Store string

	Placement
	// PodNetworks are the Network objects of the pods' interfaces eth1, eth2 and so on with NetworkTCPXO;
	// nil for the names in Google's manifests.
	PodNetworks []string
	// DiskVolume means that the job's files are on a volume of the StorageClass DiskClass, or of
	// the cluster's default, instead of the node's disk.
	DiskVolume bool
	// MemoryLimit is the limit of each host's memory, empty for no limit.
	MemoryLimit string

	CallKind CallKind
	// CallText is the call as people read it, without values that may be secrets.
	CallText string
	// CallSHA256 and BundleSHA256 name call.json and the bundle's index.
	CallSHA256, BundleSHA256 string
	// Payload is the pickle of the call, nil for any other call.
	Payload *Payload
	// ImageMoves means that the image's tag may come to stand for another image, so that nodes must
	// ask the registry before they use the one that they have.
	ImageMoves bool
	// EnvironmentSHA256 names the environment that the runner installs, "" for none.
	EnvironmentSHA256 string
	// Map is nil for a job with a single call.
	Map *Map
	// Data are the job's inputs.
	Data []Data

	// KeepWarm is about warm hosts, zero for a job that uses none.
	KeepWarm KeepWarm
	// Host is the ID of the warm host that runs the call, "" for a job with a pod of its own.
	Host string
	// Warm makes the job a warm host, nil for any other.
	Warm *Warm

	// Cache is KINETIC_CACHE_DIR, nil for a job without one.
	Cache *Cache `json:",omitempty"`

	// Pathways is the runtime with BackendPathways, nil with any other.
	Pathways *Pathways

	Execution
	// SecretEnv are the names of variables whose values are kept out of the Spec, sorted.
	SecretEnv []string

	// ClientVersion is the version of the program that made the Spec.
	ClientVersion string
	Created       time.Time
}

// Names that the manifests, pkg/kube and pkg/job/local share.
const (
	// ContainerName is the container that runs the call. Find it by name: sidecars may come
	// first.
	ContainerName = "kinetic-worker"
	// JobNamePrefix + ID is the name of a Job.
	JobNamePrefix = "kinetic-"
	// SetNamePrefix begins the name of a LeaderWorkerSet.
	SetNamePrefix = "keras-pathways-"
	// RunnerPrefix + SHA-256 is the name of the ConfigMap with the runner, which jobs
	// share.
	RunnerPrefix = "kinetic-runner-"
	// LabelApp and LabelJobID are the labels by which objects are found.
	LabelApp, LabelJobID = "app", "job-id"
	AppSingleHost        = "kinetic"          // for Jobs, on several hosts too
	AppSet               = "kinetic-pathways" // for LeaderWorkerSets
	// LabelWorkerIndex is the number of a pod of a LeaderWorkerSet, 0 for the leader. Its controller sets it.
	LabelWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index"
	// LabelQueue names the Kueue queue of a workload.
	LabelQueue = "kueue.x-k8s.io/queue-name"
	// AnnotationPrefix is the domain of our annotations and labels.
	AnnotationPrefix   = "kubectl-kinetic.github.io/"
	AnnotationStore    = AnnotationPrefix + "store"
	AnnotationFunction = AnnotationPrefix + "function"
	// AnnotationCall is Spec.CallText.
	AnnotationCall = AnnotationPrefix + "call"
	// AnnotationRunnerSHA256 and AnnotationRunnerVersion are the hash of the runner's zip
	// and the version of the client that uploaded it.
	AnnotationRunnerSHA256  = AnnotationPrefix + "runner-sha256"
	AnnotationRunnerVersion = AnnotationPrefix + "runner-version"
	// AnnotationSubmit is a random word of the submit that created a workload.
	AnnotationSubmit = AnnotationPrefix + "submit"
	// AnnotationAccelerator is the accelerator as typed.
	AnnotationAccelerator = AnnotationPrefix + "accelerator"
	// AnnotationMaxCost is Placement.MaxCost.
	AnnotationMaxCost = AnnotationPrefix + "max-cost"
	// LabelAccelerator carries the AcceleratorKind.
	LabelAccelerator = AnnotationPrefix + "accelerator"
	// LabelCapacity carries the CapacityKind of a workload, which has none if it is on demand. Lists
	// don't read the pod's node selector, which says the same.
	LabelCapacity = AnnotationPrefix + "capacity"
	// DefaultServiceAccount is the service account that `up` prepares in a namespace.
	DefaultServiceAccount = "kinetic"
)

// Variables that tell Google's libraries where Cloud Storage is. The runner itself gets the
// same values as flags and ignores the variables, which are for the call.
const (
	EnvStorageEmulator = "STORAGE_EMULATOR_HOST"
	EnvMetadataHost    = "GCE_METADATA_HOST"
	EnvCredentials     = "GOOGLE_APPLICATION_CREDENTIALS" //nolint:gosec // a name, not a credential
)

// StoreFlags are the runner's equivalents of these variables.
var StoreFlags = []struct{ Flag, Variable string }{
	{"--emulator", EnvStorageEmulator},
	{"--metadata-host", EnvMetadataHost},
	{"--credentials", EnvCredentials},
}

// EnvCompletionIndex has the number of a pod of an Indexed Job; Kubernetes sets it.
const EnvCompletionIndex = "JOB_COMPLETION_INDEX"

// EnvPodUID has the UID of the runner's pod.
const EnvPodUID = "KINETIC_POD_UID"

// EnvTPUHosts has the number of TPU hosts of the Pathways runtime; the runner sets it.
const EnvTPUHosts = "KINETIC_TPU_HOSTS"

// Variables in the manifest of a job on several hosts. In a LeaderWorkerSet, the controller
// sets the hosts and the leader instead.
const (
	// EnvHosts and EnvLeader have the number of hosts and the name of host 0, in an Indexed
	// Job.
	EnvHosts, EnvLeader = "KINETIC_HOSTS", "KINETIC_LEADER"
	// EnvNetwork has the Network of several hosts of GPUs, if it isn't plain TCP.
	EnvNetwork = "KINETIC_NETWORK"
	// EnvSlices has the number of slices if there are several.
	EnvSlices = "KINETIC_SLICES"
)

// DefaultMaxDisruptions is the number that the runner uses by default.
var DefaultMaxDisruptions = Contract.Defaults.MaxDisruptions

// OverlayMarker begins the kustomization.yaml of a directory that --write-overlay has
// written. Such a directory is not part of the project.
const OverlayMarker = "# Written by kubectl kinetic run --write-overlay"

// FetchedMarker is a file in a directory that outputs of a job were copied to. Such a directory is
// not part of the project.
const FetchedMarker = ".kinetic-outputs"

// MetadataDir is the directory in the package that stands for the installation of the user's projects: the runner adds it
// to the end of sys.path, as a directory of site-packages. A job that submits others does not pass its own on.
const MetadataDir = ".kinetic-metadata"

const (
	// maxSetName is the length of the longest LeaderWorkerSet name that works:
	// StatefulSets append to it to name the workers.
	maxSetName = 50
	// MaxQueuedName is the same for one that goes through a queue: Kueue labels the pods
	// with leaderworkerset-NAME-0-XXXXX, which may have 63 characters.
	MaxQueuedName = 39
)

// uniqueEnd matches the part of a job id that makes it unique.
var uniqueEnd = regexp.MustCompile(`[0-9]{8}-[0-9]{6}-[0-9a-f]{7}$`)

// JobName returns the Kubernetes name of the job's workload and of the objects that belong
// to it.
func (s Spec) JobName() string {
	if !s.Backend.IsLeaderWorkerSet() {
		return JobNamePrefix + s.ID
	}
	room := maxSetName - len(SetNamePrefix)
	if s.Queue != "" {
		room = MaxQueuedName - len(SetNamePrefix)
	}
	if len(s.ID) <= room {
		return SetNamePrefix + s.ID
	}
	if end := uniqueEnd.FindString(s.ID); end != "" {
		return SetNamePrefix + end
	}
	sum := sha256.Sum256([]byte(s.ID)) // the id is from --job-id
	end := "-" + hex.EncodeToString(sum[:])[:7]
	return SetNamePrefix + strings.TrimRight(s.ID[:room-len(end)], "-") + end
}

// SecretName returns the name of the Kubernetes Secret with the values of SecretEnv, and
// with Contract.Names.GroupKey if the job has several hosts.
func (s Spec) SecretName() string { return JobNamePrefix + s.ID + "-env" }
