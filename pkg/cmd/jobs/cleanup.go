package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

func (c *command) cancel() *cobra.Command {
	return c.finish(&cobra.Command{
		Use:     "cancel ID…",
		Short:   "End jobs; their logs and outputs stay",
		Example: "  kubectl kinetic jobs cancel cpu-train",
		Args: func(sub *cobra.Command, args []string) error {
			if len(args) == 0 {
				return oneID(sub, args)
			}
			return nil
		},
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			found, err := c.attachAll(ctx, args)
			if err != nil {
				return err
			}
			return errors.Join(forEach(c.streams.Out, found, func(j *job.Job) (string, error) {
				was, err := j.Cancel(ctx, job.DefaultGrace, c.clock.Now(), job.Cancelled)
				if err != nil || !was.State.Ended() {
					return "cancelled", err
				}
				cli.Release(ctx, c.streams.ErrOut, j, was)
				fmt.Fprintf(c.streams.ErrOut, "job %s has ended already: %s\n", j.ID(), was.State)
				return "", nil
			})...)
		}),
	}, cli.NewSection("Flags"))
}

// atATime is how many jobs are worked on at a time: each may take its grace.
const atATime = 16

// forEach does something to all jobs and prints on out what, if anything, it says of
// each. It goes on after an error, so that one job does not protect the others, and
// gives that of each job, nil for none.
func forEach(out io.Writer, found []*job.Job, do func(*job.Job) (string, error)) []error {
	var g errgroup.Group
	g.SetLimit(atATime)
	var mu sync.Mutex // of the output
	errs := make([]error, len(found))
	for i, j := range found {
		g.Go(func() error {
			said, err := do(j)
			if err == nil && said != "" {
				mu.Lock()
				defer mu.Unlock()
				_, err = fmt.Fprintln(out, j.ID(), said)
			}
			if err != nil {
				errs[i] = fmt.Errorf("job %s: %w", j.ID(), err)
			}
			return nil
		})
	}
	_ = g.Wait() // errs has them all
	return errs
}

type cleanupFlags struct {
	workload, stored, outputs bool
	all                       bool
	states                    []string
	olderThan                 time.Duration
	yes                       bool
}

func (c *command) cleanup() *cobra.Command {
	f := &cleanupFlags{}
	own := cli.NewSection("Flags")
	own.Flags.BoolVar(&f.workload, "k8s", true, "Remove the workload. A job that runs is ended.")
	own.Flags.BoolVar(&f.stored, "gcs", true, "Remove the handle, the logs and the result from the store.")
	own.Flags.BoolVar(&f.outputs, "outputs", false, "Remove what the job wrote below KINETIC_OUTPUT_DIR, too.")
	own.Flags.BoolVar(&f.all, "all", false, "Clean up all jobs.")
	own.Flags.StringSliceVar(&f.states, "status", nil, "Clean up all jobs in this `STATE`: "+stateNames()+".")
	own.Completions = completeStates()
	cli.DurationVar(own.Flags, &f.olderThan, "older-than", "Clean up all jobs submitted longer ago than this: 90m, 720h. Removes runners of old versions, too.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't ask.")
	return c.finish(&cobra.Command{
		Use:   "cleanup [ID…]",
		Short: "Remove what is left of jobs",
		Example: "  # one job, its outputs too\n  kubectl kinetic jobs cleanup cpu-train --outputs\n\n" +
			"  # everything that ended more than a month ago\n  kubectl kinetic jobs cleanup --older-than 720h --status SUCCEEDED,FAILED,NOT_FOUND -y\n\n" +
			"  # the same, of jobs of this machine\n  kubectl kinetic jobs cleanup --older-than 720h --status SUCCEEDED,FAILED,NOT_FOUND -y --local",
		RunE: cli.RunE(func(ctx context.Context, args []string) error { return c.runCleanup(ctx, f, args) }),
	}, own)
}

func (c *command) runCleanup(ctx context.Context, f *cleanupFlags, args []string) error {
	found, err := c.chosen(ctx, f, args)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		fmt.Fprintln(c.streams.ErrOut, "no jobs found")
		return c.removeRunners(ctx, f)
	}
	if err := f.keepRecords(found); err != nil {
		return err
	}
	if err := c.confirm(f, args, found); err != nil {
		return err
	}
	jobs := make([]*job.Job, len(found))
	for i, s := range found {
		jobs[i] = s.job
	}
	screen := ui.New(c.streams.ErrOut, c.clock.Now)
	removal := cli.NewRemoval(screen)
	errs := forEach(screen.Above(c.streams.Out), jobs, func(j *job.Job) (string, error) {
		if ctx.Err() != nil {
			return "", errNotBegun
		}
		return "cleaned up", j.Cleanup(ctx, job.Parts{Workload: f.workload, Stored: f.stored, Outputs: f.outputs}, removal.OfJob())
	})
	removal.Done()
	if err := f.settle(c.streams.ErrOut, len(args) > 0, jobs, errs); err != nil {
		return err
	}
	return c.removeRunners(ctx, f)
}

// removeRunners removes the runners of old versions, which no job needs any more.
func (c *command) removeRunners(ctx context.Context, f *cleanupFlags) error {
	if f.olderThan == 0 || !f.workload {
		return nil
	}
	place, err := c.place()
	if err != nil || place.RemoveRunners == nil {
		return err
	}
	removed, err := place.RemoveRunners(ctx)
	for _, name := range removed {
		fmt.Fprintf(c.streams.ErrOut, "removed ConfigMap %s: no job needs this version of the runner\n", name)
	}
	return err
}

// errNotBegun is that of a job of which nothing was removed before an interrupt.
var errNotBegun = fmt.Errorf("not begun: %w", context.Canceled)

// settle ends a cleanup, which has an error or nil for each job. After an interrupt it
// tells on w what failed by itself, and how to clean up the rest.
func (f *cleanupFlags) settle(w io.Writer, named bool, jobs []*job.Job, errs []error) error {
	var failed []error
	var byID []string // those that the same command would not find
	interrupted := false
	for i, err := range errs {
		if !errors.Is(err, context.Canceled) {
			failed = append(failed, err)
			continue
		}
		interrupted = true
		if named || f.losesSight() && !errors.Is(err, errNotBegun) {
			byID = append(byID, jobs[i].ID())
		}
	}
	err := errors.Join(failed...)
	if !interrupted {
		return err
	}
	if err != nil {
		fmt.Fprintf(w, "error: %v\n", err)
	}
	fmt.Fprintln(w, "interrupted; "+howToGoOn(named, byID))
	return cli.Exit(cli.ExitInterrupted)
}

// losesSight tells whether a job whose workload was removed isn't chosen again: it has
// another state now.
func (f *cleanupFlags) losesSight() bool {
	isNotFound := func(word string) bool { return strings.EqualFold(word, string(api.NotFound)) }
	return f.workload && len(f.states) > 0 && !slices.ContainsFunc(f.states, isNotFound)
}

// howToGoOn says how to clean up what an interrupt has left. An id whose job is gone is
// an error, and a wider choice of states would take jobs that nobody chose.
func howToGoOn(named bool, byID []string) string {
	ids := strings.Join(byID, " ")
	switch {
	case named:
		return "the same command with these ids alone cleans up the rest: " + ids
	case len(byID) > 0:
		return "the same command cleans up the rest, but for what may have lost its workload, which needs its id in place of the filters: " + ids
	default:
		return "the same command cleans up the rest"
	}
}

// standing is a job with the state that it was seen in, "" where nobody looked.
type standing struct {
	job   *job.Job
	state api.State
}

// chosen are the jobs that the arguments name, or else the filters choose.
func (c *command) chosen(ctx context.Context, f *cleanupFlags, args []string) ([]standing, error) {
	filtered := f.all || len(f.states) > 0 || f.olderThan > 0
	switch {
	case len(args) > 0 && filtered:
		return nil, cli.Usagef("cleanup takes ids, or --all, --status and --older-than, not both")
	case len(args) > 0:
		return c.named(ctx, f, args)
	case !filtered:
		return nil, cli.Usagef("cleanup needs an id, or --all, --status or --older-than")
	}
	states, err := parseStates(f.states)
	if err != nil {
		return nil, err
	}
	filter := job.Filter{States: states, Stored: true, Remnants: f.all}
	if f.olderThan > 0 {
		filter.Before = c.clock.Now().Add(-f.olderThan)
	}
	place, err := c.place()
	if err != nil {
		return nil, err
	}
	entries, err := place.Entries(ctx, filter, api.TellStates)
	if err != nil {
		fmt.Fprintln(c.streams.ErrOut, "left alone: "+err.Error())
	}
	return c.open(ctx, place, entries), nil
}

// named are the jobs that the arguments name, with their states if those matter.
func (c *command) named(ctx context.Context, f *cleanupFlags, args []string) ([]standing, error) {
	jobs, err := c.attachAll(ctx, args)
	if err != nil {
		return nil, err
	}
	found := make([]standing, len(jobs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i, j := range jobs {
		found[i].job = j
		if f.yes && f.workload {
			continue
		}
		g.Go(func() error {
			status, err := j.Status(ctx)
			found[i].state = status.State
			return err
		})
	}
	return found, g.Wait()
}

// open makes jobs of what was listed. What can't be opened is told and left out.
func (c *command) open(ctx context.Context, place job.Place, entries []job.Entry) []standing {
	opened, errs := make([]standing, len(entries)), make([]error, len(entries))
	var g errgroup.Group
	g.SetLimit(atATime)
	for i, e := range entries {
		opened[i].state = e.State
		g.Go(func() error {
			opened[i].job, errs[i] = place.Open(ctx, e)
			return nil
		})
	}
	_ = g.Wait() // errs has them all
	var found []standing
	for i, s := range opened {
		if errs[i] != nil {
			fmt.Fprintln(c.streams.ErrOut, "left alone: "+errs[i].Error())
			continue
		}
		found = append(found, s)
	}
	return found
}

// keepRecords holds that no job goes on whose records are gone: nobody could
// follow it, nor bring its result back.
func (f *cleanupFlags) keepRecords(found []standing) error {
	if f.workload || !f.stored {
		return nil
	}
	for _, s := range found {
		if !s.state.Ended() {
			return cli.Usagef("job %s is %s and needs its records: cancel it first, or leave --k8s=false out", s.job.ID(), s.state)
		}
	}
	return nil
}

// confirm asks before jobs are removed that nobody named, or that still run.
func (c *command) confirm(f *cleanupFlags, args []string, found []standing) error {
	if f.yes {
		return nil
	}
	running := 0
	for _, s := range found {
		if f.workload && !s.state.Ended() {
			running++
		}
	}
	if len(args) > 0 && running == 0 {
		return nil
	}
	question := questionOf(found, running)
	in, ok := c.streams.In.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return cli.Usagef("%s; there is no terminal to ask on: say -y", question)
	}
	fmt.Fprintf(c.streams.ErrOut, "%s. Go on? [y/N] ", question)
	answer, _ := bufio.NewReader(c.streams.In).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		fmt.Fprintln(c.streams.ErrOut, "nothing was cleaned up")
		return cli.Exit(cli.ExitFailed)
	}
	return nil
}

// questionOf says what would be done to jobs, of which some have not ended.
func questionOf(found []standing, going int) string {
	switch {
	case len(found) == 1 && going == 1:
		return fmt.Sprintf("job %s is %s and would be ended and cleaned up", found[0].job.ID(), found[0].state)
	case len(found) == 1:
		return fmt.Sprintf("job %s would be cleaned up", found[0].job.ID())
	case going == 0:
		return fmt.Sprintf("%d jobs would be cleaned up", len(found))
	default:
		return fmt.Sprintf("%d jobs would be cleaned up, and %d of them ended first", len(found), going)
	}
}
