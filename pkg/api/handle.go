package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// HandleVersion is the version of Handle that this code writes, and the highest version it
// reads.
const HandleVersion = 1

// Handle is the persisted description of a job: enough to reattach to it from any machine
// that can read the store. It holds names, never secret values. Keys that the Python
// package also writes have the same names.
type Handle struct {
	Version     int     `json:"version"`
	JobID       string  `json:"job_id"`
	Backend     Backend `json:"backend"`
	Project     string  `json:"project,omitempty"`
	ClusterName string  `json:"cluster_name,omitempty"` // empty if only guessed
	ClusterID   string  `json:"cluster_id,omitempty"`   // distinguishes clusters without a ClusterName
	Server      string  `json:"server,omitempty"`       // URL of the cluster's API server at submission, for people
	Zone        string  `json:"zone,omitempty"`
	Namespace   string  `json:"namespace,omitempty"`
	K8sName     string  `json:"k8s_name,omitempty"`
	Host        string  `json:"host,omitempty"` // the warm host that runs it, whose workload K8sName is
	ImageURI    string  `json:"image_uri,omitempty"`
	// ImageDigests are those that ImageURI had at submission: of an index and of the image in it.
	ImageDigests []string `json:"image_digests,omitempty"`
	// ImageMode says where the job's packages are: bundled, prebuilt or custom; "" for a local job,
	// and for one of an older client.
	ImageMode string `json:"image_mode,omitempty"`
	// Packages are what was installed for the job, as far as the client knew.
	Packages []Package `json:"packages,omitempty"`
	// EnvironmentSHA256 names the blob that says what the job's pod installs, "" for nothing.
	EnvironmentSHA256 string `json:"environment_sha256,omitempty"`

	Accelerator  string            `json:"accelerator"`
	FuncName     string            `json:"func_name"`
	CreatedAt    time.Time         `json:"created_at"`
	Store        string            `json:"store"`
	BucketName   string            `json:"bucket_name,omitempty"` // of jobs of the Python tool
	OutputDir    string            `json:"output_dir,omitempty"`
	ResumeFrom   string            `json:"resume_from,omitempty"`
	CallKind     CallKind          `json:"call_kind"`
	Call         string            `json:"call,omitempty"` // Spec.CallText
	CallSHA256   string            `json:"call_sha256"`
	BundleSHA256 string            `json:"bundle_sha256"`
	Payload      *Payload          `json:"payload,omitempty"`
	Hosts        int               `json:"hosts"`
	Pathways     *Pathways         `json:"pathways,omitempty"`
	Map          *Map              `json:"map,omitempty"`
	Data         []Data            `json:"data,omitempty"`
	Spot         bool              `json:"spot,omitempty"`
	Capacity     CapacityKind      `json:"capacity,omitempty"`
	CPU          string            `json:"cpu,omitempty"`    // request of each pod, like Memory
	Memory       string            `json:"memory,omitempty"` // empty if nothing is requested
	Labels       map[string]string `json:"labels,omitempty"` // from --label
	Retries      int               `json:"retries,omitempty"`
	RetryOn      RetryOn           `json:"retry_on,omitempty"`       // empty for RetryOnCrash
	MaxCost      float64           `json:"max_cost,omitempty"`       // in USD
	Budget       int               `json:"budget_seconds,omitempty"` // what MaxCost pays for, all attempts together
	Debug        bool              `json:"debug,omitempty"`
	Env          []string          `json:"env,omitempty"`
	CommandLine  *CommandLine      `json:"command_line,omitempty"`
	SecretEnv    []string          `json:"secret_env,omitempty"`
	Client       string            `json:"client"`
	Origin
}

// CommandLine is what run --like repeats beside the call; older clients did not record it.
type CommandLine struct {
	// Target is the TARGET, or the module after -m; empty for a command.
	Target string `json:"target,omitempty"`
	// Flags are --NAME=VALUE. Of a variable that may be a secret they have only the name.
	Flags []string `json:"flags,omitempty"`
}

// Package is a wheel that is installed for a job.
type Package struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// Origin is where a job was submitted from. Only the handle has it, so that commits and machines don't change the
// manifest.
type Origin struct {
	// User is the name of the account on the client's machine.
	User string `json:"user,omitempty"`
	// Commit is the full hash checked out in the package root, "" outside of a Git
	// repository. Dirty means that files differed from it.
	Commit string `json:"git_commit,omitempty"`
	Dirty  bool   `json:"git_dirty,omitempty"`
}

// NewHandle returns the handle of a Spec's job.
func NewHandle(s Spec) Handle {
	h := Handle{
		Version: HandleVersion, JobID: s.ID, Backend: s.Backend,
		Project: s.Project, ClusterName: s.Cluster, Zone: s.Zone, Namespace: s.Namespace,
		ImageURI: s.Image, EnvironmentSHA256: s.EnvironmentSHA256, Accelerator: s.AcceleratorText, FuncName: s.Name,
		CreatedAt: s.Created.UTC().Truncate(time.Millisecond), Store: s.Store, OutputDir: s.OutputDir, ResumeFrom: s.ResumeFrom,
		CallKind: s.CallKind, Call: s.CallText, CallSHA256: s.CallSHA256, BundleSHA256: s.BundleSHA256, Payload: s.Payload,
		Hosts: s.Hosts, Pathways: s.Pathways, Map: s.Map, Data: s.Data, Spot: s.Capacity.Kind == CapacitySpot, Capacity: s.Capacity.Kind, Retries: s.Retries, RetryOn: s.RetryOn, MaxCost: s.MaxCost, Budget: int(s.Budget / time.Second), Debug: s.Debug, SecretEnv: s.SecretEnv,
		Client: s.ClientVersion,
	}
	if s.Backend != BackendLocal {
		workload := s
		workload.ID = cmp.Or(s.Host, s.ID)
		h.Host, h.K8sName = s.Host, workload.JobName()
		h.CPU, h.Memory, h.Labels = s.CPU, s.Memory, s.Labels
	}
	for _, e := range s.Env {
		h.Env = append(h.Env, e.Name)
	}
	return h
}

// ParseHandle reads handle.json. A handle of a newer version is a *VersionError; unknown
// keys of the same version are ignored.
func ParseHandle(data []byte) (Handle, error) {
	var h Handle
	var v struct {
		Version int    `json:"version"`
		Client  string `json:"client"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return Handle{}, fmt.Errorf("not a handle: %w", err)
	}
	if v.Version > HandleVersion {
		return Handle{}, &VersionError{Got: v.Version, Max: HandleVersion, Client: v.Client}
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return Handle{}, fmt.Errorf("not a handle: %w", err)
	}
	if h.JobID == "" {
		return Handle{}, fmt.Errorf("not a handle: job_id is missing")
	}
	if h.Backend == BackendPathways && h.Pathways == nil { // what the other backend was called until it had this one beside it
		h.Backend = BackendLWS
	}
	if h.ByPythonTool() && h.Store == "" {
		h.Store = "gs://" + h.BucketName
	}
	return h, nil
}

// ByPythonTool reports whether keras-kinetic submitted the job. Results of such jobs
// are pickles, which are also the only record of how the job ended.
func (h Handle) ByPythonTool() bool { return h.BucketName != "" }

// VersionError means that a newer version of this program wrote a document.
type VersionError struct {
	Got, Max int
	// Client is the version that wrote it, "" if the document doesn't say.
	Client string
}

// Kind implements what pkg/cmd/cli asks an error for.
func (e *VersionError) Kind() ErrorKind { return KindVersion }

// Next returns what to do.
func (e *VersionError) Next() string { return "upgrade kubectl kinetic" }

func (e *VersionError) Error() string {
	by := "a newer kubectl kinetic"
	if e.Client != "" {
		by = "kubectl kinetic " + e.Client
	}
	return fmt.Sprintf("it has version %d, written by %s, but this kubectl kinetic reads only up to %d: upgrade kubectl kinetic", e.Got, by, e.Max)
}
