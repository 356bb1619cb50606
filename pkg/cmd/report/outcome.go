// Package report shows people how a job is doing and how it ended, writes its result and
// its log, and chooses the exit code for that.
package report

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/errno"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Settle ends a command that has seen how a job ended. It says nothing if the job
// succeeded, with all inputs of a map. Otherwise it prints one block on w and returns the
// exit code.
func Settle(ctx context.Context, w io.Writer, j *job.Job, s api.Status) error {
	return settle(ctx, w, j, s, false)
}

// SettleBelow is Settle right below the whole log, without repeating or mentioning the log.
func SettleBelow(ctx context.Context, w io.Writer, j *job.Job, s api.Status) error {
	return settle(ctx, w, j, s, true)
}

func settle(ctx context.Context, w io.Writer, j *job.Job, s api.Status, shown bool) error {
	Remember(ctx, w, j, s)
	switch s.State {
	case api.Succeeded:
		return settleInputs(ctx, w, j)
	case api.NotFound:
		return fmt.Errorf("job %s: %s", j.ID(), withoutWorkload(ctx, j, s))
	}
	failure, err := j.Failure(ctx, s)
	if shown {
		failure.Printed, failure.Next = "", failure.AfterLog
	}
	fmt.Fprintln(w, ui.Detect(w).InColor(api.Failed, ui.Clean(failure.Headline)))
	fmt.Fprint(w, ui.Clean(failure.Body()))
	if err != nil {
		fmt.Fprintf(w, "warning: could not read all details: %v\n", err)
	}
	if s.Reason == api.ExitCode && s.ExitCode != nil && !j.Handle.ByPythonTool() {
		if *s.ExitCode != process.ExitFailed { // every failure has that code
			fmt.Fprintf(w, "(exit code %d comes from your program)\n", *s.ExitCode)
		}
		return process.Exit(*s.ExitCode)
	}
	return process.Exit(process.ExitFailed)
}

// Remember records in the store how a job ended if its runner could not, and releases a job
// that has ended but still holds its hosts. Errors are warnings on w.
func Remember(ctx context.Context, w io.Writer, j *job.Job, s api.Status) {
	Release(ctx, w, j, s)
	if err := j.Remember(ctx, s); err != nil {
		fmt.Fprintf(w, "warning: could not record how job %s ended: %v\n", j.ID(), err)
	}
}

// Release frees the hosts that a job holds although it has ended, and says so on w.
func Release(ctx context.Context, w io.Writer, j *job.Job, s api.Status) {
	if s.UnreleasedHosts == "" {
		return
	}
	if err := j.Release(ctx); err != nil {
		fmt.Fprintf(w, "warning: job %s has ended but still holds %s: %v\n", j.ID(), s.UnreleasedHosts, err)
		return
	}
	fmt.Fprintf(w, "job %s had ended but still held %s: released\n", j.ID(), s.UnreleasedHosts)
}

// withoutWorkload says what is known of a job without a workload.
func withoutWorkload(ctx context.Context, j *job.Job, s api.Status) string {
	if began, err := j.Began(ctx); err == nil && !began && !j.Handle.ByPythonTool() {
		return "it never started: it was prepared but not applied, or deleted before it ran"
	}
	return "its workload is gone, and " + unknownEnd(ctx, j, s)
}

// unknownEnd says why it is unknown how a job ended, and where to look.
func unknownEnd(ctx context.Context, j *job.Job, s api.Status) string {
	text := j.Store.URL() + " does not record how it ended"
	if s.Message != "" {
		text = s.Message
	}
	if url, err := j.PythonResult(ctx); err == nil && url != "" {
		text += ": " + url
	}
	return text
}

// Interrupted ends a command that stopped waiting before it saw the job end: because of
// --timeout (exit code 124) or a signal (130). It returns other errors unchanged.
func Interrupted(w io.Writer, j *job.Job, err error) error {
	follow := "logs -f"
	if j.Handle.Map != nil { // a map has values, and one log per pod
		follow = "result"
	}
	again := fmt.Sprintf("follow: kubectl kinetic jobs %s %s%s\ncancel: kubectl kinetic jobs cancel %s%s",
		follow, j.ID(), j.LocationFlags(), j.ID(), j.LocationFlags())
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(w, "timed out waiting; job %s is still running\n%s\n", j.ID(), again)
		return process.Exit(process.ExitTimeout)
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(w, "interrupted; job %s is still running\n%s\n", j.ID(), again)
		return process.Exit(process.ExitInterrupted)
	case errno.IsClosedPipe(err): // no one reads our output
		return err
	default:
		fmt.Fprintf(w, "stopped watching job %s, which may still be running\n%s\n", j.ID(), again)
		return err
	}
}

// PrintUnread prints a warning on w if a status comes from the store only, and why.
func PrintUnread(w io.Writer, s api.Status) {
	if s.Unread != "" {
		fmt.Fprintf(w, "warning: the cluster could not be asked, only the store: %s\n", ui.Clean(s.Unread))
	}
}

// Unread ends a command whose reader went away before the end, as with `| head`. The
// message says whether the job is still running or has ended.
func Unread(ctx context.Context, w io.Writer, j *job.Job, err error) error {
	kept, back := "its log", "logs -f"
	switch {
	case j.Handle.Map != nil:
		kept, back = "its values", "result"
	case j.Handle.CallKind.Returns():
		kept, back = "its result", "result"
	}
	how := "is still running"
	switch s, unknown := j.Status(ctx); {
	case unknown != nil:
		how = "may still be running"
	case s.State.Ended():
		how = "keeps " + kept
	}
	fmt.Fprintf(w, "output closed; job %s %s: kubectl kinetic jobs %s %s%s\n", j.ID(), how, back, j.ID(), j.LocationFlags())
	return err
}
