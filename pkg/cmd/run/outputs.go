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
	ended := end.status.State.Ended()
	known := end.err == nil && j.Handle.Map == nil
	if ended && known && end.status.State != api.Succeeded { // the last line of a failure says whose exit code it is
		o.printOnce(o.bringOutputs(ctx, j))
		return o.settle(context.WithoutCancel(ctx), j, end) // also after Ctrl-C, which has ended the copying
	}
	settled := o.settle(ctx, j, end)
	if !ended || o.wait.outputs == "" && (!known || settled != nil) {
		return settled
	}
	err := o.bringOutputs(ctx, j)
	if settled == nil {
		return err
	}
	o.printOnce(err)
	return settled
}

// bringOutputs fetches the outputs of a job that has ended, or says how to get them.
func (o *options) bringOutputs(ctx context.Context, j *job.Job) error {
	if o.wait.outputs == "" {
		o.noteOutputs(ctx, j, "")
		return nil
	}
	return o.fetchOutputs(ctx, j)
}

// printOnce prints an error, unless it is nil or has been printed.
func (o *options) printOnce(err error) {
	if err != nil && !errors.As(err, new(*cli.Error)) {
		report.PrintErrors(o.streams.ErrOut, []error{err})
	}
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
	days := make(chan int64, 1)
	go func() { days <- dir.DeletedAfter(ctx) }()
	files, err := dir.List(ctx, "")
	if err != nil || len(files) == 0 {
		return
	}
	o.ui.Note(fmt.Sprintf("%s: kubectl kinetic jobs outputs %s cp out%s%s", human.Count(len(files), "output"), j.ID(), j.LocationFlags(), more))
	if days := <-days; days > 0 {
		o.ui.Note(fmt.Sprintf("a rule of the bucket deletes outputs %s after they were written: %s", human.Count(int(days), "day"), dir.URL()))
	}
}
