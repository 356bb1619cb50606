package api

import "time"

// JobSummary is one line of a list of jobs.
type JobSummary struct {
	ID          string `json:"id"`
	Namespace   string `json:"namespace,omitempty"` // empty for a local job
	State       State  `json:"state"`
	Function    string `json:"function"`
	Accelerator string `json:"accelerator"`
	// Capacity is where the machines come from, empty if on demand.
	Capacity CapacityKind `json:"capacity,omitempty"`
	Created  time.Time    `json:"created"`
	Store    string       `json:"store"` // URL
	// Hosts is how many there are at a time, 0 if unknown: for a local job, or for a group
	// without pods in a list without reasons.
	Hosts int `json:"hosts,omitempty"`
	// Pathways means that one more pod, on one of the hosts, runs the call.
	Pathways bool `json:"pathways,omitempty"`
	// Map means that the job calls its function once for each of many inputs.
	Map bool `json:"map,omitempty"`
	// Node is where the job runs or last ran, as long as its pod exists.
	Node string `json:"node,omitempty"`
	// Pods are the names of the newest pod of each host that has one.
	Pods []string `json:"pods,omitempty"`
	JobDetails
	// Status comes from the workload or, if that is gone, says how the job ended.
	Status Status `json:"status"`
	// Workload is not for display.
	Workload WorkloadFacts `json:"-"`
}

// WorkloadFacts are facts about a job's workload that no list shows.
type WorkloadFacts struct {
	// Labels are from the workload or, if that is gone, from the handle.
	Labels map[string]string
	// ByPythonTool means that the Python tool submitted the job.
	ByPythonTool bool
	// Submitted is when the job was submitted, by the client's clock, to the millisecond; zero if that is not known.
	Submitted time.Time
	// Deleted means that the workload is being deleted.
	Deleted bool
	// PodTime is how long the pods of a map ran, nil for other jobs and if no pod is known.
	PodTime *PodTime
	// Hosts are the hosts that have a pod, sorted by number; none for a map, whose pods come and go.
	Hosts []Host
	// WarmHost is the handle of the warm host that runs the call, nil for other jobs. Hosts then has the pods of that host.
	WarmHost *Handle
	CurrentPod
}

// PodTime is how long pods ran.
type PodTime struct {
	// Ended is that of pods that have ended, all together.
	Ended time.Duration
	// Running has the start of each pod that runs.
	Running []time.Time
	// Incomplete means that pods which have done their part are gone.
	Incomplete bool
}

// At returns the time until a moment.
func (t PodTime) At(now time.Time) time.Duration {
	all := t.Ended
	for _, start := range t.Running {
		all += max(0, now.Sub(start))
	}
	return all
}

// EndKnown reports whether the job has certainly ended: its workload or the store says so.
// A job without a workload may run somewhere that we can't see.
func (s JobSummary) EndKnown() bool {
	return s.Status.Ended != "" || s.State.Ended() && s.Status.State.Ended() && s.Status.State != NotFound
}

// Word is the state of the job as people read it.
func (s JobSummary) Word() string {
	status := s.Status
	status.State = s.State
	return status.Word()
}

// JobDetails are what only the handle of a job has. The handle of an older client lacks
// some.
type JobDetails struct {
	// Call is the call with its arguments, shortened and without secrets.
	Call string `json:"call,omitempty"`
	// User is the account on the machine that submitted the job.
	User string `json:"user,omitempty"`
	// Commit was checked out there; Dirty means that files differed from it.
	Commit string `json:"gitCommit,omitempty"`
	Dirty  bool   `json:"gitDirty,omitempty"`
	Image  string `json:"image,omitempty"`
	// CPU and Memory are what each pod requests.
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
	// MaxAttempts is how often the job may start, not counting lost machines; 0 if unknown.
	MaxAttempts int `json:"maxAttempts,omitempty"`
	// MaxCost is the list price in USD at which the call ends, 0 without a limit.
	MaxCost float64           `json:"maxCost,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// Details returns what the handle says about its job.
func (h Handle) Details() JobDetails {
	d := JobDetails{Call: h.Call, User: h.User, Commit: h.Commit, Dirty: h.Dirty, Image: h.ImageURI, CPU: h.CPU, Memory: h.Memory, MaxCost: h.MaxCost, Labels: h.Labels}
	if !h.ByPythonTool() && h.Map == nil && h.Backend != BackendLocal {
		d.MaxAttempts = h.Retries + 1
	}
	return d
}

// Known reports whether the details were read. Workloads have the call and the cost limit, too.
func (d JobDetails) Known() bool {
	return d.User != "" || d.Image != "" || d.MaxAttempts > 0
}

// ListLevel is how detailed a list of jobs is. Each level includes those before it.
type ListLevel int

// The levels, from the least to read to the most.
const (
	// ListNames is which jobs exist, and what they are.
	ListNames ListLevel = iota
	// ListStates is also the state of each job.
	ListStates
	// ListReasons is also why pending jobs wait.
	ListReasons
)
