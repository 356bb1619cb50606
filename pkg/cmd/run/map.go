package run

import (
	"context"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// resumeFrom looks at the map whose values are to be taken over.
func (o *options) resumeFrom(ctx context.Context, p *submit.Planned, place job.Place) error {
	if o.resume == "" {
		return nil
	}
	old, err := place.Attach(ctx, o.resume)
	if err != nil {
		return cli.Usage(fmt.Errorf("--map-resume: %w", err))
	}
	if err := p.CheckResume(old.Handle); err != nil {
		return cli.Usage(err)
	}
	status, err := old.Status(ctx)
	switch {
	case err != nil:
		return err
	case !status.State.Ended():
		return cli.Usagef("--map-resume %s: that job goes on; wait for its end, or cancel it: kubectl kinetic jobs cancel %s%s", old.ID(), old.ID(), old.PlaceFlag())
	}
	collected, err := old.Collected(ctx)
	switch {
	case err != nil:
		return err
	case collected:
		return cli.Usagef("--map-resume %s: that job succeeded, and its values were collected and removed: leave --map-resume out to compute all of them again", old.ID())
	}
	p.From = old
	return nil
}

// showMap writes the values of a map while it runs, and shows how far it is.
func (o *options) showMap(ctx context.Context, j *job.Job, seen func(api.Status)) outcome {
	bar := o.ui.Progress("map", 0)
	defer bar.Done()
	last := job.Progress{Total: j.Handle.Map.Inputs}
	bar.Show(cli.MapProgress(last))
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
