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
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

type logFlags struct {
	follow     bool
	tail       int
	host       string
	attempt    int
	since      time.Duration
	timestamps bool
	index      int
	allHosts   bool
}

func (c *command) logs() *cobra.Command {
	f := &logFlags{tail: -1}
	own := cli.NewSection("Flags")
	own.Flags.BoolVarP(&f.follow, "follow", "f", false, "Follow until the job ends; exit with its exit code.")
	cli.LinesVar(own.Flags, &f.tail, "tail", "Number of last lines to start with, per host.")
	c.hostVar(own, f)
	indexVar(own.Flags, &f.index)
	cli.NumberVar(own.Flags, &f.attempt, 1, cli.Unbounded, "attempt", "Only the log of this attempt, counted from 1.")
	cli.DurationVar(own.Flags, &f.since, "since", "Only lines newer than this: 90, 90s, 15m, 1h30m.")
	own.Flags.BoolVar(&f.allHosts, "all-hosts", false, "Print the logs of all hosts, and of all parts of the Pathways runtime, one after the other. Each line begins with its host or part.")
	own.Flags.BoolVar(&f.timestamps, "timestamps", false, "Prefix each line with its time.")
	return c.finish(&cobra.Command{
		Use:   "logs ID…",
		Short: "Print the log of a job",
		Long: "Print the log of a job, standard output and standard error each to its own.\n\n" +
			"On a terminal, unfinished lines such as progress bars are shown as they change;\n" +
			"in a pipe, a line appears when it is complete.\n" +
			"The logs of several jobs are printed one after the other; -f takes one job.",
		Example: "  # all lines, then new ones until the job ends\n  kubectl kinetic jobs logs -f cpu-train\n\n" +
			"  # the last five minutes, with times\n  kubectl kinetic jobs logs cpu-train --since 5m --timestamps",
		Args: c.choice.SomeIDs,
		RunE: runE(c, f.toOptions),
	}, own, c.choice.Section())
}

func (c *command) tail() *cobra.Command {
	f := &logFlags{tail: 100}
	own := cli.NewSection("Flags")
	own.Flags.BoolVarP(&f.follow, "follow", "f", false, "Follow until the job ends; exit with its exit code.")
	c.hostVar(own, f)
	indexVar(own.Flags, &f.index)
	cli.LinesVar(own.Flags, &f.tail, "tail", "Number of lines to print, per host.")
	return c.finish(&cobra.Command{
		Use:     "tail ID…",
		Short:   "Print the last lines of a job's log",
		Example: "  # the last 20 lines, then new ones\n  kubectl kinetic jobs tail cpu-train --tail 20 -f",
		Args:    c.choice.SomeIDs,
		RunE:    runE(c, f.toOptions),
	}, own, c.choice.Section())
}

func (c *command) hostVar(own cli.Section, f *logFlags) {
	own.Completions["host"] = c.choice.CompleteHosts
	own.Flags.StringVar(&f.host, "host", "all", "Print the log of `HOST`: all, a number, or with the Pathways runtime rm, proxy or worker-N, which -f follows until that log ends, as at a restart.")
}

type logOptions struct {
	*command
	logs.Options
	args  []string
	many  bool
	index int
	part  string // of the Pathways runtime, "" for the call
	parts bool   // print those of the Pathways runtime, too
}

func (f *logFlags) toOptions(c *command, args []string) (*logOptions, error) {
	// Other tools have -n for the number of lines.
	n := *c.choice.Connection.NamespaceFlag()
	if _, err := strconv.ParseUint(n, 10, 32); err == nil {
		return nil, cli.Usagef("-n %s: -n names a namespace: for the last lines of a log, write --tail %s", n, n)
	}
	many := c.choice.MayBeSeveral(args)
	if many && (f.follow || f.index != noIndex) {
		return nil, cli.Usagef("--follow and --index take one job")
	}
	host, part := -1, ""
	if f.host != "all" {
		n, err := strconv.Atoi(f.host)
		switch {
		case err == nil && n >= 0:
			host = n
		case api.IsPart(f.host):
			part = f.host
		default:
			return nil, cli.Usagef("--host %q: expected all, a host's number, from 0, or a part of the Pathways runtime (rm, proxy, worker-0, worker-1, …)", f.host)
		}
	}
	if part != "" && (f.since > 0 || f.timestamps || f.index != noIndex) {
		return nil, cli.Usagef("--host %s cannot be combined with --since, --timestamps or --index: only the log of the call has times", part)
	}
	if f.allHosts && (f.host != "all" || f.follow || f.tail >= 0 || f.since > 0 || f.timestamps || f.index != noIndex) {
		return nil, cli.Usagef("--all-hosts cannot be combined with --host, --follow, --tail, --since, --timestamps or --index: it prints whole logs")
	}
	o := logs.Options{Follow: f.follow, Tail: f.tail, Timestamps: f.timestamps, Attempt: f.attempt, Host: host}
	if f.since > 0 {
		o.Since = c.clock.Now().Add(-f.since)
	}
	return &logOptions{command: c, Options: o, args: args, many: many, index: f.index, part: part, parts: f.allHosts}, nil
}

func (o *logOptions) run(ctx context.Context) error {
	jobs, failed, err := o.choice.Jobs(ctx, o.args)
	if err != nil {
		return err
	}
	if !o.many {
		return o.ofInput(o.printLog(ctx, jobs[0]))
	}
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(o.streams.ErrOut)
		}
		fmt.Fprintf(o.streams.ErrOut, "==> %s <==\n", j.ID())
		if err := o.printLog(ctx, j); err != nil {
			failed = append(failed, report.OfJob(j.ID(), err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return report.Errors(o.streams.ErrOut, max(len(jobs)+len(failed), 2), failed)
}

// ofInput names the input in the error that there is no log.
func (o *logOptions) ofInput(err error) error {
	if errors.Is(err, logs.ErrNoLog) {
		return fmt.Errorf("input %d was not started: %w", o.index, err)
	}
	return err
}

func (o *logOptions) printLog(ctx context.Context, j *job.Job) error {
	if o.part != "" {
		return o.printPart(ctx, j)
	}
	if o.parts && j.Handle.Pathways != nil {
		return o.printParts(ctx, j)
	}
	host, err := o.hostOf(j)
	if err != nil {
		return err
	}
	out := report.NewLogWriter(o.logOut(), o.streams.ErrOut, o.Follow)
	wanted := out.Options(j, o.Options)
	wanted.Host = host
	told := o.tellWaiting(j)
	if o.index != noIndex {
		told = o.tellInput(ctx, j, o.index, host)
	}
	if !o.Follow {
		return printStored(ctx, j, wanted, out, told)
	}
	status, err := j.Follow(ctx, wanted, out.Streams, told)
	if err = errors.Join(err, out.Close()); err != nil {
		return report.Interrupted(o.streams.ErrOut, j, status.State, err)
	}
	whole := wanted.Tail < 0 && host < 0 && wanted.Attempt == 0 && wanted.Since.IsZero()
	return report.Settle(ctx, o.streams.ErrOut, j, report.End{Status: status, LogShown: whole})
}

// logOut returns the writer for the job's standard output. A program gets the lines there as events,
// because they are what it asked for.
func (o *logOptions) logOut() io.Writer {
	if event.Of(o.streams.ErrOut) == nil {
		return o.streams.Out
	}
	return event.NewWriter(o.streams.Out, o.clock.Now)
}

// maxLogs is how many pods of a map can have their logs shown together, at most.
const maxLogs = 256

// hostOf returns the number of the host whose log is wanted, -1 for all. For an input of a map, that is
// the pod that computes it; without an input, all pods, if they are not too many.
func (o *logOptions) hostOf(j *job.Job) (int, error) {
	if err := checkIndex(j, o.index); err != nil {
		return 0, err
	}
	m := j.Handle.Map
	switch {
	case m == nil && o.Host >= max(j.Handle.Hosts, 1):
		return 0, noHost(j, o.Host)
	case m == nil:
		return o.Host, nil
	case o.Host >= 0:
		return 0, cli.Usagef("--host %d: job %s is a map, whose pods have no numbers: name an input with --index, to see the log of its pod", o.Host, j.ID())
	case o.index != noIndex:
		chunk, computed := m.ChunkOf(o.index)
		if !computed {
			return 0, cli.Usagef("--index %d: job %s reused this value of an older map, and has no log of it", o.index, j.ID())
		}
		return chunk, nil
	case m.Chunks() > maxLogs:
		return 0, cli.Usagef("job %s is a map of %s inputs in %s pods: use --index to see the log of an input's pod", j.ID(), human.Number(m.Inputs), human.Number(m.Chunks()))
	}
	return -1, nil
}

// printStored prints the log so far. If that is empty, it calls told with the status of
// the job. An attempt that the job has not had is an error.
func printStored(ctx context.Context, j *job.Job, o logs.Options, out *report.LogWriter, told func(api.Status)) error {
	err := errors.Join(j.Logs(ctx, o, out.Streams), out.Close())
	if err != nil || out.Printed() {
		return err
	}
	status, err := j.Status(ctx)
	if err != nil {
		return err
	}
	attempts, err := j.LastAttempt(ctx, status)
	if err == nil && o.Attempt > attempts {
		err = cli.Usagef("--attempt %d: job %s has %s, numbered from 1", o.Attempt, j.ID(), human.Count(attempts, "attempt"))
	}
	told(status)
	return err
}

// tellWaiting returns a function that prints on standard error what a job waits for. A program is
// also told that it runs.
func (c *command) tellWaiting(j *job.Job) func(api.Status) {
	told := report.NewStatusPrinter(ui.New(c.streams.ErrOut, c.clock.Now), j.ID(), 0)
	program := event.Of(c.streams.ErrOut) != nil
	return func(s api.Status) {
		s = j.Advised(s)
		told.Waiting(s)
		if program {
			told.Running(s)
		}
	}
}

// tellInput returns a function that prints on standard error what an input of a map waits
// for: what its job waits for or, while that runs, its chunk.
func (c *command) tellInput(ctx context.Context, j *job.Job, index, chunk int) func(api.Status) {
	waiting, asked := c.tellWaiting(j), false
	return func(s api.Status) {
		waiting(s)
		if s.State != api.Running || asked {
			return
		}
		asked = true
		if begun, err := j.Begun(ctx, chunk); err == nil && !begun { // if it has begun, the log shows that
			fmt.Fprintf(c.streams.ErrOut, "input %d has not started: chunk %d waits for a pod\n", index, chunk)
		}
	}
}
