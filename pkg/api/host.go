package api

import "time"

// WorkloadDetail is what a workload shows beyond the job's status.
type WorkloadDetail struct {
	// Hosts are the hosts that have a pod, sorted by number.
	Hosts []Host
	// Parts are the parts of the Pathways runtime that have a pod, in the order of Pathways.Parts.
	Parts []Part
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
	// Scheduled is when the pod got a node, Started when the call's container started, Finished when it ended; zero before.
	Scheduled time.Time `json:"scheduled,omitzero"`
	Started   time.Time `json:"started,omitzero"`
	Finished  time.Time `json:"finished,omitzero"`
	// NodeIP is the address of the node, "" before it is known.
	NodeIP string `json:"-"`
}

// Use is what a host uses at a moment. What is not known is nil.
type Use struct {
	// CPU is in cores.
	CPU *float64 `json:"cpu,omitempty"`
	// Memory is in bytes, without what the kernel can drop at any time.
	Memory *int64 `json:"memoryBytes,omitempty"`
	// Duty is how much of the time the accelerators worked, in percent, as the mean of all of them.
	Duty *float64 `json:"acceleratorDuty,omitempty"`
}

// Part is a part of the Pathways runtime: rm, proxy or worker-N.
type Part struct {
	Name     string `json:"name"`
	Pod      string `json:"pod"`
	Node     string `json:"node,omitempty"`
	State    State  `json:"state"`
	Restarts int    `json:"restarts"` // in its pod
	// Message is as a Host's.
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
	// KeepLog moves to the store what only the workload of a local job has of the log.
	KeepLog bool
}
