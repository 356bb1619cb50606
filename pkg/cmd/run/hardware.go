package run

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// hardware returns one line on what the job will occupy: machine, chips and price. It is
// empty for a job without an accelerator.
func hardware(s api.Spec) string {
	if s.Backend == api.BackendLocal || s.Accelerator.Kind == api.CPU {
		return ""
	}
	a := explainAccelerator(s)
	text := a.sentence + ", price unknown"
	if a.PricePerHour != nil {
		text = fmt.Sprintf("%s, about $%.2f an hour", a.sentence, *a.PricePerHour)
	}
	if m := s.Map; m != nil && min(m.Chunks(), m.Parallelism) > 1 {
		text += fmt.Sprintf(" for each of up to %d pods", min(m.Chunks(), m.Parallelism))
	}
	return text
}
