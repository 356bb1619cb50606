package run

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/explain"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// hardware returns one line on what the job will occupy: machine, chips and price. It is
// empty for a job without an accelerator.
func hardware(s api.Spec, prices price.Table) string {
	if s.Backend == api.BackendLocal || s.Accelerator.Kind == api.CPU {
		return ""
	}
	text := explain.AcceleratorText(s, prices)
	if m := s.Map; m != nil && min(m.Chunks(), m.Parallelism) > 1 {
		text += fmt.Sprintf(" for each of up to %d pods", min(m.Chunks(), m.Parallelism))
	}
	return text
}

func (o *options) noteCost(j *job.Job, s api.Status) {
	if !s.State.Ended() {
		return
	}
	if c := (price.Meter{Prices: o.prices, Region: config.Region(o.target.Zone), Now: o.clock.Now()}).OfJob(j.Handle, s); c != nil {
		o.ui.Note("accelerator time: " + c.Text())
	}
}
