package run

import (
	"context"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/render"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// resumeFrom looks at the map whose values are to be taken over, and makes the plan
// compute the others alone. Where there are none, it returns the older map.
func (o *options) resumeFrom(ctx context.Context, p *submit.Planned, place *job.Place) (whole *job.Job, err error) {
	if o.request.MapResume == "" {
		return nil, nil
	}
	old, err := place.Attach(ctx, o.request.MapResume)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--map-resume: %w", err))
	}
	if err := p.CheckResume(old.Handle); err != nil {
		return nil, cli.Usage(err)
	}
	if err := resumable(ctx, old); err != nil {
		return nil, err
	}
	values, err := old.Values(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the values of job %s: %w", old.ID(), err)
	case len(values) == p.Spec.Map.Inputs:
		return old, nil
	}
	warnings, err := p.Resume(old, values)
	if err != nil {
		return nil, cli.Usage(err)
	}
	for _, w := range warnings {
		o.ui.Warn(w)
	}
	place.Workload, err = o.workload(*p)
	return nil, err
}

// workload is what starts the pods of a plan.
func (o *options) workload(p submit.Planned) (job.Workload, error) {
	rendered, err := render.Objects(p.Spec, p.Overlay)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return o.connection.ClusterWorkload(o.place, p.Spec.Namespace, rendered.Objects())
}

// resumable holds that a map has ended, and that its values are there.
func resumable(ctx context.Context, old *job.Job) error {
	status, err := old.Status(ctx)
	switch {
	case err != nil:
		return err
	case !status.State.Ended():
		return cli.Usagef("--map-resume %s: that job goes on; wait for its end, or cancel it: kubectl kinetic jobs cancel %s%s", old.ID(), old.ID(), old.PlaceFlag())
	}
	deleted, err := old.ValuesDeleted(ctx)
	switch {
	case err != nil:
		return err
	case deleted:
		return cli.Usagef("--map-resume %s: that job succeeded, and its values were deleted: leave --map-resume out to compute all of them again", old.ID())
	}
	return nil
}

// again brings the values of a map of which nothing is missing, without another job.
// What an earlier command made stays, unless its removal was asked for.
func (o *options) again(ctx context.Context, old *job.Job) error {
	o.ui.Phase("resumed", fmt.Sprintf("job %s has all %s values, and nothing is computed", old.ID(), ui.Number(old.Handle.Map.Inputs)))
	if o.wait.detach {
		return o.printHandle(old)
	}
	reader := *o
	reader.wait.cleanup = o.wait.cleanupOlder
	return reader.follow(ctx, old)
}

// showMap writes the values of a map while it runs, and shows how far it is.
func (o *options) showMap(ctx context.Context, j *job.Job, seen func(api.Status)) outcome {
	last := job.Progress{Done: j.Handle.Map.Inherited, Total: j.Handle.Map.Inputs}
	bar := o.ui.Telling("map", cli.MapProgress(last))
	defer bar.Done()
	end, err := cli.FollowMap(ctx, j, o.ui.Above(o.streams.Out), seen, func(p job.Progress) {
		last = p
		bar.Show(cli.MapProgress(p))
	})
	bar.Done()
	if err == nil {
		o.ui.Phase("map", cli.MapProgress(last))
	}
	return outcome{status: end.Status, err: err, ofMap: end.Outcome}
}
