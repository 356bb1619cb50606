package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Settle ends a command that has seen how a job ended: nothing to say where it
// succeeded, else one block on w, and the exit code that goes with it.
func Settle(ctx context.Context, w io.Writer, j *job.Job, s api.Status) error {
	switch s.State {
	case api.Succeeded:
		return nil
	case api.NotFound:
		return fmt.Errorf("job %s: it has no workload any more, and %s does not know how it ended", j.ID(), j.Store.URL())
	}
	failure, err := j.Failure(ctx, s)
	if err != nil {
		return fmt.Errorf("%s; reading why: %w", failure.Headline, err)
	}
	fmt.Fprint(w, ui.Clean(failure.String()))
	if s.Reason == api.ExitCode && s.ExitCode != nil {
		fmt.Fprintf(w, "exit code %d is the job's own\n", *s.ExitCode)
		return Exit(*s.ExitCode)
	}
	return Exit(ExitFailed)
}

// Interrupted ends a command whose waiting was cut short while the job goes
// on: by --timeout (exit code 124) or by a signal (130). Other errors stay.
func Interrupted(w io.Writer, j *job.Job, err error) error {
	again := fmt.Sprintf("follow it again: kubectl kinetic jobs logs -f %s%s\nend it:          kubectl kinetic jobs cancel %s%s",
		j.ID(), j.PlaceFlag(), j.ID(), j.PlaceFlag())
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(w, "timed out waiting; job %s goes on\n%s\n", j.ID(), again)
		return Exit(ExitTimeout)
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(w, "interrupted; job %s goes on\n%s\n", j.ID(), again)
		return Exit(ExitInterrupted)
	case errors.Is(err, syscall.EPIPE): // nobody reads any more
		return err
	default:
		fmt.Fprintf(w, "job %s is not watched any more, and goes on\n%s\n", j.ID(), again)
		return err
	}
}
