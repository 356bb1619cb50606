package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/packaging"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// waiting says how long a run waits for its job, and what it does then.
type waiting struct {
	detach  bool
	cleanup report.Cleanup
	// cleanupOlder is for a job of an earlier command.
	cleanupOlder report.Cleanup
	// cancel means to cancel the job if its reader is interrupted or goes away.
	cancel  bool
	timeout time.Duration
	// outputs is the directory that outputs are copied to, "" for none.
	outputs string
	// file is where the pickle of a result goes, "" for nowhere.
	file string
	// forward has the ports that are forwarded meanwhile.
	forward []backend.Ports
	// attachment is nil unless a local job was started that ends with this process.
	attachment *local.Attachment
}

type destination struct {
	registry job.Registry
	// One of them creates the workload.
	cluster *kube.Cluster
	machine *local.Machine
}

// destination opens what the plan names. It contacts nothing.
func (o *options) destination(p submit.Planned) (to destination, err error) {
	if p.Spec.Backend != api.BackendLocal {
		to.registry, to.cluster, err = backend.ClusterRegistry(o.connection, o.target, p.Spec.Namespace)
		return to, err
	}
	to.registry, to.machine, err = backend.LocalRegistry(p.Spec.Store, p.Python, func(err error) { o.ui.Warn(err.Error()) })
	to.registry.Flags = o.connection.GivenStore()
	return to, err
}

// submit starts the job and, unless it is detached, waits for its result.
func (o *options) submit(ctx context.Context, p submit.Planned, rendered render.Rendered, to destination) error {
	o.planned = p
	if p.Complete() {
		return o.again(ctx, p.From)
	}
	o.noteHardware(p)
	var steps submit.Hooks
	switch {
	case to.machine != nil && o.wait.detach:
		steps.Start = to.machine.Start
	case to.machine != nil:
		steps.Start = func(ctx context.Context, spec api.Spec, secrets map[string]string) (err error) {
			o.wait.attachment, err = to.machine.StartAttached(ctx, spec, secrets)
			return err
		}
	default:
		submission := to.cluster.Submission(rendered.Objects())
		steps = submit.Hooks{Ready: submission.Ready, Start: submission.Start}
	}
	return o.start(ctx, p, to, steps)
}

// noteHardware says what the job runs on, and what it may cost.
func (o *options) noteHardware(p submit.Planned) {
	if text := hardware(p.Spec, o.prices); text != "" {
		o.ui.Note("accelerator " + text)
	}
	if s := p.Spec; s.MaxCost > 0 {
		o.ui.Note("cost limit  " + report.CostLimit(s.MaxCost, s.Budget))
	}
}

// start starts the job in these steps and, unless it is detached, waits for its result.
func (o *options) start(ctx context.Context, p submit.Planned, to destination, steps submit.Hooks) error {
	forward, err := o.openPorts(to)
	if err != nil {
		return cli.Usage(err)
	}
	defer forward.close()
	j, err := o.apply(ctx, p, to.registry, steps)
	if err != nil {
		return err
	}
	o.ui.Submitted(j.Handle)
	if o.wait.detach {
		return o.printHandle(j)
	}
	err = o.follow(ctx, j, forward)
	if o.wait.attachment != nil {
		o.wait.attachment.LetGo()
	}
	return err
}

// prepare does everything except applying the manifests, and prints them.
func (o *options) prepare(ctx context.Context, p submit.Planned, rendered render.Rendered, to destination) error {
	if old := p.From; p.Complete() {
		return cli.Usagef("--map-resume %s: no values are missing, so there is nothing to prepare; print them with kubectl kinetic jobs result %s%s", old.ID(), old.ID(), old.LocationFlags())
	}
	j, err := o.apply(ctx, p, to.registry, submit.Hooks{Start: to.cluster.Submission(rendered.Objects()).Prepare})
	if err != nil {
		return err
	}
	o.ui.Phase("prepared", j.ID())
	return o.print(rendered.WithoutRunner(), cmp.Or(o.output, "yaml"), "")
}

// apply carries out a plan and shows the progress.
func (o *options) apply(ctx context.Context, p submit.Planned, registry job.Registry, steps submit.Hooks) (*job.Job, error) {
	bar, stored := o.ui.Progress("storing", p.StoredBytes()), upload{began: o.clock.Now()}
	stored.ended = stored.began
	sent, err := submit.Apply(ctx, p, registry, steps, func(more int64) {
		bar.Add(more)
		stored.ended = o.clock.Now()
	})
	bar.Done()
	if err != nil {
		return nil, o.applyError(ctx, err)
	}
	backend.Reports().Forget(registry.Store.URL(), sent.Job.ID())
	o.showStored(p, sent, stored)
	if p.From != nil {
		o.ui.Phase("resumed", fmt.Sprintf("%s of %s values reused", human.Number(len(p.Inherits)), human.Number(p.Spec.Map.Inputs)))
	}
	o.stored = sent.Stored
	return sent.Job, nil
}

// awaitStored waits until the store has a job that was given to a warm host.
func (o *options) awaitStored() {
	if o.stored == nil {
		return
	}
	err := o.stored()
	o.stored = nil
	if err != nil {
		o.ui.Warn(fmt.Sprintf("this machine could not store the job, which its warm host does: %v", err))
	}
}

// applyError says what an interrupted submit left behind. It passes on other errors.
func (o *options) applyError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return submitError(err)
	}
	said := cli.Error{Code: cli.ExitInterrupted, Err: errors.New("interrupted; " + leftBy(err))}
	return said.In(o.streams.ErrOut, said.Err.Error())
}

// submitError gives errors in the input exit code 2, unless the job may run.
func submitError(err error) error {
	if errors.As(err, new(*submit.MayRunError)) { // whatever it wraps
		return err
	}
	if errors.As(err, new(*submit.ExistsError)) || errors.As(err, new(*submit.StoreError)) || errors.As(err, new(*submit.InputError)) {
		return cli.Usage(err)
	}
	return err
}

// leftBy says what an interrupted submit left behind.
func leftBy(err error) string {
	if mayRun, ok := errors.AsType[*submit.MayRunError](err); ok { // whatever it wraps
		return mayRun.Advice()
	}
	if exists, ok := errors.AsType[*submit.ExistsError](err); ok {
		return exists.Error()
	}
	return "nothing was started"
}

func (o *options) printHandle(j *job.Job) error {
	if o.output == "json" {
		return cli.Write(o.streams.Out, cli.JSON, j.Handle)
	}
	if _, err := fmt.Fprintln(o.streams.Out, j.ID()); err != nil {
		return err
	}
	if ui.Detect(o.streams.ErrOut).Redraw {
		o.ui.Note(report.Hint(o.streams.ErrOut, j.ID(), "follow: kubectl kinetic jobs logs -f "+j.ID()+j.LocationFlags()))
	}
	return nil
}

// outcome is the end of following a job.
type outcome struct {
	status api.Status
	err    error
	// warnings has the warnings in the log, nil for a map.
	warnings *report.WarningLog
	// ofMap is the outcome of a map's inputs.
	ofMap records.MapOutcome
}

// errUnrecoverable ends the waiting for a job that would wait forever.
var errUnrecoverable = errors.New("the job can never start")

// follow shows the job's log, and delivers the result when the job has ended.
func (o *options) follow(ctx context.Context, j *job.Job, forward *forwarding) error {
	waiting, cancelTimeout := report.WithTimeout(context.WithoutCancel(ctx), o.wait.timeout)
	defer cancelTimeout()
	following, cancel := context.WithCancelCause(waiting)
	defer cancel(nil)
	done := make(chan outcome, 1)
	var last api.Status
	states := report.NewStatusPrinter(o.ui, j.ID(), shortPull)
	go func() {
		done <- o.show(following, j, func(s api.Status) {
			o.announce(states, j, s)
			forward.seen(following, j, s)
			switch last = s; {
			case s.Unrecoverable:
				cancel(errUnrecoverable)
			case imageMoved(j.Handle, s):
				cancel(errImageMoved)
			}
		})
	}()
	select {
	case end := <-done:
		o.awaitStored()
		cause := context.Cause(following)
		switch moved := imageMoved(j.Handle, last); {
		case errors.Is(cause, errUnrecoverable):
			return o.giveUp(ctx, j, last)
		case moved && last.State.Ended():
			o.ui.Warn(movedText(j.Handle, last) + ": the result may be that of other packages")
		case errors.Is(cause, errImageMoved):
			return o.giveUpMoved(ctx, j, last)
		}
		return o.settleWithOutputs(ctx, j, end)
	case <-ctx.Done():
		if !o.wait.cancel {
			cancel(context.Canceled)
			var end outcome
			select { // so that the log leaves no color on the terminal
			case end = <-done:
			case <-time.After(lastLines):
			}
			o.awaitStored()
			return report.Interrupted(o.streams.ErrOut, j, end.status.State, context.Canceled)
		}
		o.awaitStored()
		return o.interrupted(ctx, j, done)
	}
}

// shortPull is how long an image may be pulled before that is told.
const shortPull = 3 * time.Second

// lastLines is how long Ctrl-C waits until the lines that were already read are written. A
// stopped terminal accepts none.
const lastLines = 500 * time.Millisecond

// show shows a job while it runs: its log, or the values of a map.
func (o *options) show(ctx context.Context, j *job.Job, seen func(api.Status)) outcome {
	if j.Handle.Map != nil {
		return o.showMap(ctx, j, seen)
	}
	stdout := o.logs(j)
	out := report.NewLogWriter(stdout, o.streams.ErrOut, true)
	warnings := out.Watch()
	status, err := j.Follow(ctx, out.Options(j, logs.Options{Tail: -1, Host: -1}), out.Streams, seen)
	return outcome{status: status, err: errors.Join(err, out.Close()), warnings: warnings}
}

func (o *options) announce(t *report.StatusPrinter, j *job.Job, s api.Status) {
	if j.Handle.Backend == api.BackendLocal && event.Of(o.streams.ErrOut) == nil { // people know that it runs once it exists
		return
	}
	t.Waiting(s)
	if j.Handle.Map == nil && j.Handle.Host == "" { // a map shows its progress instead
		t.Running(s)
	}
}

// giveUp deletes a job that would wait forever.
func (o *options) giveUp(ctx context.Context, j *job.Job, s api.Status) error {
	if _, err := j.Cancel(ctx, 0, o.clock.Now(), "it could not start: "+s.Message); err != nil {
		return err
	}
	next := ""
	if s.ImageLost && o.planned.Environment.Tag != "" { // else the image is not ours
		provide.Lost(packaging.Memory(o.machine.CacheDir), j.Handle.ImageURI)
		next = "; the next run makes the image again"
	}
	return &cli.Error{Code: cli.ExitFailed, Kind: api.KindUnstartable, Next: s.Next,
		Err: fmt.Errorf("job %s can't start: %s; the job was deleted%s", j.ID(), s.Message, next)}
}

func (o *options) settle(ctx context.Context, j *job.Job, end outcome) error {
	o.noteCost(j, end.status)
	switch {
	case platform.IsClosedPipe(end.err) && o.wait.cancel:
		return o.abandoned(ctx, j, end.err)
	case platform.IsClosedPipe(end.err):
		return report.Unread(ctx, o.streams.ErrOut, j, end.err)
	case j.Handle.Map != nil && errors.Is(end.err, store.ErrNotFound):
		return report.NoMapResults(ctx, o.streams.ErrOut, j, end.status)
	case end.err != nil:
		return report.Interrupted(o.streams.ErrOut, j, end.status.State, end.err)
	case j.Handle.Map != nil:
		err := report.SettleMap(ctx, o.streams, o.ui, j, report.MapEnd{Status: end.status, Outcome: end.ofMap}, o.wait.cleanup)
		o.noteMissing(j, failedMapWarnings(end.ofMap))
		return err
	case end.status.State != api.Succeeded:
		o.noteMissing(j, end.warnings)
		raised := o.collection(end).SaveException(ctx, o.streams.ErrOut, j)
		return report.Settle(ctx, o.streams.ErrOut, j, report.End{Status: end.status, Pickle: raised, LogShown: true})
	}
	o.ui.Phase("succeeded", j.ID())
	return o.collect(ctx, j, end)
}

// failedMapWarnings treats the errors of a map's inputs like lines of a log.
func failedMapWarnings(m records.MapOutcome) *report.WarningLog {
	warnings := report.NewWarningLog(io.Discard)
	for _, f := range m.Failed {
		_, _ = fmt.Fprintf(warnings, "%s: %s\n", f.Error.Type, f.Error.Message)
	}
	return warnings
}

// logs returns the writer for the call's standard output. Ours is reserved for a function's
// value.
func (o *options) logs(j *job.Job) io.Writer {
	if j.Handle.CallKind.Returns() {
		return o.streams.ErrOut
	}
	return o.streams.Out
}

func (o *options) collect(ctx context.Context, j *job.Job, end outcome) error {
	streams := o.streams
	if !j.Handle.CallKind.Returns() {
		streams.Out = io.Discard // a script has output, not a value
	}
	streams.Out = o.early.writer(streams.Out)
	return report.Collect(ctx, streams, j, o.collection(end))
}

func (o *options) collection(end outcome) report.Collection {
	return report.Collection{Status: end.status, Cleanup: o.wait.cleanup, WarningLog: end.warnings, File: o.wait.file,
		Trust: verify.Verifier{Reports: backend.Reports(), Timeout: verify.DefaultPatience}}
}
