package run

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
)

// interrupted cancels the job when its run is interrupted: gracefully at first, immediately
// on the next Ctrl-C. What the job still prints is shown.
func (o *options) interrupted(ctx context.Context, j *job.Job, done <-chan outcome) error {
	first, grace, why := func() {}, job.DefaultGrace, api.CancelledMessage
	if o.wait.attachment != nil && cli.HungUp(ctx) {
		first, grace, why = o.wait.attachment.Drop, local.DropGrace, "the program or terminal that waited for it has ended"
	}
	next := "kill it now"
	if j.Handle.Backend != api.BackendLocal {
		next = "stop waiting for it"
	}
	again, stop := signal.NotifyContext(context.WithoutCancel(ctx), cli.Interrupts()...) // before anybody is told
	defer stop()
	fmt.Fprintf(o.streams.ErrOut, "interrupted; cancelling job %s (press Ctrl-C again to %s)\n", j.ID(), next)
	was, err := o.end(again, j, first, grace, why)
	if err != nil {
		return err
	}
	select {
	case <-done:
	case <-again.Done():
		if j.Handle.Backend != api.BackendLocal {
			return o.stoppedWaiting(j)
		}
		<-done // it was killed
	}
	if was.State.Ended() {
		return o.endedMeanwhile(j, was)
	}
	if j.Handle.Map == nil {
		o.noteOutputs(again, j, "; to continue from there, run it with --resume-from "+j.ID())
	}
	log := fmt.Sprintf("kubectl kinetic jobs logs %s%s", j.ID(), j.LocationFlags())
	err = cli.Error{Code: cli.ExitInterrupted, Err: fmt.Errorf("interrupted; job %s was cancelled", j.ID()), Next: log}.In(o.streams.ErrOut, fmt.Sprintf("job %s was cancelled; its log: %s", j.ID(), log))
	report.PrintResumeHint(o.streams.ErrOut, j)
	return err
}

// endedMeanwhile tells the user that a job has ended by itself, just before it was to be cancelled.
func (o *options) endedMeanwhile(j *job.Job, was api.Status) error {
	what, verb := "its log", "logs"
	if was.State == api.Succeeded && (j.Handle.Map != nil || j.Handle.CallKind.Returns()) {
		what, verb = "its result", "result"
	}
	next := fmt.Sprintf("kubectl kinetic jobs %s %s%s", verb, j.ID(), j.LocationFlags())
	text := fmt.Sprintf("interrupted; job %s had just ended: %s", j.ID(), was.Word())
	return cli.Error{Code: cli.ExitInterrupted, Err: errors.New(text), Next: next}.In(o.streams.ErrOut, fmt.Sprintf("%s; %s: %s", text, what, next))
}

// abandoned cancels a job whose reader went away, as with `| head`; closed is the error of writing to it.
func (o *options) abandoned(ctx context.Context, j *job.Job, closed error) error {
	again, stop := signal.NotifyContext(context.WithoutCancel(ctx), cli.Interrupts()...)
	defer stop()
	fmt.Fprintf(o.streams.ErrOut, "output closed; cancelling job %s\n", j.ID())
	was, err := o.end(again, j, func() {}, job.DefaultGrace, "its output was closed")
	if err != nil {
		return err
	}
	if was.State.Ended() {
		return report.Unread(again, o.streams.ErrOut, j, closed)
	}
	report.PrintResumeHint(o.streams.ErrOut, j)
	return cli.Error{Code: cli.ExitFailed, Err: fmt.Errorf("output closed; job %s was cancelled", j.ID())}.In(o.streams.ErrOut, "")
}

// end cancels a job, for the reason why, after it has called first. If the context again ends meanwhile, because of another interrupt, it kills a
// local job at once. In a cluster that would take another request, so there it only ends the waiting.
func (o *options) end(again context.Context, j *job.Job, first func(), grace time.Duration, why string) (api.Status, error) {
	was, err := j.CancelAfter(again, first, grace, o.clock.Now(), why)
	switch {
	case again.Err() == nil:
		return was, err
	case j.Handle.Backend == api.BackendLocal:
		return j.Cancel(context.WithoutCancel(again), 0, o.clock.Now(), why)
	default:
		return was, o.stoppedWaiting(j)
	}
}

// stoppedWaiting says that nobody waits for a cancelled job to end.
func (o *options) stoppedWaiting(j *job.Job) error {
	fmt.Fprintf(o.streams.ErrOut, "interrupted again; check whether job %s ended: kubectl kinetic jobs status %s%s\n", j.ID(), j.ID(), j.LocationFlags())
	return cli.Exit(cli.ExitInterrupted)
}
