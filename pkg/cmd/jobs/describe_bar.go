package jobs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// span is the time in which an attempt ran.
type span struct {
	from, to time.Time
}

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
	attempts := spans(d, end)
	if width < leastBar || len(attempts) == 0 || d.Handle.Map != nil || end.Sub(begin) < time.Second {
		return ""
	}
	cell := end.Sub(begin) / time.Duration(width)
	cells := slices.Repeat([]string{waited}, width)
	at := func(t time.Time) int { return min(max(int(t.Sub(begin)/cell), 0), width-1) }
	for _, a := range attempts {
		for c := at(a.from); c <= at(a.to); c++ {
			cells[c] = ran
		}
	}
	for _, a := range attempts[:len(attempts)-1] {
		cells[at(a.to)] = crashed
	}
	legend := waited + " waited  " + ran + " ran"
	if len(attempts) > 1 {
		legend += "  " + crashed + " attempt ended"
	}
	return strings.Join(cells, "") + " " + ui.Took(end.Sub(begin)) + "\n  " + legend
}

// spans returns when each attempt of a job ran. One that could not record its end has lasted until its pod was
// lost or, if the cluster doesn't know when that was, until the next began.
func spans(d job.Description, end time.Time) []span {
	var all []span
	for i, a := range d.Attempts {
		last := end
		if i < len(d.Attempts)-1 {
			last = lostAt(d.Disruptions, a.Started, d.Attempts[i+1].Started)
		}
		all = append(all, span{from: a.Started, to: cmp.Or(a.Finished, last)})
	}
	if len(all) == 0 && !d.Status.Started.IsZero() {
		all = append(all, span{from: d.Status.Started, to: end})
	}
	return all
}

// lostAt returns when a pod was lost between the starts of two attempts, or the second if that is not known.
func lostAt(losses []api.Disruption, began, next time.Time) time.Time {
	for _, l := range losses {
		if l.Time.After(began) && l.Time.Before(next) {
			return l.Time
		}
	}
	return next
}
