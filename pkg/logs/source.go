package logs

import (
	"context"
	"errors"
	"io"
	"time"
)

// Source is where the pods of one job are, and what they print.
type Source interface {
	// Pods returns the pods that the job has now.
	Pods(ctx context.Context) (Pods, error)
	// WatchPods calls seen with the pods at once and after every change, until seen returns
	// true. It may leave out all but the last of several changes.
	WatchPods(ctx context.Context, seen func(Pods) bool) error
	// Open requests the log of a pod: lines that each begin with their time, in RFC 3339,
	// and a space. Why it can't is a SourceError unless that may pass.
	Open(ctx context.Context, p Pod, o OpenOptions) (io.ReadCloser, error)
	// Now is the time by the clock of the times in Pods.
	Now() time.Time
	// Warn writes a line to who waits.
	Warn(line string)
}

// Pods are those of a job at one moment. No one changes them.
type Pods struct {
	// List has those of each host from the oldest to the newest.
	List []Pod
	// JobEnded says that the job has.
	JobEnded bool
	// Grace is how long pods may run on afterwards.
	Grace time.Duration
}

// Pod is a pod of a job. Its state is that of the container that runs the call.
type Pod struct {
	Name, UID string
	Host      int
	// Created is when the pod was, Started and Finished when its container did; zero
	// before, and of a container that its node has lost.
	Created, Started, Finished time.Time
	// Running and Ended are the container's state; neither is waiting.
	Running, Ended bool
	// Lost says that its node doesn't know any more how the container ended.
	Lost bool
	// Deleted says that the pod is being deleted.
	Deleted bool
}

// OpenOptions choose a part of the log of a pod.
type OpenOptions struct {
	// Follow keeps the log open for what is printed later. It may end at any time.
	Follow bool
	// Since leaves out lines before this time, which is taken in whole seconds; zero is none.
	Since time.Time
	// Tail is the number of lines from the end, Limit that of bytes from the beginning;
	// 0 is all.
	Tail, Limit int
}

// SourceError is why a log can't be opened.
type SourceError struct {
	Reason Reason
	Err    error
}

func (e *SourceError) Error() string { return e.Err.Error() }
func (e *SourceError) Unwrap() error { return e.Err }

// Reason is the kind of a SourceError.
type Reason int

// The reasons.
const (
	// Temporary may pass.
	Temporary Reason = iota
	// Unanswered is a server that can't be reached now, and will be.
	Unanswered
	// Unready is a container that has not started, or that its node has lost.
	Unready
	// Gone is a pod that does not exist any more.
	Gone
	// Refused is everything that will not pass.
	Refused
)

// reasonOf is the reason of an error, Temporary unless it is a SourceError.
func reasonOf(err error) Reason {
	var e *SourceError
	if errors.As(err, &e) {
		return e.Reason
	}
	return Temporary
}
