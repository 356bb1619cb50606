// Package event tells a program what a command does: one JSON object a line, instead of the
// text for people. docs/automation.md describes every event.
package event

import (
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Event is something that a program can be told.
type Event interface {
	// event is the value of the member "event".
	event() string
}

// Phase says that a step is done, and how long it took since the previous one.
type Phase struct {
	Name    string  `json:"name"`
	Detail  string  `json:"detail"`
	Seconds float64 `json:"seconds"`
}

// Progress says how far something is: in bytes, inputs of a map or objects.
type Progress struct {
	Name string `json:"name"`
	Done int64  `json:"done"`
	// Total is 0 if it is not known.
	Total int64 `json:"total"`
}

// Submitted says that a job was created.
type Submitted struct {
	Job api.Handle `json:"job"`
}

// State says in which state a job is, and why.
type State struct {
	Job     string     `json:"job"`
	State   api.State  `json:"state"`
	Reason  api.Reason `json:"reason"`
	Message string     `json:"message"`
}

// Log is a line that a job printed.
type Log struct {
	// Time is when it was printed, zero for now.
	Time    time.Time `json:"-"`
	Job     string    `json:"job"`
	Stream  string    `json:"stream"` // stdout or stderr
	Host    *int      `json:"host,omitempty"`
	Chunk   *int      `json:"chunk,omitempty"` // of a map, instead of Host
	Attempt int       `json:"attempt"`
	Line    string    `json:"line"` // without its end
}

// Note is something worth knowing.
type Note struct {
	Message string `json:"message"`
}

// Warning is something that may turn out to be a mistake.
type Warning struct {
	Message string `json:"message"`
}

// Result says how a job has ended, without its value.
type Result struct {
	Job    string     `json:"job"`
	State  api.State  `json:"state"`
	Reason api.Reason `json:"reason"`
	// OK says that the call returned. The job may fail after that.
	OK bool `json:"ok"`
	// Error is the exception of the call, nil if it raised none or the job never got that far.
	Error    *api.ResultError `json:"error"`
	Host     int              `json:"host"`
	Attempt  int              `json:"attempt"`
	Warnings []string         `json:"warnings"`
	Pickle   *Pickle          `json:"pickle"`
}

// Pickle is a result as a pickle on this machine.
type Pickle struct {
	File   string `json:"file"` // an absolute path
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Trust  string `json:"trust"` // who reported the hash
}

// Error is why a command failed. It is the last event.
type Error struct {
	Code    int           `json:"code"` // the exit code
	Kind    api.ErrorKind `json:"kind"`
	Message string        `json:"message"`
	Next    *string       `json:"next"` // a command to type, or what else to do
}

func (Phase) event() string     { return "phase" }
func (Progress) event() string  { return "progress" }
func (Submitted) event() string { return "submitted" }
func (State) event() string     { return "state" }
func (Log) event() string       { return "log" }
func (Note) event() string      { return "note" }
func (Warning) event() string   { return "warning" }
func (Result) event() string    { return "result" }
func (Error) event() string     { return "error" }
