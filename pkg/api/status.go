package api

import (
	"encoding/json"
	"errors"
	"time"
)

// State is where a job is in its life.
type State string

// The states of a job.
const (
	// Pending: accepted, nothing runs yet.
	Pending State = "PENDING"
	// Running: the call is executing, or is being prepared on its host.
	Running State = "RUNNING"
	// Succeeded: the call ended well and its result is in the store.
	Succeeded State = "SUCCEEDED"
	// Failed: it ended otherwise; End says how.
	Failed State = "FAILED"
	// NotFound: there is no workload any more. The store may still tell how it ended.
	NotFound State = "NOT_FOUND"
)

// States lists all states, in the order of a job's life.
func States() []State { return []State{Pending, Running, Succeeded, Failed, NotFound} }

// Ended reports whether the state can no longer change.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == NotFound }

// Reason says in one word why a job ended.
type Reason string

// The reasons for an end, and the runner's exit code for each.
const (
	Completed        Reason = "Completed"        // 0
	Exception        Reason = "Exception"        // 1: the function raised
	ExitCode         Reason = "ExitCode"         // 1–123: the script's own code
	DeadlineExceeded Reason = "DeadlineExceeded" // 124: --max-runtime
	RunnerFailure    Reason = "RunnerFailure"    // 125: the runner or the store failed
	Killed           Reason = "Killed"           // 137: killed from outside, by the kernel when memory ran out
	Terminated       Reason = "Terminated"       // 143: SIGTERM
	Disrupted        Reason = "Disrupted"        // 1: lost its pod more often than --max-disruptions
	Cancelled        Reason = "Cancelled"        // 143: by `jobs cancel` or a second thought
	BadResult        Reason = "BadResult"        // 1: the value has no JSON form
	NoProgram        Reason = "NoProgram"        // 1: the command could not be started
)

// Exit codes of the runner that are not the call's own.
const (
	ExitDeadline   = 124
	ExitRunner     = 125
	ExitKilled     = 137 // 128 + SIGKILL
	ExitTerminated = 143 // 128 + SIGTERM
)

// Code is the exit code that stands for a reason where nothing else says one:
// who records the end of a job that its runner could not record uses it.
func (r Reason) Code() int {
	switch r {
	case Completed:
		return 0
	case DeadlineExceeded:
		return ExitDeadline
	case RunnerFailure:
		return ExitRunner
	case Killed:
		return ExitKilled
	case Terminated, Cancelled:
		return ExitTerminated
	default:
		return 1
	}
}

// Status is a job's state at one moment.
type Status struct {
	State State `json:"state"`
	// Ended is how the job ended, as Word says it, where its workload is gone and the
	// store knows; the fields below tell of that end.
	Ended string `json:"ended,omitempty"`
	// Collected says of a job whose workload is gone that it was removed once the result
	// had been brought to its reader.
	Collected bool   `json:"collected,omitempty"`
	Reason    Reason `json:"reason,omitempty"`
	// Message is one sentence for people.
	Message string `json:"message,omitempty"`
	// ExitCode is the runner's, once it has ended.
	ExitCode *int      `json:"exitCode,omitempty"`
	Attempt  int       `json:"attempt,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Next is a command that fixes what Message says, or says more, or ends the job.
	Next string `json:"next,omitempty"`
	// Unrecoverable says of a pending job that waiting will not help.
	Unrecoverable bool `json:"hopeless,omitempty"`
	// UnreleasedHosts says what the job keeps from others although it has ended, or may
	// have: its workload could not be released.
	UnreleasedHosts string `json:"holding,omitempty"`
	// Elsewhere names the machine that a local job runs on, when it isn't this one.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Unread is why the cluster could not be asked; the rest is then what the store knows.
	Unread string `json:"unread,omitempty"`
}

// WorkloadStatus is what the workload of a job says of it: its Status, as far as no record of the
// store is needed for that, and what it takes to complete it.
type WorkloadStatus struct {
	Status
	CurrentPod
	// Ending says of a pending job that it was told to end, or that nothing of it will
	// run any more: its workload has not come to know it yet.
	Ending bool
	// StartsAgain says of a job on several hosts that its attempt is over, and another
	// one comes.
	StartsAgain bool
}

// CurrentPod is the pod in which a job runs, zero where none does or it is not known.
type CurrentPod struct {
	// Pod is its UID.
	Pod string
	// MayHaveEarlierPods says that it was made so long after its job that others may have run
	// before it and be gone, so that Status.Started may be too late.
	MayHaveEarlierPods bool
}

// CancelledWord is Status.Word of a job that was cancelled: to people it has not failed.
const CancelledWord = "CANCELLED"

// Word is the state as people read it: also of a job whose workload is gone, how it ended.
func (s Status) Word() string {
	switch {
	case s.State.Ended() && s.Reason == Cancelled:
		return CancelledWord
	case s.Ended != "":
		return s.Ended
	default:
		return string(s.State)
	}
}

// ErrMayRun is a start that failed in such a way that the job may run all the
// same: its records must stay.
var ErrMayRun = errors.New("the job may run")

// EndVersion is the version of End and Result that this code writes and reads.
const EndVersion = 1

// End is how a job ended, written once as end.json by who knows first: the
// runner, `jobs cancel`, or the client that sees that the workload is gone.
type End struct {
	Version  int       `json:"version"`
	State    State     `json:"state"`
	Reason   Reason    `json:"reason"`
	Message  string    `json:"message,omitempty"`
	ExitCode int       `json:"exit_code"`
	Host     int       `json:"host"`
	Attempt  int       `json:"attempt"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// By is who wrote it: "runner", "cancel" or "client".
	By string `json:"by"`
}

// Status is the state that an End describes.
func (e End) Status() Status {
	code := e.ExitCode
	return Status{State: e.State, Reason: e.Reason, Message: e.Message, ExitCode: &code,
		Attempt: e.Attempt, Started: e.Started, Finished: e.Finished}
}

// Metadata is what an object store keeps beside end.json, so that a listing
// shows how jobs ended without reading each.
func (e End) Metadata() map[string]string {
	metadata := map[string]string{"state": string(e.State), "reason": string(e.Reason)}
	for name, t := range map[string]time.Time{"started": e.Started, "finished": e.Finished} {
		if !t.IsZero() {
			metadata[name] = t.UTC().Format(time.RFC3339)
		}
	}
	return metadata
}

// Collected is collected.json: the result was brought to its reader, and the workload
// removed. It is written once, by the client that did so.
type Collected struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
}

// Attempt is one start of the call, written as attempts/{N}.json by host 0.
type Attempt struct {
	Version int `json:"version"`
	Attempt int `json:"attempt"`
	// Host is the one that started: 0, for all start together, or a chunk of a map.
	Host int `json:"host,omitempty"`
	// UID is the pod's, or for a local job one made of process id and start time.
	UID     string    `json:"uid"`
	Started time.Time `json:"started"`
	// Reason reports an attempt that ended by itself and not the job with it: a
	// crash. One that was told to end has none.
	Reason Reason `json:"reason,omitempty"`
	// Message is one sentence for people, which says of several hosts which it was.
	Message string `json:"message,omitempty"`
	// Finished is zero of an attempt that continues, or had no time for a word.
	Finished time.Time `json:"finished,omitzero"`
}

// Result is result.json: the return value, or the error, of a call.
type Result struct {
	Version int  `json:"version"`
	OK      bool `json:"ok"`
	// Value is JSON that no one has parsed into numbers on the way.
	Value json.RawMessage `json:"value"`
	// Pickle names the object beside result.json that has the exact value,
	// where JSON could not carry it.
	Pickle   *string      `json:"pickle"`
	Error    *ResultError `json:"error"`
	Warnings []string     `json:"warnings,omitempty"`
	// Differs says that JSON does not have the value as it was returned, and Warnings
	// tell in what.
	Differs  bool      `json:"differs"`
	Host     int       `json:"host"`
	Attempt  int       `json:"attempt"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
}

// Verdict is what a listing of a map's results reports it.
func (r Result) Verdict() Verdict { return Verdict{OK: r.OK, Pickled: r.Pickle != nil} }

// ResultError is the failure of a call as Python says it.
type ResultError struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
	// Repr is the repr of a value that could not be serialised, cut to 20,000
	// characters.
	Repr string `json:"repr,omitempty"`
}
