package api

import "time"

// Host is one pod of a job, the newest of its number.
type Host struct {
	Host  int    `json:"host"`
	Pod   string `json:"pod"`
	Node  string `json:"node,omitempty"`
	State State  `json:"state"`
	// Message says in a word or two why the pod waits, or how it ended.
	Message string `json:"message,omitempty"`
}

// Loss is that a pod of a job was taken away, or all of them were.
type Loss struct {
	Time time.Time
	Why  string
}
