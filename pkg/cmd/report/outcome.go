// Package report shows people how a job is doing and how it ended, writes its result and
// its log, and chooses the exit code for that.
package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/outputs"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// End is how a job ended, and what a command did with that so far.
type End struct {
	Status api.Status
	// Pickle is where the exception of a pickled call was written, nil if it wasn't.
	Pickle *event.Pickle
	// LogShown means that the whole log is right above: it is neither repeated nor mentioned.
	LogShown bool
}

// Settle ends a command that has seen how a job ended. It says nothing if the job
// succeeded, with all inputs of a map. Otherwise it prints one block on w and returns the
// exit code.
func Settle(ctx context.Context, w io.Writer, j *job.Job, end End) error {
	s := end.Status
	Remember(ctx, w, j, s)
	if s.State == api.NotFound {
		return &cli.Error{Code: cli.ExitFailed, Kind: api.KindMissingResult, Next: describe(j),
			Err: fmt.Errorf("job %s: %s", j.ID(), withoutWorkload(ctx, j, s))}
	}
	sendEnd(ctx, w, j, s, end.Pickle)
	if s.State == api.Succeeded {
		return settleInputs(ctx, w, j)
	}
	failure, err := j.Failure(ctx, s)
	if end.LogShown {
		failure.Printed, failure.Next = "", failure.AfterLog
	}
	failed := cli.Error{Code: cli.ExitFailed, Kind: api.KindJobFailed, Err: errors.New(failure.Headline), Next: failure.Next}
	text := ui.Detect(w).InColor(api.Failed, ui.Clean(failure.Headline)) + "\n" + Hint(w, j.ID(), ui.Clean(failure.Body()))
	if err != nil {
		text += fmt.Sprintf("warning: could not read all details: %v\n", err)
	}
	if s.Reason == api.ExitCode && s.ExitCode != nil && !j.Handle.ByPythonTool() {
		failed.Code = *s.ExitCode
		if !strings.Contains(s.Message, ", reported as ") { // the runner has replaced a code that means something else
			text += fmt.Sprintf("(exit code %d comes from your program)\n", failed.Code)
		}
	}
	err = failed.In(w, text)
	PrintResumeHint(w, j)
	return err
}

// describe returns the command that shows all that is known of a job.
func describe(j *job.Job) string {
	return "kubectl kinetic jobs describe " + j.ID() + j.LocationFlags()
}

// Remember does what a job's runner could not: it records in the store how the job ended and tidies up
// its outputs, and releases a job that has ended but still holds its hosts. Errors are warnings on w.
func Remember(ctx context.Context, w io.Writer, j *job.Job, s api.Status) {
	Release(ctx, w, j, s)
	if err := j.Remember(ctx, s); err != nil {
		fmt.Fprintf(w, "warning: could not record how job %s ended: %v\n", j.ID(), err)
	}
	if s.State == api.Failed && j.Handle.Map == nil { // the inputs of a map tidy up theirs, and may be many
		TidyOutputs(ctx, w, j)
	}
}

// TidyOutputs gives the saved outputs of a job that has ended the names that people know, if its runner
// could not. An error is a warning on w: they can be read all the same.
func TidyOutputs(ctx context.Context, w io.Writer, j *job.Job) {
	dir, err := outputs.Of(j)
	if err != nil {
		return // they are not in the store
	}
	if err := dir.Settle(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(w, "warning: %v\n", ui.Clean(err.Error()))
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
	if state, err := j.BeforeStart(ctx); err == nil && state != "" && !j.Handle.ByPythonTool() {
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
// --timeout (exit code 124) or a signal (130). It returns other errors unchanged. last is the
// last known state of the job, "" for none: a map that has ended may still have values to read.
func Interrupted(w io.Writer, j *job.Job, last api.State, err error) error {
	state := Standing(last)
	follow := "logs -f"
	if j.Handle.Map != nil { // a map has values, and one log per pod
		follow = "result"
	}
	follow = fmt.Sprintf("kubectl kinetic jobs %s %s%s", follow, j.ID(), j.LocationFlags())
	cancel := fmt.Sprintf("kubectl kinetic jobs cancel %s%s", j.ID(), j.LocationFlags())
	again, toCancel := "follow: "+follow+"\ncancel: "+cancel, "; to cancel it: "+cancel
	if last.Ended() {
		again, toCancel = "read on: "+follow, ""
	}
	again = Hint(w, j.ID(), again)
	stop := func(code int, why string) error {
		text := fmt.Sprintf("%s; job %s %s", why, j.ID(), state)
		return cli.Error{Code: code, Err: errors.New(text + toCancel), Next: follow}.In(w, text+"\n"+again)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return stop(cli.ExitTimeout, "timed out waiting")
	case errors.Is(err, context.Canceled):
		return stop(cli.ExitInterrupted, "interrupted")
	case platform.IsClosedPipe(err): // no one reads our output
		return err
	default:
		fmt.Fprintf(w, "stopped watching job %s, which may still be running\n%s\n", j.ID(), again)
		return err
	}
}

// Standing returns how a job was when nobody watched it any more, from its last known state, "" for none.
func Standing(last api.State) string {
	switch {
	case last.Ended():
		return "has ended"
	case last == api.Pending:
		return "is still waiting"
	}
	return "is still running"
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
	s, unknown := j.Status(ctx)
	how := Standing(s.State)
	switch {
	case unknown != nil:
		how = "may still be running"
	case s.State.Ended():
		how = "keeps " + kept
	}
	fmt.Fprintln(w, Hint(w, j.ID(), fmt.Sprintf("output closed; job %s %s: kubectl kinetic jobs %s %s%s", j.ID(), how, back, j.ID(), j.LocationFlags())))
	return err
}

// Hint returns a text with commands about a job. On a terminal the commands have the short ID, so that they fit on a
// line.
func Hint(w io.Writer, id, text string) string {
	if ui.Detect(w).Width() == 0 {
		return text
	}
	return shortened(id, text)
}

func shortened(id, text string) string {
	command := regexp.MustCompile(`(kubectl kinetic jobs [a-z]+(?: -f)?|--map-resume|--resume-from) ` + regexp.QuoteMeta(id) + `\b`)
	return command.ReplaceAllString(text, "$1 "+store.ShortID(id))
}

// SendEnd sends how a job has ended, if w takes events. head is what the store has of the result, zero
// for a job without one; pickle is where the result was written, nil if it wasn't.
func SendEnd(w io.Writer, j *job.Job, s api.Status, head api.Result, pickle *event.Pickle) {
	events := event.Of(w)
	if events == nil {
		return
	}
	e := event.Result{Job: j.ID(), State: s.State, Reason: s.Reason, OK: head.OK, Error: head.Error,
		Host: head.Host, Attempt: max(head.Attempt, s.Attempt, 1), Warnings: append([]string{}, head.Warnings...), Pickle: pickle}
	_ = events.Send(e) // the command ends anyway
}

// sendEnd is SendEnd for a result that was not read yet.
func sendEnd(ctx context.Context, w io.Writer, j *job.Job, s api.Status, pickle *event.Pickle) {
	if event.Of(w) == nil {
		return
	}
	head, err := j.ResultHead(ctx)
	if err != nil { // a map has none, nor has a job that never got that far
		p, err := j.Progress(ctx)
		head = api.Result{OK: s.State == api.Succeeded && (err != nil || p == nil || p.Failed == 0)}
	}
	SendEnd(w, j, s, head, pickle)
}
