package logs

import (
	"context"
	"errors"
	"io"
	"time"
)

// Source gives access to the pods of one job and to their logs.
type Source interface {
	// Pods returns the pods that the job has now.
	Pods(ctx context.Context) (Pods, error)
	// WatchPods calls seen with the pods, at once and after every change, until seen returns
	// true. Of several changes at a time it may only report the last.
	WatchPods(ctx context.Context, seen func(Pods) bool) error
	// Open requests the log of a pod. Each line begins with its time, in RFC 3339, and a
	// space. An error is a SourceError, unless trying again may help.
	Open(ctx context.Context, p Pod, o OpenOptions) (io.ReadCloser, error)
	// Now returns the time by the clock that the times in Pods come from.
	Now() time.Time
	// Warn shows a line to the user.
	Warn(line string)
}

// Pods are the pods of a job at one moment. They are immutable.
type Pods struct {
	// List has the pods of each host in order, from the oldest to the newest.
	List []Pod
	// JobEnded says that the job has ended.
	JobEnded bool
	// Grace is how long pods may keep running after that.
	Grace time.Duration
}

// Pod is a pod of a job. Its state is that of the container that runs the call.
type Pod struct {
	Name, UID string
	Host      int
	// Created is when the pod was created, Started and Finished when its container started
	// and ended. They are zero before that; the last two also if the node lost the container.
	Created, Started, Finished time.Time
	// Running and Ended are the state of the container, which waits if both are false.
	Running, Ended bool
	// Lost says that the node no longer knows how the container ended.
	Lost bool
	// Deleted says that the pod is being deleted.
	Deleted bool
}

// OpenOptions choose a part of the log of a pod.
type OpenOptions struct {
	// Follow keeps the log open for what is printed later. The log may still end at any time.
	Follow bool
	// Since leaves out lines before this time, which is cut to whole seconds; zero is all lines.
	Since time.Time
	// Tail is a number of lines from the end, Limit a number of bytes from the beginning; 0
	// is everything.
	Tail, Limit int
}

// SourceError says why a log can't be opened.
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
	// Temporary is a failure after which another try may succeed.
	Temporary Reason = iota
	// Unanswered is a server that can't be reached at the moment.
	Unanswered
	// Unready is a container that has not started, or that its node has lost.
	Unready
	// Gone is a pod that does not exist any more.
	Gone
	// Refused is a failure after which no other try will succeed.
	Refused
)

// reasonOf returns the reason of an error: Temporary unless it is a SourceError.
func reasonOf(err error) Reason {
	if e, ok := errors.AsType[*SourceError](err); ok {
		return e.Reason
	}
	return Temporary
}
