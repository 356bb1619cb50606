// Package run is the command `kubectl kinetic run`: it takes a Python function from a
// laptop, runs it elsewhere and returns its result.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
	"github.com/kubectl-kinetic/kinetic/runner"
)

const long = `Run Python code on a cluster, or on this machine, and print its result.

TARGET is one of

  train.py              a script; ARGS are its arguments
  train.py:train        a function of a file; --arg NAME=VALUE are its arguments
  pkg.mod:train         a function of a module
  -m pkg.mod            a module, as with python -m
  --command -- CMD…     a command
  --payload call.pkl    a pickled function with its arguments

The project directory of the code is packaged and uploaded; .kineticignore excludes
files. The packages that the project lists are put into an image, or installed by the
pod. A function's return value is printed as JSON on standard output, its log on
standard error. A script's standard output and standard error become those of run.

Jobs run in the cluster of the kubeconfig's current context, on as many hosts as the
accelerator, --hosts and --slices ask for. Each host runs TARGET, and the result is that
of host 0. --map calls a function once for each of many inputs and prints a line of JSON
for each.

Exit codes: 0 done; 1 the job failed (a script's own 1 to 123 is passed on); 2 wrong
input, nothing was done; 124 --timeout expired, the job is still running; 130 interrupted.`

const examples = `  # a function, on the cluster; or in a pod that stays, in which the next run begins at once
  kubectl kinetic run train.py:train -a l4 --arg epochs=3
  kubectl kinetic run train.py:train -a l4 --arg epochs=3 --keep-warm 10m

  # on this machine, with files as the argument images; copy its outputs to out
  kubectl kinetic run train.py:train --local --data images=./img --outputs out

  # a script with its arguments; come back for its output later
  kubectl kinetic run train.py -a tpu-v6e-8 --detach -- --epochs 3

  # begin with the outputs of an earlier job, or repeat its call with one change
  kubectl kinetic run train.py:train -a l4 --resume-from abc1234
  kubectl kinetic run --like abc1234 --arg lr=0.1

  # explain what a run would do, or print its manifests
  kubectl kinetic run train.py:train -a l4x2:spot --project acme --explain
  kubectl kinetic run train.py:train -a v6e-16 --project acme --dry-run -o yaml`

// NewCommand returns the command `kubectl kinetic run`. The clock is for the times of jobs.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	f := newFlags()
	c := &cobra.Command{
		Use:         "run TARGET [flags] [-- ARGS…]",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic run"},
		Short:       "Run a Python function, script or command and print its result",
		Long:        long,
		Example:     examples,
		Args:        cobra.ArbitraryArgs, ValidArgsFunction: completeTarget,
	}
	c.RunE = cli.RunE(func(ctx context.Context, args []string) error {
		var err error
		if f.earlier, err = f.repeat(c, args); err != nil {
			return err
		}
		defer f.earlier.close()
		o, err := f.toOptions(c, args, streams, now)
		if err != nil {
			return cli.Usage(err)
		}
		return o.run(ctx)
	})
	cli.Abridge(c, commonFlags(), cli.AddSections(c, f.sections()...))
	c.SetFlagErrorFunc(f.unknownFlag)
	return c
}

type options struct {
	streams genericiooptions.IOStreams
	ui      *ui.UI
	clock   clock.PassiveClock

	mode         mode
	output       string
	writeOverlay string
	request      api.Request
	earlier      *earlier // of --like, else nil
	notes        []string
	settled      func(flag string) bool // whether a flag was typed, or has no effect
	target       config.Target
	machine      submit.Machine
	connection   *connect.Flags
	prices       price.Table
	wait         waiting
	planned      submit.Planned // once known
	early        *earlyValue    // of a call on a warm host, else nil
	stored       func() error   // waits until the store has such a call, else nil
}

// prepare makes the runner's zip, which is needed after everything else. A call that looks for a warm host needs it only with an
// overlay; otherwise searchWarm makes it once it has found no host.
func prepare(r api.Request, m mode) {
	if r.Backend == api.BackendLocal || seeksWarmHost(r, m) && r.OverlayDir == "" {
		return
	}
	if r.KeepWarm.Idle == 0 {
		runner.Zip()
	} else {
		runner.WarmZip()
	}
}

func (f *flags) toOptions(c *cobra.Command, args []string, streams genericiooptions.IOStreams, now clock.PassiveClock) (*options, error) {
	request, env, err := f.toRequest(c, args, os.Environ(), os.Getenv)
	if err != nil && f.earlier != nil {
		err = fmt.Errorf("--like %s: %w", f.earlier.ID(), err)
	}
	if err != nil {
		return nil, err
	}
	m, err := f.mode()
	if err != nil {
		return nil, err
	}
	local := request.Backend == api.BackendLocal
	if err := f.checkMode(m, local); err != nil {
		return nil, err
	}
	wait, err := f.waiting(c, m, request)
	if err != nil {
		return nil, err
	}
	if m != modeExplain {
		go prepare(request, m)
	}
	f.connection.SetNotices(streams.ErrOut)
	machine, err := f.machine(streams, now)
	if err != nil {
		return nil, err
	}
	machine.Prices = connect.Prices(streams.ErrOut)
	place, err := f.resolve(m, local)
	if err != nil {
		// An error in what to run is reported before an error in where.
		if mistake := submit.Check(c.Context(), request, machine); mistake != nil {
			err = mistake
		}
		return nil, err
	}
	if !local {
		if err := errors.Join(defaultRequests(&request, place, os.Getenv), settleKeepWarm(&request.KeepWarm, m)); err != nil {
			return nil, err
		}
	}
	request.Flags = f.typed(request)
	notes := env.Notes
	if local {
		notes = append(notes, f.ignoredFlags(c, request)...)
	} else if note := giveUpKeepWarm(&request.KeepWarm, job.CurrentUser()); note != "" {
		notes = append(notes, note)
	}
	if !m.submits() {
		request.MapResume = "" // without reading the store, only the map of all inputs can be shown
	}
	return &options{
		streams: streams, ui: ui.New(streams.ErrOut, now.Now), clock: now,
		mode: m, output: f.output, writeOverlay: f.writeOverlay,
		request: request, earlier: f.earlier, notes: notes, settled: f.settled(c, request.Accelerator.Spot, local), target: place, machine: machine, connection: f.connection, prices: machine.Prices,
		wait: wait,
	}, nil
}

// waiting returns how a run waits for its job.
func (f *flags) waiting(c *cobra.Command, m mode, r api.Request) (waiting, error) {
	ports, err := f.forwardedPorts(m)
	cleanup, older := f.cleanup, report.KeepAll
	if c.Flags().Changed("cleanup") {
		older = f.cleanup
	} else if r.Debug {
		cleanup = report.KeepAll
	}
	return waiting{detach: f.detach, outputs: f.fetch, file: f.outputFile, timeout: f.timeout, cleanup: cleanup, cleanupOlder: older,
		cancel: f.cancelOnInterrupt || r.Backend == api.BackendLocal, forward: ports}, err
}

// resolve finds where the job goes, as far as a mode needs it.
func (f *flags) resolve(m mode, local bool) (config.Target, error) {
	switch {
	case local:
	case m.contacts():
		return f.connection.ResolveCluster()
	case m == modeExplain:
		return f.connection.ResolveStored() // it may lack a store
	}
	return f.connection.Resolve(local)
}

// ignoredFlags returns a note that lists the given flags that place pods, which a local job does
// not have. It retries only the inputs of a map.
func (f *flags) ignoredFlags(c *cobra.Command, r api.Request) []string {
	var idle, used []string
	if r.Map != "" && r.RetryOn == api.RetryOnError {
		used = []string{"retries", "retry-on"}
	}
	for _, name := range f.podOnly {
		if c.Flags().Changed(name) && !slices.Contains(used, name) {
			idle = append(idle, "--"+name)
		}
	}
	if f.backend == string(api.BackendGKE) || api.Backend(f.backend).IsLeaderWorkerSet() {
		idle = append(idle, "--backend")
	}
	if idle == nil {
		return nil
	}
	return []string{"ignored with --local: " + strings.Join(idle, ", ")}
}

// outputs returns the values of -o that a mode accepts.
func (f *flags) outputs(m mode) []string {
	switch {
	case m == modeDryRun || m == modeServerDryRun:
		return []string{"yaml", "json", "name"}
	case m == modePrepare:
		return []string{"yaml", "json"}
	case m == modeExplain, m == modeWriteOverlay:
		return []string{"json"}
	case m == modeRun && f.detach:
		return []string{"json", "name"}
	case m == modeRun && f.request.Map != "" && f.outputFile == "":
		return []string{report.InputsFormat}
	default:
		return nil
	}
}

// checkMode rejects flags that the mode would have to ignore.
func (f *flags) checkMode(m mode, local bool) error {
	valid := f.outputs(m)
	switch {
	case f.output != "" && valid == nil:
		return fmt.Errorf("--output %s: only with --dry-run, --prepare, --explain, --write-overlay, --map or --detach; a function's value is always JSON", f.output)
	case f.output != "" && !slices.Contains(valid, f.output):
		return cli.OneOf("--output", f.output, valid)
	case m != modeRun && (f.detach || f.timeout > 0 || f.cancelOnInterrupt || f.fetch != "" && m != modeExplain):
		return fmt.Errorf("--detach, --timeout, --cancel-on-interrupt and --outputs cannot be combined with --dry-run, --explain, --write-overlay or --prepare, which start no job")
	case f.detach && f.timeout > 0:
		return fmt.Errorf("--timeout cannot be combined with --detach, which does not wait; --max-runtime limits the job")
	case f.detach && (f.cancelOnInterrupt || f.fetch != ""):
		return fmt.Errorf("--cancel-on-interrupt and --outputs cannot be combined with --detach, which does not wait")
	case local && m != modeRun && m != modeExplain:
		return fmt.Errorf("--local has no manifests: omit it to see the manifests for a cluster, or use --explain")
	case f.outputFile != "" && f.request.Payload == "":
		return fmt.Errorf("--output-file %s requires --payload: redirect standard output instead, which has the value alone", f.outputFile)
	case f.outputFile != "" && (m != modeRun || f.detach):
		return fmt.Errorf("--output-file %s: only for a run that waits for its job; later, kubectl kinetic jobs result ID --output-file writes it", f.outputFile)
	case f.request.ResumeFrom == submit.LastJob && !m.submits():
		return fmt.Errorf("--resume-from %s: only a run that submits the job looks for that one: name it by its ID", submit.LastJob)
	case f.request.MapResume != "" && f.request.Map == "":
		return fmt.Errorf("--map-resume requires --map with the same input file")
	}
	return report.CheckOutputFile(f.outputFile)
}

// run plans the job, resolves what is left open, renders the plan, and then does what the
// mode says.
func (o *options) run(ctx context.Context) error {
	identity := submit.RandomIdentity(o.clock.Now())
	if !o.mode.submits() {
		identity = submit.FixedIdentity()
	}
	if o.mode == modeRun && o.request.JobID == "" { // a repeated submit with an ID must find the same bundle
		o.machine.EditedSince = o.clock.Now().Add(-editTime)
	}
	search := o.searchWarm(ctx)
	defer search.close()
	planned, err := o.plan(ctx, identity)
	if err != nil {
		return err
	}
	if o.request.Debug && o.mode == modeRun && !o.wait.detach {
		if err := checkDebug(o.streams, os.Getenv); err != nil {
			return cli.Usage(err)
		}
	}
	o.notes = append(o.notes, o.earlier.notes(planned)...)
	planned.Warnings = append(planned.Warnings, o.earlier.changes(planned)...)
	for _, n := range append(o.notes, unusedParameters(o.request.Target, planned.Decorator, o.settled)...) {
		o.ui.Note(n)
	}
	if err := o.askAboutIdle(ctx, &planned); err != nil {
		return err
	}
	if err := o.checkStore(&planned); err != nil {
		return err
	}
	if o.mode != modeExplain {
		o.warn(planned.Warnings)
	}
	var to destination
	if o.mode.contacts() {
		if to, err = o.destination(planned); err != nil {
			return err
		}
		defer to.registry.Store.Close()
		if planned, err = o.resolve(ctx, planned, to); err != nil {
			return err
		}
	}
	if planned, err = o.foresee(ctx, planned); err != nil {
		return cli.Usage(err)
	}
	if planned, err = o.settleNetwork(ctx, planned, to.cluster); err != nil {
		return err
	}
	if planned.KeepsWarm() && o.mode != modeExplain {
		return o.runWarm(ctx, identity, planned, to, search)
	}
	var rendered render.Rendered
	if planned.Spec.Backend != api.BackendLocal && o.mode != modeWriteOverlay { // that mode renders files
		if rendered, err = render.Objects(planned.Started(), planned.Overlay); err != nil {
			return cli.Usage(err)
		}
	}
	return o.carryOut(ctx, planned, rendered, to)
}

func (o *options) carryOut(ctx context.Context, planned submit.Planned, rendered render.Rendered, to destination) error {
	switch o.mode {
	case modePrepare:
		return o.prepare(ctx, planned, rendered, to)
	case modeServerDryRun:
		return o.serverDryRun(ctx, planned, rendered)
	case modeDryRun:
		return o.print(rendered, o.output, " created (dry run)")
	case modeExplain:
		return o.explain(ctx, planned)
	case modeWriteOverlay:
		return o.overlay(planned)
	}
	return o.submit(ctx, planned, rendered, to)
}
