package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/outputs"
)

// settleWithOutputs settles a job, and fetches what it wrote if it has ended and that is wanted, or says
// how to get it: a failed job may have left checkpoints, too.
func (o *options) settleWithOutputs(ctx context.Context, j *job.Job, end outcome) error {
	noted := o.wait.outputs == "" && j.Handle.Map == nil && end.err == nil && end.status.State.Ended()
	if noted && end.status.State != api.Succeeded { // the last line of a failure says whose exit code it is
		o.noteOutputs(ctx, j, "")
		return o.settle(ctx, j, end)
	}
	settled := o.settle(ctx, j, end)
	switch {
	case noted && settled == nil:
		o.noteOutputs(ctx, j, "")
		return nil
	case o.wait.outputs == "" || !end.status.State.Ended():
		return settled
	}
	err := o.fetchOutputs(ctx, j)
	if settled == nil {
		return err
	}
	var code *cli.Error
	if err != nil && !errors.As(err, &code) { // else its reason has been printed
		report.PrintErrors(o.streams.ErrOut, []error{err})
	}
	return settled
}

func (o *options) fetchOutputs(ctx context.Context, j *job.Job) error {
	dir, err := outputs.Of(j)
	if err != nil {
		return err
	}
	found, err := dir.List(ctx, "")
	if err == nil && len(found) == 0 {
		o.ui.Note(fmt.Sprintf("no outputs for --outputs %s: nothing in %s", o.wait.outputs, dir.URL()))
		return nil
	}
	if err == nil {
		_, err = report.CopyOutputs(ctx, o.ui, dir, "", o.wait.outputs)
	}
	if err != nil && ctx.Err() != nil {
		fmt.Fprintf(o.streams.ErrOut, "interrupted; to continue: kubectl kinetic jobs outputs %s cp %s%s\n", j.ID(), human.Quote(o.wait.outputs), j.LocationFlags())
		return cli.Exit(cli.ExitInterrupted)
	}
	return err
}

// outputsTime is how long a finished run looks for outputs.
const outputsTime = 2 * time.Second

// noteOutputs says how to get what the job wrote, and what else to do with it. It says nothing if it can't find out
// quickly.
func (o *options) noteOutputs(ctx context.Context, j *job.Job, more string) {
	ctx, cancel := context.WithTimeout(ctx, outputsTime)
	defer cancel()
	dir, err := outputs.Of(j)
	if err != nil {
		return
	}
	files, err := dir.List(ctx, "")
	if err != nil || len(files) == 0 {
		return
	}
	o.ui.Note(fmt.Sprintf("%s: kubectl kinetic jobs outputs %s cp out%s%s", human.Count(len(files), "output"), j.ID(), j.LocationFlags(), more))
}
