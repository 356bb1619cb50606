package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// MapEnd is how a map ended.
type MapEnd struct {
	Status  api.Status
	Outcome job.MapOutcome
}

// FollowMap writes the values of a map to out until it has ended, and tells how.
// state hears of every change of its state, progress how far it is.
func FollowMap(ctx context.Context, j *job.Job, out io.Writer, state func(api.Status), progress func(job.Progress)) (end MapEnd, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended, waited := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		if end.Status, err = j.Wait(ctx, state); err == nil {
			close(ended)
		} else {
			cancel(err)
		}
		waited <- err
	}()
	outcome, err := j.MapResults(ctx, ended, out, progress)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		cancel(err)
		<-waited
		return end, context.Cause(ctx)
	}
	if waitErr := <-waited; waitErr != nil {
		return end, waitErr
	}
	end.Outcome = outcome
	return end, err
}

// SettleMap ends a command that has written the values of a map. It removes what is
// not needed any more once every input has its value, else it says which has none,
// and leaves the map whole.
func SettleMap(ctx context.Context, streams genericiooptions.IOStreams, j *job.Job, end MapEnd, cleanup bool) error {
	Remember(ctx, streams.ErrOut, j, end.Status)
	if n := end.Outcome.Pickled; n > 0 {
		fmt.Fprintf(streams.ErrOut, "%s of the values stay, pickled, in %s/%s: JSON can't carry them exactly\n", ui.Number(n), j.Store.URL(), store.Results(j.ID()))
	}
	if end.Outcome.Complete() {
		if !cleanup {
			return nil
		}
		return j.ReleaseMap(ctx)
	}
	tellFailures(streams.ErrOut, j, end)
	return Exit(ExitFailed)
}

// NoMapResults ends a command that found a map ended without any result.
func NoMapResults(ctx context.Context, w io.Writer, j *job.Job, s api.Status) error {
	if s.State == api.Succeeded {
		return fmt.Errorf("job %s succeeded, and its results were collected and removed already", j.ID())
	}
	return Settle(ctx, w, j, s)
}

// tellFailures says which inputs have no value, and what to do about it.
func tellFailures(w io.Writer, j *job.Job, end MapEnd) {
	failed, missing := end.Outcome.Failed, end.Outcome.Missing
	for _, f := range failed {
		fmt.Fprintln(w, ui.Clean(FailedInput(f)))
	}
	if len(missing) > 0 {
		fmt.Fprintf(w, "%s of %s inputs have no result (the first is %d): their pods failed or were removed before reaching them\n",
			ui.Number(len(missing)), ui.Number(j.Handle.Map.Inputs), missing[0])
	}
	if end.Status.State != api.Succeeded {
		fmt.Fprintln(w, ui.Clean(fmt.Sprintf("job %s %s", j.ID(), job.Outcome(end.Status))))
	}
	fmt.Fprintf(w, "%s of %s inputs have no value; the job stays\n", ui.Number(len(failed)+len(missing)), ui.Number(j.Handle.Map.Inputs))
	if len(failed) > 0 {
		fmt.Fprintf(w, "next: kubectl kinetic jobs logs %s --index %d%s\n", j.ID(), failed[0].Input, j.PlaceFlag())
	}
	fmt.Fprintf(w, "next: run the same with --map-resume %s, which computes only those\n", j.ID())
}

// FailedInput is the failure of one input in a line.
func FailedInput(f job.FailedInput) string {
	if f.Error.Type == "" {
		return fmt.Sprintf("input %d: %s", f.Input, f.Error.Message)
	}
	return fmt.Sprintf("input %d: %s: %s", f.Input, f.Error.Type, f.Error.Message)
}

// MapProgress says how far a map is.
func MapProgress(p job.Progress) string {
	text := fmt.Sprintf("%s/%s done", ui.Number(p.Done), ui.Number(p.Total))
	if p.Failed > 0 {
		text += fmt.Sprintf(", %s failed", ui.Number(p.Failed))
	}
	return text
}

// CollectMap waits for a map, bounded by ctx, brings all values to their reader and,
// where each input has one, cleans up.
func CollectMap(ctx, waiting context.Context, streams genericiooptions.IOStreams, j *job.Job, c Collection) error {
	out := c.open(streams.Out)
	defer out.discard()
	end, err := FollowMap(waiting, j, out, func(api.Status) {}, func(job.Progress) {})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return NoMapResults(ctx, streams.ErrOut, j, end.Status)
	case err != nil:
		return Interrupted(streams.ErrOut, j, err)
	}
	if err := out.complete(); err != nil {
		return err
	}
	return SettleMap(ctx, streams, j, end, c.Cleanup)
}
