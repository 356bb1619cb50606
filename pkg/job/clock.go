package job

import "time"

// clocked is a workload by a clock that may be another than ours.
type clocked interface {
	// ServerTime is the time there when it is here, by ours.
	ServerTime(here time.Time) time.Time
}

// Time is the time where jobs run when it is here, by our clock: the same, until
// something was heard from there.
func (p Place) Time(here time.Time) time.Time { return timeOf(p.Workload, here) }

func timeOf(w Workload, here time.Time) time.Time {
	if c, ok := w.(clocked); ok && !here.IsZero() {
		return c.ServerTime(here)
	}
	return here
}
