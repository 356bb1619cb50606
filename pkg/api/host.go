package api

import "time"

// WorkloadDetail is what the workload of a job says beyond its status.
type WorkloadDetail struct {
	// Hosts are those that have a pod, by their numbers.
	Hosts []Host
	// Disruptions are in the order in which they happened.
	Disruptions []Disruption
}

// Host is one pod of a job, the newest of its number.
type Host struct {
	Host  int    `json:"host"`
	Pod   string `json:"pod"`
	Node  string `json:"node,omitempty"`
	State State  `json:"state"`
	// Message says in a word or two why the pod waits, or how it ended.
	Message string `json:"message,omitempty"`
}

// Disruption is that a pod of a job was taken away, or all of them were.
type Disruption struct {
	Time time.Time
	Why  string
}

// DeleteOptions say how a workload is removed.
type DeleteOptions struct {
	// Grace is how long the job may save what it has.
	Grace time.Duration
	// Ending, which may be nil, is called as soon as nothing can undo that the job ends.
	Ending func() error
	// Secret removes the job's Secret as well, where nothing owns it: it was prepared.
	Secret bool
}
