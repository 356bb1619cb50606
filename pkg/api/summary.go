package api

import "time"

// JobSummary is one line of a list of jobs.
type JobSummary struct {
	ID          string    `json:"id"`
	Namespace   string    `json:"namespace,omitempty"` // empty for a local job
	State       State     `json:"state"`
	Function    string    `json:"function"`
	Accelerator string    `json:"accelerator"`
	Created     time.Time `json:"created"`
	Store       string    `json:"store"` // URL
	// Hosts is how many there are at a time, 0 where that is not known: it is local,
	// or a group that has no pods, in a list without reasons.
	Hosts int `json:"hosts,omitempty"`
	// Map says that the job calls its function once for each of many inputs.
	Map bool `json:"map,omitempty"`
	// Node is where it runs, or ran last, while its pod is there.
	Node string `json:"node,omitempty"`
	// Pods are the names of the newest pod of each host that has one.
	Pods []string `json:"pods,omitempty"`
	JobDetails
	// Status is that of the workload or, where it is gone, how the job ended.
	Status Status `json:"status"`
	// Workload is not for display.
	Workload WorkloadFacts `json:"-"`
}

// WorkloadFacts are what a workload says of its job that no list shows.
type WorkloadFacts struct {
	// Labels are those of the workload or, where it is gone, of the handle.
	Labels map[string]string
	// ByPythonTool says that the Python tool made the job.
	ByPythonTool bool
	CurrentPod
}

// EndKnown reports whether the job has ended for certain: its workload says so, or the
// store does. One without a workload may run where no one lets us see it.
func (s JobSummary) EndKnown() bool {
	return s.Status.Ended != "" || s.State.Ended() && s.Status.State.Ended() && s.Status.State != NotFound
}

// JobDetails are what only the handle of a job says. The handle of an older client lacks some.
type JobDetails struct {
	// Call is what is called, with its arguments, cut and without secrets.
	Call string `json:"call,omitempty"`
	// User is the account on the machine that submitted the job.
	User string `json:"user,omitempty"`
	// Commit was checked out there; Dirty says that files differed from it.
	Commit string `json:"gitCommit,omitempty"`
	Dirty  bool   `json:"gitDirty,omitempty"`
	Image  string `json:"image,omitempty"`
	// CPU and Memory are what each pod asks for.
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
	// MaxAttempts is how often the job starts at most, not counting lost machines; 0 where that
	// is not known.
	MaxAttempts int               `json:"maxAttempts,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// Details are what the handle says of its job.
func (h Handle) Details() JobDetails {
	d := JobDetails{Call: h.Call, User: h.User, Commit: h.Commit, Dirty: h.Dirty, Image: h.ImageURI, CPU: h.CPU, Memory: h.Memory, Labels: h.Labels}
	if !h.ByPythonTool() && h.Map == nil && h.Backend != BackendLocal {
		d.MaxAttempts = h.Retries + 1
	}
	return d
}

// Known reports whether the details were read.
func (d JobDetails) Known() bool {
	return d.Call != "" || d.User != "" || d.Image != "" || d.MaxAttempts > 0
}
