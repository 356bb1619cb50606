package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// noIndex says that --index was not given.
const noIndex = -1

func indexVar(flags *pflag.FlagSet, index *int) {
	*index = noIndex
	cli.NumberVar(flags, index, 0, cli.Unbounded, "index", "Only input `NUMBER` of a map, counted from 0.")
}

// checkIndex checks that an --index, if it was given, is one of the job's inputs.
func checkIndex(j *job.Job, index int) error {
	switch m := j.Handle.Map; {
	case index == noIndex:
		return nil
	case m == nil:
		return cli.Usagef("--index %d: job %s is not a map", index, j.ID())
	case index < 0 || index >= m.Inputs:
		return cli.Usagef("--index %d: job %s has %s inputs, numbered from 0", index, j.ID(), human.Number(m.Inputs))
	}
	return nil
}

// inputStatus returns the status of one input of a map: that of its result or, if there
// is none yet, of the job.
func inputStatus(ctx context.Context, j *job.Job, index int) (api.Status, error) {
	r, err := j.Results().Read(ctx, index)
	if errors.Is(err, store.ErrNotFound) {
		return withoutResult(ctx, j)
	}
	if err != nil {
		return api.Status{}, err
	}
	return statusOf(r), nil
}

func statusOf(r api.Result) api.Status {
	s := api.Status{State: api.Succeeded, Reason: api.Completed, Attempt: r.Attempt, Started: r.Started, Finished: r.Finished}
	if !r.OK {
		s.State, s.Reason = api.Failed, api.Exception
	}
	if r.Error != nil {
		s.Message = fmt.Sprintf("%s: %s", r.Error.Type, r.Error.Message)
	}
	return s
}

// withoutResult returns the status of an input that has no result.
func withoutResult(ctx context.Context, j *job.Job) (api.Status, error) {
	s, err := j.Status(ctx)
	if err == nil && job.WithoutResult(s) == api.Failed {
		s.State, s.Message = api.Failed, job.NoInputResult
	}
	return s, err
}

// inputInterval is how often the store is asked for the result of an input.
const inputInterval = 5 * time.Second

// waitForInput waits until one input of a map has its result, or the map has ended. It looks every so often.
func waitForInput(ctx context.Context, j *job.Job, index int, every time.Duration) (api.Status, error) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	found := make(chan error, 1)
	go func() {
		found <- wait.PollUntilContextCancel(waiting, every, false, func(ctx context.Context) (bool, error) {
			_, err := j.Results().Read(ctx, index)
			return err == nil, nil // else it has none yet
		})
		stop()
	}()
	status, err := j.Wait(waiting, func(api.Status) {})
	stop()
	if <-found == nil {
		err = nil
	}
	return status, err
}

// inputResult prints the value of one input of a map, waiting for it if need be.
func (c *command) inputResult(ctx, waiting context.Context, j *job.Job, index int, o report.Collection) error {
	r, err := j.Results().Read(ctx, index)
	if errors.Is(err, store.ErrNotFound) {
		if status, err := waitForInput(waiting, j, index, inputInterval); err != nil {
			return report.Interrupted(c.streams.ErrOut, j, status.State, err)
		}
		r, err = j.Results().Read(ctx, index)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &cli.Error{Code: cli.ExitFailed, Kind: api.KindMissingResult,
			Err: fmt.Errorf("input %d of job %s has no result: it was deleted, or the job ended before it was stored", index, j.ID())}
	case err != nil:
		return err
	case r.OK:
		err := o.Write(c.streams.Out, r.Value)
		if err == nil {
			report.PrintWarnings(c.streams.ErrOut, j, r, nil)
			report.SendEnd(c.streams.ErrOut, j, statusOf(r), r, nil)
		}
		return err
	}
	failed := records.FailedInput{Input: index}
	if r.Error != nil {
		failed.Error = *r.Error
	}
	report.SendEnd(c.streams.ErrOut, j, statusOf(r), r, nil)
	if event.Of(c.streams.ErrOut) == nil { // else the result has it
		fmt.Fprint(c.streams.ErrOut, ui.Clean(failed.Error.Traceback))
	}
	return &cli.Error{Code: cli.ExitFailed, Kind: api.KindJobFailed, Err: errors.New(ui.Clean(report.FailedInput(failed)))}
}
