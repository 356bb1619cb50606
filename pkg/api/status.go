package api

import (
	"encoding/json"
	"errors"
	"time"
)

// State is a stage in the life of a job.
type State string

// The states of a job.
const (
	// Pending: accepted, but nothing runs yet.
	Pending State = "PENDING"
	// Running: the call is executing, or is being prepared on its host.
	Running State = "RUNNING"
	// Succeeded: the call succeeded and its result is in the store.
	Succeeded State = "SUCCEEDED"
	// Failed: it ended in another way; End says how.
	Failed State = "FAILED"
	// NotFound: the workload no longer exists. The store may still say how the job ended.
	NotFound State = "NOT_FOUND"
)

// States lists all states, in the order of a job's life.
func States() []State { return []State{Pending, Running, Succeeded, Failed, NotFound} }

// Ended reports whether the state can no longer change.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == NotFound }

// Reason says in one word why a job ended.
type Reason string

// The reasons for an end, and the runner's exit code for each, which Code returns.
const (
	Completed        Reason = "Completed"        // 0
	Exception        Reason = "Exception"        // 1: the function raised
	ExitCode         Reason = "ExitCode"         // 1–123: the script's own code
	DeadlineExceeded Reason = "DeadlineExceeded" // 124: --max-runtime
	RunnerFailure    Reason = "RunnerFailure"    // 125: the runner or the store failed
	Killed           Reason = "Killed"           // 137: killed from outside, for example by the kernel when out of memory
	Terminated       Reason = "Terminated"       // 143: SIGTERM
	Disrupted        Reason = "Disrupted"        // 1: lost its pod more often than --max-disruptions
	Cancelled        Reason = "Cancelled"        // 143: by `jobs cancel` or `run`
	BadResult        Reason = "BadResult"        // 1: the value cannot be brought back
	NoProgram        Reason = "NoProgram"        // 1: the command could not be started
	BadEnvironment   Reason = "BadEnvironment"   // 1: the packages of the job could not be installed, and a retry would not help
	BadData          Reason = "BadData"          // 1: an input of the job does not exist, or does not fit on the disk
	BadPayload       Reason = "BadPayload"       // 1: the job cannot unpickle the function or its arguments
)

// Code returns the exit code for a reason. It is used where the runner could not record
// one.
func (r Reason) Code() int {
	code, known := Contract.Reasons[string(r)]
	if !known {
		return 1
	}
	return code
}

// PullingImage begins what is said of a pod whose image is pulled.
const PullingImage = "pulling image "

// Status is a job's state at one moment.
type Status struct {
	State State `json:"state"`
	// Ended is how the job ended, in the form of Word, if its workload is gone and the
	// store has a record. The fields below then describe that end.
	Ended string `json:"ended,omitempty"`
	// End is the sentence about the end of a job that has ended, if that is known: "ended SUCCEEDED, its value was collected".
	End string `json:"end,omitempty"`
	// Collected means that the workload was removed after the result had been delivered.
	Collected bool   `json:"collected,omitempty"`
	Reason    Reason `json:"reason,omitempty"`
	// Message is one sentence for people.
	Message string `json:"message,omitempty"`
	// ExitCode is the runner's exit code, nil until it has ended.
	ExitCode *int      `json:"exitCode,omitempty"`
	Attempt  int       `json:"attempt,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Next is a command that fixes the problem in Message, shows more about it, or ends the
	// job.
	Next string `json:"next,omitempty"`
	// Unrecoverable means that a pending job will never start.
	Unrecoverable bool `json:"unrecoverable,omitempty"`
	// ImageLost means that the registry lacks the image of a pending job, or a part of it.
	ImageLost bool `json:"imageLost,omitempty"`
	// ImageDigest is the digest of the image that the job's first pod runs, "" until it is known.
	ImageDigest string `json:"imageDigest,omitempty"`
	// UnreleasedHosts is what the job still holds although it has ended, or may have: its
	// workload could not be released.
	UnreleasedHosts string `json:"unreleasedHosts,omitempty"`
	// Elsewhere names the machine that a local job runs on, if it isn't this one.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Unread is why the cluster could not be read; the rest is then what the store has.
	Unread string `json:"unread,omitempty"`
	// Reported is the pickle that the job's pod reported to its cluster, nil if it is not known
	// from there. Nothing that is read from a store sets it.
	Reported *Pickle `json:"-"`
	// Hashes are what the pods of a map reported in the same way, in any order.
	Hashes []ChunkHashes `json:"-"`
}

// WorkloadStatus is what the workload of a job shows: as much of its Status as needs no
// records of the store, and what is needed to complete it.
type WorkloadStatus struct {
	Status
	CurrentPod
	// Ending means that a pending job was cancelled, or that none of it will run again,
	// though its workload does not show that yet.
	Ending bool
	// StartsAgain means that the attempt of a job on several hosts is over and another one
	// follows.
	StartsAgain bool
}

// CurrentPod is the pod that a job runs in, zero if there is none or it is unknown.
type CurrentPod struct {
	// Pod is its UID.
	Pod string
	// MayHaveEarlierPods means that the pod was created so long after its job that earlier
	// pods may have run and be gone. Status.Started may then be too late.
	MayHaveEarlierPods bool
}

// EndSentence returns the sentence about the end of a job that calls in this way, "" if the end is not known.
func (s Status) EndSentence(isMap bool, kind CallKind) string {
	word := s.Word()
	switch {
	case !s.State.Ended() || word == string(NotFound):
		return ""
	case s.Collected && isMap:
		return "ended " + word + ", its values were collected"
	case s.Collected && kind.Returns():
		return "ended " + word + ", its value was collected"
	case s.Collected:
		return "ended " + word + ", it was collected"
	case word == string(Failed) && s.Message != "":
		return "ended " + word + ": " + s.Message
	}
	return "ended " + word
}

// CancelledWord is what Status.Word returns for a cancelled job: people don't call that a
// failure.
const CancelledWord = "CANCELLED"

// Word returns the state as people read it. If the workload is gone, that is how the job
// ended.
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

// ErrMayRun means that starting a job failed, but the job may run all the same: its records
// must stay.
var ErrMayRun = errors.New("the job may run")

// EndVersion is the version of End and Result that this code writes and reads.
var EndVersion = Contract.Versions.Document

// End is how a job ended, written once as end.json by whoever learns it first: the runner,
// `jobs cancel`, or a client that finds the workload gone.
type End struct {
	Version  int       `json:"version"`
	State    State     `json:"state"`
	Reason   Reason    `json:"reason"`
	Message  string    `json:"message,omitempty"`
	ExitCode int       `json:"exit_code"`
	Host     int       `json:"host"`
	Attempt  int       `json:"attempt"`
	Started  time.Time `json:"started,omitzero"`
	// Called is when the last attempt had its packages and data, and began the call; zero if it did not, or if an older
	// runner wrote this.
	Called   time.Time `json:"called,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// By says what wrote it: "runner", "cancel" or "client".
	By string `json:"by"`
	// Pickle is what a pickled call left, nil for nothing, and for any other call.
	Pickle *Pickle `json:"pickle,omitempty"`
	// Unsaved are the first of the outputs that could not be saved, UnsavedTotal is how many
	// there are.
	Unsaved      []Unsaved `json:"unsaved,omitempty"`
	UnsavedTotal int       `json:"unsaved_total,omitempty"`
}

// Pickle describes the pickle of what a call returned or raised.
type Pickle struct {
	// Name is that of the object, relative to the job's directory.
	Name string `json:"name"`
	// SHA256 is the hash of the object, in lower-case hex, and Size its number of bytes.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// ChunkHashes is what a pod of a map reported of its list of hashes, which the store has.
type ChunkHashes struct {
	Chunk   int `json:"-"`
	Attempt int `json:"attempt"`
	// SHA256 is the hash of the list, in lower-case hex.
	SHA256 string `json:"hashes"`
}

// Unsaved is an output that could not be saved.
type Unsaved struct {
	// Path is relative to KINETIC_OUTPUT_PATH.
	Path string `json:"path"`
	Size int64  `json:"size"`
	Why  string `json:"why"`
}

// Status returns the status that an End describes.
func (e End) Status() Status {
	code := e.ExitCode
	return Status{State: e.State, Reason: e.Reason, Message: e.Message, ExitCode: &code,
		Attempt: e.Attempt, Started: e.Started, Finished: e.Finished}
}

// Metadata returns what an object store keeps beside end.json, so that a listing shows how
// jobs ended without reading each file.
func (e End) Metadata() map[string]string {
	metadata := map[string]string{"state": string(e.State), "reason": string(e.Reason)}
	for name, t := range map[string]time.Time{"started": e.Started, "finished": e.Finished} {
		if !t.IsZero() {
			metadata[name] = t.UTC().Format(time.RFC3339)
		}
	}
	return metadata
}

// Collected is collected.json: the result was delivered and the workload removed. The
// client that did so writes it once.
type Collected struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
}

// Attempt is one start of the call, written as attempts/{N}.json by host 0.
type Attempt struct {
	Version int `json:"version"`
	Attempt int `json:"attempt"`
	// Host is the host that started: 0 if all start together, or a chunk of a map.
	Host int `json:"host,omitempty"`
	// UID is the pod's UID. A local job's is made of the process id and the start time.
	UID     string    `json:"uid"`
	Started time.Time `json:"started"`
	// Reason is set if the attempt crashed and the job continues. It is empty for an
	// attempt that was told to end.
	Reason Reason `json:"reason,omitempty"`
	// Message is one sentence for people. With several hosts, it names the one that
	// crashed.
	Message string `json:"message,omitempty"`
	// Finished is zero for an attempt that still runs or was killed before it could write
	// this.
	Finished time.Time `json:"finished,omitzero"`
}

// Result is result.json: the return value, or the error, of a call.
type Result struct {
	Version int  `json:"version"`
	OK      bool `json:"ok"`
	// Value is JSON as the runner wrote it, so that numbers keep their exact form.
	Value json.RawMessage `json:"value"`
	// Pickle names the object beside result.json with the exact value, if JSON could not
	// represent it.
	Pickle *string      `json:"pickle"`
	Error  *ResultError `json:"error"`
	// Pickled is a small pickle itself, of an input of a map. PickleSHA256 and PickleSize are those of
	// a pickle, also of one in an object, if the call was pickled.
	Pickled      []byte   `json:"pickled,omitempty"`
	PickleSHA256 string   `json:"pickle_sha256,omitempty"`
	PickleSize   int64    `json:"pickle_size,omitempty"`
	Warnings     []string `json:"warnings,omitempty"`
	// JSONWarnings is how many of the Warnings, the first ones, only say how the JSON of a pickled call differs
	// from the value.
	JSONWarnings int `json:"json_warnings,omitempty"`
	// Differs means that the JSON is not the exact value that the call returned; Warnings
	// say how.
	Differs  bool      `json:"differs"`
	Host     int       `json:"host"`
	Attempt  int       `json:"attempt"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
}

// Verdict returns what a listing of a map's results shows for this one.
func (r Result) Verdict() Verdict { return Verdict{OK: r.OK, Pickled: r.Pickle != nil} }

// ResultError is the exception of a call, in Python's words.
type ResultError struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
	// Repr is the repr of a value that could not be serialised, cut to 20,000
	// characters.
	Repr string `json:"repr,omitempty"`
}
