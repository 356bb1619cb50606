package run

import (
	"context"
	"fmt"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// again delivers the values of a map that lacks none, without another job. It deletes
// nothing of the earlier job unless the user asked for that.
func (o *options) again(ctx context.Context, old *job.Job) error {
	o.ui.Phase("resumed", fmt.Sprintf("job %s already has all %s values: nothing to compute", old.ID(), human.Number(old.Handle.Map.Inputs)))
	if o.wait.detach {
		return o.printHandle(old)
	}
	reader := *o
	reader.wait.cleanup = o.wait.cleanupOlder
	return reader.follow(ctx, old, &forwarding{options: &reader})
}

// showMap writes the values of a map while it runs, and shows its progress.
func (o *options) showMap(ctx context.Context, j *job.Job, seen func(api.Status)) outcome {
	last := records.MapProgress{Done: j.Handle.Map.Inherited, Total: j.Handle.Map.Inputs}
	bar := o.ui.ProgressCount("map", last.Done, last.Total, report.MapProgress(last))
	defer bar.Done()
	out, progress := o.ui.Above(o.streams.Out), func(p records.MapProgress) {
		last = p
		bar.Count(p.Done, p.Total, report.MapProgress(p))
	}
	var end report.MapEnd
	var err error
	if o.wait.file != "" {
		end, err = o.collection(outcome{}).FollowPickles(ctx, j, out, o.streams.ErrOut, seen, progress)
	} else {
		end, err = o.followMap(ctx, j, out, seen, progress)
	}
	bar.Done()
	if err == nil {
		o.ui.Phase("map", report.MapProgress(last))
	}
	return outcome{status: end.Status, err: err, ofMap: end.Outcome}
}

func (o *options) followMap(ctx context.Context, j *job.Job, out io.Writer, seen func(api.Status), progress func(records.MapProgress)) (report.MapEnd, error) {
	results, inputs, err := report.Results(ctx, j, o.output == report.InputsFormat)
	if err != nil {
		return report.MapEnd{}, err
	}
	defer func() { _ = inputs.Close() }()
	return report.FollowMap(ctx, j, results, out, seen, progress)
}
