package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// runAll finds the jobs, with those whose workload is gone, and prints their values.
func (o *resultOptions) runAll(ctx context.Context) error {
	find := func() ([]*job.Job, []error, error) { return o.choice.Jobs(ctx, o.args) }
	if len(o.args) == 0 {
		find = func() ([]*job.Job, []error, error) { return o.choice.Matching(ctx, job.Filter{Stored: true}) }
	}
	jobs, failed, err := find()
	if err != nil {
		return err
	}
	waiting, cancel := report.WithTimeout(ctx, o.timeout)
	defer cancel()
	return o.printAll(ctx, waiting, jobs, failed)
}

// printAll prints the values of several jobs, a line each, in their order. It waits for some at a time. failed are the
// errors of jobs that can't be found.
func (o *resultOptions) printAll(ctx, waiting context.Context, jobs []*job.Job, failed []error) error {
	report.PrintErrors(o.streams.ErrOut, failed)
	unsuccessful := len(failed) > 0
	var running []string
	for some := range slices.Chunk(jobs, job.Parallel) {
		statuses, errs := make([]api.Status, len(some)), make([]error, len(some))
		parallel.Each(len(some), some, func(i int, j *job.Job) { statuses[i], errs[i] = o.ended(waiting, j) })
		for i, j := range some {
			if errs[i] != nil && waiting.Err() != nil {
				running = append(running, j.ID())
				continue
			}
			succeeded, err := o.printLine(ctx, j, statuses[i], errs[i])
			if err != nil {
				return err
			}
			unsuccessful = unsuccessful || !succeeded
		}
	}
	for _, id := range running {
		fmt.Fprintf(o.streams.ErrOut, "job %s has not ended yet\n", id)
	}
	switch {
	case ctx.Err() != nil:
		return cli.Exit(cli.ExitInterrupted)
	case len(running) > 0:
		return cli.Exit(cli.ExitTimeout)
	case unsuccessful:
		return cli.Error{Code: cli.ExitFailed, Kind: api.KindJobFailed, Err: errors.New("some of the jobs have no value")}.In(o.streams.ErrOut, "")
	}
	return nil
}

// ended waits until a job has ended, unless it is known to have succeeded.
func (o *resultOptions) ended(waiting context.Context, j *job.Job) (api.Status, error) {
	if status, ended := j.Ended(waiting); ended && status.State == api.Succeeded {
		return status, nil
	}
	return j.Wait(waiting, func(api.Status) {})
}

// printLine prints the line of a job that has ended, and reports whether that has a value. The error ends the command.
func (o *resultOptions) printLine(ctx context.Context, j *job.Job, s api.Status, err error) (bool, error) {
	line := &valueLine{id: j.ID(), w: o.streams.Out}
	switch {
	case err != nil:
	case s.State != api.Succeeded:
		return false, o.printFailure(ctx, j, s)
	case j.Handle.Map != nil:
		err = fmt.Errorf("it is a map: print its values with kubectl kinetic jobs result %s%s", j.ID(), j.LocationFlags())
	default:
		collection := o.collection
		collection.Status = s
		if j.Handle.Debug && o.keepDebugged {
			collection.Cleanup = report.KeepAll
		}
		streams := o.streams
		streams.Out = line
		err = report.Collect(ctx, streams, j, collection)
		report.TidyOutputs(ctx, o.streams.ErrOut, j)
	}
	if err == nil || line.begun || ctx.Err() != nil || platform.IsClosedPipe(err) {
		return err == nil, err
	}
	return false, o.print(j, report.Failure{Message: err.Error()})
}

// printFailure prints the line of a job that did not succeed.
func (o *resultOptions) printFailure(ctx context.Context, j *job.Job, s api.Status) error {
	report.Remember(ctx, o.streams.ErrOut, j, s)
	failure := report.Failure{Message: s.Outcome()}
	head, err := j.ResultHead(ctx)
	if err == nil && head.Error != nil {
		failure = report.FailureOf(*head.Error)
	}
	report.SendEnd(o.streams.ErrOut, j, s, head, nil)
	return o.print(j, failure)
}

func (o *resultOptions) print(j *job.Job, failure report.Failure) error {
	encoder := json.NewEncoder(o.streams.Out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		ID    string         `json:"id"`
		Error report.Failure `json:"error"`
	}{j.ID(), failure})
}

// valueLine makes an object of the line with a value, while the value is written: {"id":"…","value":…}.
type valueLine struct {
	id    string
	w     io.Writer
	begun bool
}

// Write writes a piece of the line. Only its end has a line end.
func (l *valueLine) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		if _, err := fmt.Fprintf(l.w, `{"id":%q,"value":`, l.id); err != nil {
			return 0, err
		}
	}
	text, last := bytes.CutSuffix(p, []byte("\n"))
	if last {
		text = append(bytes.Clone(text), "}\n"...)
	}
	if _, err := l.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
