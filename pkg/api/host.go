package api

import "time"

// WorkloadDetail is what a workload shows beyond the job's status.
type WorkloadDetail struct {
	// Hosts are the hosts that have a pod, sorted by number.
	Hosts []Host
	// Disruptions are in the order they happened.
	Disruptions []Disruption
}

// Host is one host of a job, with its newest pod.
type Host struct {
	Host  int    `json:"host"`
	Pod   string `json:"pod"`
	Node  string `json:"node,omitempty"`
	State State  `json:"state"`
	// Message is a word or two: why the pod waits, or how it ended.
	Message string `json:"message,omitempty"`
}

// Disruption records that a job lost one of its pods, or all of them.
type Disruption struct {
	Time time.Time
	Why  string
}

// DeleteOptions say how a workload is removed.
type DeleteOptions struct {
	// Grace is the time the job has to save its work.
	Grace time.Duration
	// Ending, if not nil, is called as soon as the end of the job is irreversible.
	Ending func() error
	// Secret also removes the job's Secret, for a prepared job, whose Secret has no owner.
	Secret bool
}
