package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// waiting says how long a run looks after its job.
type waiting struct {
	detach, cleanup bool
	timeout         time.Duration
}

// submit starts the job and, unless it is detached, stays until its result is here.
func (o *options) submit(ctx context.Context, p submit.Planned) error {
	place, err := cli.LocalPlace(p.Spec.Store, p.Python)
	if err != nil {
		return err
	}
	bar := o.ui.Progress("storing", p.Files.StoredBytes)
	var before int64
	j, stats, err := submit.Do(ctx, p, place, func(done, _ int64) {
		bar.Add(done - before)
		before = done
	})
	bar.Done()
	if err != nil {
		return o.submitError(ctx, err)
	}
	o.ui.Phase("packaged", fmt.Sprintf("%s, %s, %s new", ui.Count(len(p.Files.Index.Files), "file"), ui.Bytes(p.Files.Bytes), ui.Bytes(stats.NewBytes)))
	o.ui.Phase("started", j.ID())
	if o.wait.detach {
		return o.printHandle(j)
	}
	return o.follow(ctx, j)
}

func (o *options) submitError(ctx context.Context, err error) error {
	var exists *submit.ExistsError
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(o.streams.ErrOut, "interrupted; nothing was started")
		return cli.Exit(cli.ExitInterrupted)
	case errors.As(err, &exists):
		return cli.Usage(err)
	default:
		return err
	}
}

func (o *options) printHandle(j *job.Job) error {
	if o.output == "json" {
		enc := json.NewEncoder(o.streams.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(j.Handle)
	}
	_, err := fmt.Fprintln(o.streams.Out, j.ID())
	return err
}

// follow shows the job's log, and brings the result back when it has ended.
func (o *options) follow(ctx context.Context, j *job.Job) error {
	following, cancel := cli.WithTimeout(ctx, o.wait.timeout)
	defer cancel()
	out := cli.LogWriter(o.logs(j))
	status, err := j.Follow(following, logs.Options{Tail: -1, Host: -1}, out, nil)
	err = errors.Join(err, out.Close())
	switch {
	case err != nil && ctx.Err() != nil:
		return o.interrupted(ctx, j)
	case err != nil:
		return cli.Interrupted(o.streams.ErrOut, j, err)
	case status.State != api.Succeeded:
		return cli.Settle(ctx, o.streams.ErrOut, j, status)
	}
	o.ui.Phase("succeeded", j.ID())
	return o.collect(ctx, j)
}

// logs is where the log goes: a function's value has standard output for itself.
func (o *options) logs(j *job.Job) io.Writer {
	if j.Handle.CallKind == api.CallFunction {
		return o.streams.ErrOut
	}
	return o.streams.Out
}

func (o *options) collect(ctx context.Context, j *job.Job) error {
	streams := o.streams
	if j.Handle.CallKind != api.CallFunction {
		streams.Out = io.Discard // a script has output, not a value
	}
	return cli.Collect(ctx, streams, j, cli.Collection{Cleanup: o.wait.cleanup})
}

// interrupted ends a local job that was in the foreground, as Ctrl-C ends any
// other program there: gently at first, at once when it comes again.
func (o *options) interrupted(ctx context.Context, j *job.Job) error {
	fmt.Fprintf(o.streams.ErrOut, "interrupted; ending job %s (again to end it at once)\n", j.ID())
	again, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	_, err := j.Cancel(again, job.DefaultGrace, o.clock.Now())
	if again.Err() != nil {
		_, err = j.Cancel(context.WithoutCancel(ctx), 0, o.clock.Now())
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.streams.ErrOut, "job %s was ended; its log: kubectl kinetic jobs logs %s%s\n", j.ID(), j.ID(), j.PlaceFlag())
	return cli.Exit(cli.ExitInterrupted)
}
