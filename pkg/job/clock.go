package job

import "time"

// clocked is a workload whose times come from another machine's clock.
type clocked interface {
	// ServerTime converts a time of this machine's clock to that of the server.
	ServerTime(here time.Time) time.Time
}

// Time converts a time of this machine's clock to the clock of the place where jobs
// run. It returns here unchanged until that place has answered a request.
func (p Place) Time(here time.Time) time.Time { return timeOf(p.Workload, here) }

func timeOf(w Workload, here time.Time) time.Time {
	if c, ok := w.(clocked); ok && !here.IsZero() {
		return c.ServerTime(here)
	}
	return here
}
