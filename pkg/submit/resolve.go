package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Resolve looks up on the network what a plan leaves open, before its objects are
// rendered: the job with whose outputs this one begins; for a map that is resumed, which
// values the older map has. It warns of inputs that it doesn't find. It changes nothing
// there. A mistake in the input is an InputError.
func Resolve(ctx context.Context, p Planned, registry job.Registry) (Planned, error) {
	p.Warnings = append(slices.Clip(p.Warnings), checkSources(ctx, p.Spec.Data)...)
	if p.request.ResumeFrom != "" {
		return p.resumeFrom(ctx, registry)
	}
	if p.request.MapResume == "" {
		return p, nil
	}
	old, err := FindJob(ctx, registry, p.request.MapResume)
	if err != nil {
		return p, inputErrorf("--map-resume: %w", err)
	}
	if err := p.checkResume(old.Handle); err != nil {
		return p, &InputError{err}
	}
	if err := checkResumable(ctx, old); err != nil {
		return p, err
	}
	if p.sharesOutputs(old) {
		p.Spec.ResumeFrom = old.ID()
	}
	if p.Spec.CallKind == api.CallPickle && !strings.HasPrefix(old.Store.URL(), store.FileScheme) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("--map-resume %s: all inputs are computed again, because results pickled by job %s can't be verified", old.ID(), old.ID()))
		return p.resume(old, nil)
	}
	values, err := old.Results().Values(ctx)
	if err != nil {
		return p, fmt.Errorf("reading the values of job %s: %w", old.ID(), err)
	}
	return p.resume(old, values)
}

// LastJob stands for the job that the user submitted last, where an ID is expected.
const LastJob = "--last"

// FindJob returns the job that a flag names by its ID, or with LastJob.
func FindJob(ctx context.Context, registry job.Registry, word string) (*job.Job, error) {
	if word != LastJob {
		return registry.FindOne(ctx, word)
	}
	user := job.CurrentUser()
	if user == "" {
		return nil, errors.New(LastJob + ": the name of your account on this machine is unknown: name the job by its ID")
	}
	j, err := registry.Newest(ctx, job.Filter{User: user})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", LastJob, err)
	}
	return j, nil
}

// resumeFrom finds the job with whose outputs this one begins. The pod copies them: it has
// the rights on the bucket, knows from their index which are complete, and does it again if
// it was interrupted. The plan names the job that was found, even if it can't be resumed from.
func (p Planned) resumeFrom(ctx context.Context, registry job.Registry) (Planned, error) {
	old, err := FindJob(ctx, registry, p.request.ResumeFrom)
	if gone, ok := errors.AsType[*job.IDError](err); ok && gone.Left != nil { // which left its outputs
		old, err = gone.Left, nil
	}
	if err != nil {
		return p, inputErrorf("--resume-from: %w", err)
	}
	p.Spec.ResumeFrom = old.ID()
	switch dir := old.Handle.OutputDir; {
	case old.Handle.ByPythonTool():
		return p, inputErrorf("--resume-from %s: keras-kinetic made that job; copy its outputs, and pass them with --output-dir", old.ID())
	case strings.HasPrefix(dir, store.BucketScheme):
		return p, inputErrorf("--resume-from %s: that job wrote to %s: use --output-dir %s to continue with its files", old.ID(), dir, dir)
	case dir != "":
		return p, inputErrorf("--resume-from %s: that job wrote to %s, a directory of its own: use --output-dir %s", old.ID(), dir, dir)
	case old.Store.URL() != p.Spec.Store:
		return p, inputErrorf("--resume-from %s: that job is in the store %s, this one in %s: use --store %s", old.ID(), old.Store.URL(), p.Spec.Store, old.Store.URL())
	}
	return p, nil
}

// Anew returns a plan that begins with the outputs of no other job.
func (p Planned) Anew() Planned {
	p.request.ResumeFrom, p.Spec.ResumeFrom = "", ""
	return p
}

// sharesOutputs reports whether the inputs of a resumed map can begin with the outputs that
// they have left in an older one. In a directory of the user's own they do so anyway.
func (p Planned) sharesOutputs(old *job.Job) bool {
	s := p.Spec
	return s.OutputDir == "" && !s.OutputMount && old.Handle.OutputDir == "" && old.Store.URL() == s.Store
}

// Complete reports whether the older map that a plan resumes, From, already has all
// values: then there is nothing to start.
func (p Planned) Complete() bool { return p.From != nil && len(p.Inherits) == p.Spec.Map.Inputs }

// checkResume rejects an older map whose values don't belong to the plan's map.
func (p Planned) checkResume(old api.Handle) error {
	switch m := old.Map; {
	case m == nil:
		return fmt.Errorf("--map-resume %s: that job is not a map", old.JobID)
	case m.InputsSHA256 != p.Spec.Map.InputsSHA256:
		return fmt.Errorf("--map-resume %s: that job has other inputs (%d instead of %d): use the same file", old.JobID, m.Inputs, p.Spec.Map.Inputs)
	case old.CallSHA256 != p.Spec.CallSHA256 || !reflect.DeepEqual(old.Payload, p.Spec.Payload):
		return fmt.Errorf("--map-resume %s: that job (%s) has a different function, --arg or working directory: repeat its command line", old.JobID, old.FuncName)
	}
	return nil
}

// checkResumable rejects a map that has not ended, or whose values were deleted.
func checkResumable(ctx context.Context, old *job.Job) error {
	status, err := old.Status(ctx)
	switch {
	case err != nil:
		return err
	case !status.State.Ended():
		return inputErrorf("--map-resume %s: that job is still running: wait until it ends, or cancel it with kubectl kinetic jobs cancel %s%s", old.ID(), old.ID(), old.LocationFlags())
	}
	deleted, err := old.ValuesDeleted(ctx)
	switch {
	case err != nil:
		return err
	case deleted:
		return inputErrorf("--map-resume %s: that job succeeded, but its values were deleted: omit --map-resume to compute them all again", old.ID())
	}
	return nil
}

// resume makes the pods of a plan compute only the inputs for which an older map has no
// value. values are the inputs for which it has one, in order.
func (p Planned) resume(old *job.Job, values []int) (Planned, error) {
	p.From, p.Inherits = old, values
	if p.Complete() {
		return p, nil
	}
	p.Spec.Map = spread(p.request, p.inputs, coarse(between(values, p.inputs.Count)))
	p.Spec.Map.Inherited = len(values)
	if err := checkChunks(p.Spec.Map, p.request.JobID); err != nil {
		return p, &InputError{err}
	}
	p.Warnings = append(slices.Clip(p.Warnings), rereadWarnings(p.Spec.Map, p.inputs.Size)...)
	return p, nil
}

// between returns the inputs that are not in values, which is sorted.
func between(values []int, inputs int) []api.Range {
	var gaps []api.Range
	next := 0
	for _, v := range append(slices.Clone(values), inputs) {
		if v > next {
			gaps = append(gaps, api.Range{First: next, Last: v - 1})
		}
		next = v + 1
	}
	return gaps
}

// maxRanges is how many ranges of inputs fit on the command line of each pod.
const maxRanges = 1000

// coarse joins the ranges with the smallest gaps until there are at most maxRanges. The
// runner skips inputs that have a value in any case.
func coarse(ranges []api.Range) []api.Range {
	before := func(i int) int { return ranges[i].First - ranges[i-1].Last }
	var gaps []int // each by the index of the range after it
	for i := 1; i < len(ranges); i++ {
		gaps = append(gaps, i)
	}
	slices.SortStableFunc(gaps, func(a, b int) int { return cmp.Compare(before(a), before(b)) })
	closed := map[int]bool{}
	for _, i := range gaps[:max(len(ranges)-maxRanges, 0)] {
		closed[i] = true
	}
	var joined []api.Range
	for i, r := range ranges {
		if closed[i] {
			joined[len(joined)-1].Last = r.Last
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}
