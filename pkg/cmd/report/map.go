package report

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// MapEnd is how a map ended.
type MapEnd struct {
	Status  api.Status
	Outcome records.MapOutcome
}

// FollowMap writes the results of a map to out until the map has ended, and returns how it
// ended. It calls state for every change of state, and progress for progress.
func FollowMap(ctx context.Context, j *job.Job, results records.MapResults, out io.Writer, state func(api.Status), progress func(records.MapProgress)) (MapEnd, error) {
	return followMap(ctx, j, state, func(ctx context.Context, ended <-chan struct{}) (records.MapOutcome, error) {
		return results.Gather(ctx, ended, out, progress)
	})
}

// followMap waits for a map while gather gathers its results.
func followMap(ctx context.Context, j *job.Job, state func(api.Status), gather func(context.Context, <-chan struct{}) (records.MapOutcome, error)) (end MapEnd, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended, waited := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		if end.Status, err = j.Wait(ctx, state); err == nil {
			close(ended)
		} else {
			cancel(err)
		}
		waited <- err
	}()
	outcome, err := gather(ctx, ended)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		cancel(err)
		<-waited
		return end, context.Cause(ctx)
	}
	if waitErr := <-waited; waitErr != nil {
		return end, waitErr
	}
	end.Outcome = outcome
	return end, err
}

// SettleMap ends a command that has written the values of a map. If every input has its
// value, it cleans up and shows that on screen, but deletes no exact values that were not delivered. Otherwise it says which inputs have no
// value and leaves the map as it is.
func SettleMap(ctx context.Context, streams genericiooptions.IOStreams, screen *ui.UI, j *job.Job, end MapEnd, cleanup Cleanup) error {
	Remember(ctx, streams.ErrOut, j, end.Status)
	if n := end.Outcome.Pickled; n > 0 {
		fmt.Fprintf(streams.ErrOut, "%s of the values are pickled in %s/%s, because JSON can't represent them exactly\n", human.Number(n), j.Store.URL(), store.Results(j.ID()))
	}
	SendEnd(streams.ErrOut, j, end.Status, api.Result{OK: end.Outcome.Complete()}, nil)
	if end.Outcome.Complete() {
		if n, next := undelivered(j, end.Outcome); n > 0 && cleanup == DeleteResult {
			fmt.Fprintf(streams.ErrOut, "JSON can't represent %s of the values exactly, so --cleanup=delete keeps the stored values; %s\n", human.Number(n), next)
			cleanup = RemoveWorkload
		}
		removal := NewRemoval(screen)
		errs := cleanup.apply(ctx, j, removal.OfJob())
		removal.Done()
		return collected(ctx, streams.ErrOut, j, errs)
	}
	return mapFailed(streams.ErrOut, j, end)
}

// undelivered returns how many exact values only pickles have, which were not written, and what to do with them.
func undelivered(j *job.Job, o records.MapOutcome) (n int, next string) {
	if j.Handle.CallKind == api.CallPickle {
		return o.Differing, fmt.Sprintf("get them with: kubectl kinetic jobs result %s%s --output-file FILE", j.ID(), j.LocationFlags())
	}
	return o.Pickled, fmt.Sprintf("delete them with: kubectl kinetic jobs cleanup %s%s", j.ID(), j.LocationFlags())
}

// NoMapResults ends a command whose map ended without any result.
func NoMapResults(ctx context.Context, w io.Writer, j *job.Job, s api.Status) error {
	if s.State == api.Succeeded {
		return deleted(j, "its values were deleted")
	}
	return Settle(ctx, w, j, End{Status: s})
}

// mapFailed says which inputs have no value, and what to do about it. It returns the exit code.
func mapFailed(w io.Writer, j *job.Job, end MapEnd) error {
	failed := end.Outcome.Failed
	without := withoutValue(end.Outcome, j.Handle.Map.Inputs) + "; values computed so far are kept"
	for _, line := range failureLines(failed) {
		fmt.Fprintln(w, ui.Clean(line))
	}
	if end.Status.State != api.Succeeded {
		fmt.Fprintln(w, ui.Clean(j.Sentence(end.Status)))
	}
	if event.Of(w) == nil {
		fmt.Fprintln(w, without)
	}
	if len(failed) > 0 {
		fmt.Fprintln(w, Hint(w, j.ID(), fmt.Sprintf("next: kubectl kinetic jobs logs %s --index %d%s", j.ID(), failed[0].Input, j.LocationFlags())))
	}
	PrintResumeHint(w, j)
	return cli.Error{Code: cli.ExitFailed, Kind: api.KindJobFailed, Err: errors.New(without),
		Next: again(j)}.In(w, "")
}

// again says how to compute the missing values of a map. A program that pickled its call would
// compute all of them again with --map-resume.
func again(j *job.Job) string {
	if j.Handle.CallKind == api.CallPickle {
		return fmt.Sprintf("map the inputs without a value again; kinetic.attach_batch('%s'%s).failures() returns their numbers", j.ID(), pythonPlace(j))
	}
	return "repeat the run with --map-resume " + j.ID()
}

// pythonPlace returns what finds a job again in Python, besides its ID.
func pythonPlace(j *job.Job) string {
	switch {
	case j.Handle.Backend == api.BackendLocal:
		return ", local=True"
	case j.Handle.Namespace != "":
		return fmt.Sprintf(", namespace='%s'", j.Handle.Namespace)
	}
	return ""
}

// PrintResumeHint says how to compute the missing values of a map. It says nothing about other
// jobs.
func PrintResumeHint(w io.Writer, j *job.Job) {
	if j.Handle.Map == nil {
		return
	}
	more := ", which computes only what is missing"
	if j.Handle.CallKind == api.CallPickle {
		more = ""
	}
	fmt.Fprintln(w, Hint(w, j.ID(), "next: "+again(j)+more))
}

// withoutValue says how many of a map's inputs have no value, and why.
func withoutValue(o records.MapOutcome, inputs int) string {
	of := func(n int) string { return fmt.Sprintf("%s of %s inputs", human.Number(n), human.Number(inputs)) }
	failed, missing := len(o.Failed), len(o.Missing)
	if missing == 0 {
		return of(failed) + " failed"
	}
	first := fmt.Sprintf("have no result (first: %d)", o.Missing[0])
	if failed == 0 {
		return of(missing) + " " + first
	}
	return fmt.Sprintf("%s have no value: %s failed, %s %s", of(failed+missing), human.Number(failed), human.Number(missing), first)
}

// failureLines returns one line for each distinct error, with the inputs that failed with
// it. An error of the module, for example, is the same for all inputs.
func failureLines(failed []records.FailedInput) []string {
	var errs []string // in order of first appearance
	inputs := map[string][]int{}
	for _, f := range failed {
		text := inputError(f)
		if inputs[text] == nil {
			errs = append(errs, text)
		}
		inputs[text] = append(inputs[text], f.Input)
	}
	for i, text := range errs {
		noun := "inputs"
		if len(inputs[text]) == 1 {
			noun = "input"
		}
		errs[i] = fmt.Sprintf("%s %s: %s", noun, human.Ranges(inputs[text]), text)
	}
	return errs
}

// FailedInput returns the failure of one input as a line.
func FailedInput(f records.FailedInput) string {
	return fmt.Sprintf("input %d: %s", f.Input, inputError(f))
}

func inputError(f records.FailedInput) string {
	if f.Error.Type == "" {
		return f.Error.Message
	}
	return f.Error.Type + ": " + f.Error.Message
}

// settleInputs ends a command whose job has succeeded. The pods of a map succeed even if an
// input has failed.
func settleInputs(ctx context.Context, w io.Writer, j *job.Job) error {
	p, err := j.Progress(ctx)
	if err != nil || p == nil || p.Failed == 0 {
		return err
	}
	result := fmt.Sprintf("kubectl kinetic jobs result %s%s", j.ID(), j.LocationFlags())
	failed := cli.Error{Code: cli.ExitFailed, Kind: api.KindJobFailed, Next: result,
		Err: fmt.Errorf("%s of %s inputs failed", human.Number(p.Failed), human.Number(p.Total))}
	return failed.In(w, failed.Err.Error()+"; for details: "+result)
}

// MapProgress returns how many inputs of a map are done.
func MapProgress(p records.MapProgress) string {
	text := fmt.Sprintf("%s/%s done", human.Number(p.Done), human.Number(p.Total))
	if p.Failed > 0 {
		text += fmt.Sprintf(", %s failed", human.Number(p.Failed))
	}
	return text
}

// CollectMap waits for a map until waiting is done, writes all values and, if every input
// has one, cleans up and shows that on screen.
func CollectMap(ctx, waiting context.Context, streams genericiooptions.IOStreams, screen *ui.UI, j *job.Job, c Collection) error {
	state, progress := func(api.Status) {}, func(records.MapProgress) {}
	out := c.open(streams.Out)
	defer out.discard()
	results, inputs, err := Results(ctx, j, c.Inputs)
	if err != nil {
		return err
	}
	defer func() { _ = inputs.Close() }()
	var end MapEnd
	if c.takesPickle(j) {
		out.file = nil // which gets the pickles
		end, err = c.FollowPickles(waiting, j, streams.Out, streams.ErrOut, state, progress)
	} else {
		end, err = FollowMap(waiting, j, results, out, state, progress)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return NoMapResults(ctx, streams.ErrOut, j, end.Status)
	case platform.IsClosedPipe(err):
		return Unread(ctx, streams.ErrOut, j, err)
	case err != nil:
		return Interrupted(streams.ErrOut, j, end.Status.State, err)
	}
	if err := out.complete(); err != nil {
		return err
	}
	return SettleMap(ctx, streams, screen, j, end, c.Cleanup)
}
