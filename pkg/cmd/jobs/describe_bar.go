package jobs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

const (
	waited  = "░"
	ran     = "█"
	crashed = "×" // at the end of an attempt that others follow
)

// leastBar is the width of the shortest bar that shows anything.
const leastBar = 10

// lifeBar returns a job's life as a bar of width cells, from its submission to its end or now, with a legend. It is
// empty if the job has not started, if it is a map, whose attempts overlap, or if the bar would be too short.
func lifeBar(d job.Description, now time.Time, width int) string {
	begin, end := d.Handle.CreatedAt, cmp.Or(d.Status.Finished, now)
	if d.End != nil {
		end = d.End.Finished
	}
	attempts := d.Spans(end)
	if width < leastBar || len(attempts) == 0 || d.Handle.Map != nil || end.Sub(begin) < time.Second {
		return ""
	}
	cell := end.Sub(begin) / time.Duration(width)
	cells := slices.Repeat([]string{waited}, width)
	at := func(t time.Time) int { return min(max(int(t.Sub(begin)/cell), 0), width-1) }
	for _, a := range attempts {
		for c := at(a.From); c <= at(a.To); c++ {
			cells[c] = ran
		}
	}
	for _, a := range attempts[:len(attempts)-1] {
		cells[at(a.To)] = crashed
	}
	legend := waited + " waited  " + ran + " ran"
	if len(attempts) > 1 {
		legend += "  " + crashed + " attempt ended"
	}
	return strings.Join(cells, "") + " " + ui.Took(end.Sub(begin)) + "\n  " + legend
}
