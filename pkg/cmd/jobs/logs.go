package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

type logFlags struct {
	follow     bool
	tail       int
	host       string
	attempt    int
	since      time.Duration
	timestamps bool
	index      int
}

func (c *command) logs() *cobra.Command {
	f := &logFlags{tail: -1}
	own := process.NewSection("Flags")
	own.Flags.BoolVarP(&f.follow, "follow", "f", false, "Go on until the job has ended, and exit with its outcome.")
	process.LinesVar(own.Flags, &f.tail, "tail", "Begin with the last so many lines, of each host.")
	c.hostVar(&own, f)
	indexVar(own.Flags, &f.index)
	process.NumberVar(own.Flags, &f.attempt, 1, process.Unbounded, "attempt", "Only what this attempt printed, counted from 1.")
	process.DurationVar(own.Flags, &f.since, "since", "Only lines younger than this: 90, 90s, 15m, 1h30m.")
	own.Flags.BoolVar(&f.timestamps, "timestamps", false, "Begin every line with the time at which it was printed.")
	return c.finish(&cobra.Command{
		Use:   "logs ID…",
		Short: "Print what a job printed",
		Long: "Print what a job printed, each of its streams to the same one here.\n\n" +
			"On a terminal, lines appear while they are printed; in a pipe when they have ended,\n" +
			"of a progress bar the last state.\n" +
			"The logs of several jobs come one after the other; -f follows one.",
		Example: "  # from the beginning, then every new line until the job ends\n  kubectl kinetic jobs logs -f cpu-train\n\n" +
			"  # what it said in the last five minutes, and when\n  kubectl kinetic jobs logs cpu-train --since 5m --timestamps",
		Args: c.someIDs,
		RunE: process.RunE(func(ctx context.Context, args []string) error {
			return f.ofInput(c.printLogs(ctx, f, own.Flags.Changed("index"), args))
		}),
	}, own, c.choice.section())
}

// ofInput says of which input it is that there is no log.
func (f *logFlags) ofInput(err error) error {
	if errors.Is(err, logs.ErrNoLog) {
		return fmt.Errorf("input %d was not begun: %w", f.index, err)
	}
	return err
}

func (c *command) tail() *cobra.Command {
	f := &logFlags{tail: 100}
	own := process.NewSection("Flags")
	own.Flags.BoolVarP(&f.follow, "follow", "f", false, "Go on until the job has ended, and exit with its outcome.")
	c.hostVar(&own, f)
	indexVar(own.Flags, &f.index)
	process.LinesVar(own.Flags, &f.tail, "tail", "How many lines to print, of each host.")
	return c.finish(&cobra.Command{
		Use:     "tail ID…",
		Short:   "Print the end of what a job printed",
		Example: "  # the last 20 lines, then every new one\n  kubectl kinetic jobs tail cpu-train --tail 20 -f",
		Args:    c.someIDs,
		RunE: process.RunE(func(ctx context.Context, args []string) error {
			return f.ofInput(c.printLogs(ctx, f, own.Flags.Changed("index"), args))
		}),
	}, own, c.choice.section())
}

// hostVar adds --host to the flags of a command.
func (c *command) hostVar(own *process.Section, f *logFlags) {
	own.Completions = map[string]cobra.CompletionFunc{"host": c.completeHosts}
	own.Flags.StringVar(&f.host, "host", "all", "The `HOST` whose log to print: all, or its number.")
}

func (f *logFlags) options(now time.Time) (logs.Options, error) {
	o := logs.Options{Follow: f.follow, Tail: f.tail, Timestamps: f.timestamps, Attempt: f.attempt, Host: -1}
	if f.since > 0 {
		o.Since = now.Add(-f.since)
	}
	if f.host == "all" {
		return o, nil
	}
	n, err := strconv.Atoi(f.host)
	if err != nil || n < 0 {
		return o, fmt.Errorf("--host %q: want all, or a host's number from 0", f.host)
	}
	o.Host = n
	return o, nil
}

// maxLogs is of how many pods of a map the logs are shown together.
const maxLogs = 256

// choosePod turns an input of a map into the pod that has it. Without one all pods
// are read, if they are not too many.
func (f *logFlags) choosePod(o *logs.Options, j *job.Job, ofInput bool) error {
	m := j.Handle.Map
	if err := checkIndex(j, ofInput, f.index); err != nil || m == nil {
		return err
	}
	switch {
	case o.Host >= 0:
		return process.Usagef("--host %s: job %s is a map, whose pods have no numbers: name an input with --index, to see the log of its pod", f.host, j.ID())
	case ofInput:
		chunk, computed := m.ChunkOf(f.index)
		if !computed {
			return process.Usagef("--index %d: job %s took its value over from an older map, and has no log of it", f.index, j.ID())
		}
		o.Host = chunk
	case m.Chunks() > maxLogs:
		return process.Usagef("job %s is a map of %s inputs in %s pods: name an input with --index, to see the log of its pod", j.ID(), ui.Number(m.Inputs), ui.Number(m.Chunks()))
	}
	return nil
}

// printLogs prints the logs of the jobs that the arguments or the flags name.
func (c *command) printLogs(ctx context.Context, f *logFlags, ofInput bool, args []string) error {
	o, err := f.options(c.clock.Now())
	if err != nil {
		return process.Usage(err)
	}
	several := c.severalWanted(args)
	if several && (f.follow || ofInput) {
		return process.Usagef("--follow and --index take one job")
	}
	jobs, failed, err := c.several(ctx, args)
	if err != nil {
		return err
	}
	if !several {
		return c.printLog(ctx, f, o, ofInput, jobs[0])
	}
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(c.streams.ErrOut)
		}
		fmt.Fprintf(c.streams.ErrOut, "==> %s <==\n", j.ID())
		if err := c.printLog(ctx, f, o, false, j); err != nil {
			failed = append(failed, fmt.Errorf("job %s: %w", j.ID(), err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return tell(c.streams.ErrOut, max(len(jobs)+len(failed), 2), failed)
}

// printLog prints the log of a job.
func (c *command) printLog(ctx context.Context, f *logFlags, o logs.Options, ofInput bool, j *job.Job) error {
	if err := f.choosePod(&o, j, ofInput); err != nil {
		return err
	}
	if j.Handle.Map == nil && o.Host >= max(j.Handle.Hosts, 1) {
		return process.Usagef("--host %d: job %s has %s, numbered from 0", o.Host, j.ID(), ui.Count(max(j.Handle.Hosts, 1), "host"))
	}
	out := report.NewLogWriter(c.streams.Out, c.streams.ErrOut, f.follow)
	o.Out, o.Err = out.Views()
	told := c.tellWaiting(j)
	if ofInput {
		told = c.tellInput(ctx, j, f.index, o.Host)
	}
	if !f.follow {
		return printStored(ctx, j, o, out, told)
	}
	status, err := j.Follow(ctx, o, out.Streams, told)
	if err = errors.Join(err, out.Close()); err != nil {
		return report.Interrupted(c.streams.ErrOut, j, err)
	}
	if o.Tail >= 0 || o.Host >= 0 || o.Attempt > 0 || !o.Since.IsZero() {
		return report.Settle(ctx, c.streams.ErrOut, j, status)
	}
	return report.SettleBelow(ctx, c.streams.ErrOut, j, status)
}

// printStored prints what there is. Where that is nothing, told hears how the job
// stands, unless it never had the attempt.
func printStored(ctx context.Context, j *job.Job, o logs.Options, out *report.LogWriter, told func(api.Status)) error {
	printed := false
	noted := func(w io.Writer) io.Writer { return &noter{w, &printed} }
	err := errors.Join(j.Logs(ctx, o, screen.Streams{Out: noted(out.Out), Err: noted(out.Err)}), out.Close())
	if err != nil || printed {
		return err
	}
	status, err := j.Status(ctx)
	if err != nil {
		return err
	}
	attempts, err := j.LastAttempt(ctx, status)
	if err == nil && o.Attempt > attempts {
		err = process.Usagef("--attempt %d: job %s has had %s, numbered from 1", o.Attempt, j.ID(), ui.Count(attempts, "attempt"))
	}
	told(status)
	return err
}

// tellWaiting says on standard error what a job waits for.
func (c *command) tellWaiting(j *job.Job) func(api.Status) {
	told := report.NewTeller(ui.New(c.streams.ErrOut, c.clock.Now))
	return func(s api.Status) { told.Waiting(j.Advised(s)) }
}

// tellInput says on standard error what an input of a map waits for: what its job does
// or, while that runs, its chunk.
func (c *command) tellInput(ctx context.Context, j *job.Job, index, chunk int) func(api.Status) {
	waiting, asked := c.tellWaiting(j), false
	return func(s api.Status) {
		waiting(s)
		if s.State != api.Running || asked {
			return
		}
		asked = true
		if begun, err := j.Begun(ctx, chunk); err == nil && !begun { // else the log tells
			fmt.Fprintf(c.streams.ErrOut, "input %d has not begun: it waits for a pod to take chunk %d\n", index, chunk)
		}
	}
}

// noter notes that something was written.
type noter struct {
	w    io.Writer
	some *bool
}

// Write implements io.Writer.
func (n *noter) Write(p []byte) (int, error) {
	*n.some = true
	return n.w.Write(p)
}
