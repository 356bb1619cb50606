package price

import (
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// taken is how long a job held what it needs.
type taken struct {
	time  time.Duration
	bound Bound
}

// ofStatus counts from the first start to the end, or until now.
func ofStatus(s api.Status, isMap, mayBeEarlier bool, now time.Time) taken {
	end := endOf(s, now)
	if s.Started.IsZero() || end.IsZero() {
		return taken{}
	}
	t := taken{end.Sub(s.Started), About}
	switch {
	case mayBeEarlier:
		t.bound = AtLeast
	case isMap || s.Attempt > 1 || s.State == api.Pending: // not all pods run all the time
		t.bound = AtMost
	}
	return t
}

// ofPods estimates pod time for a map with limited parallelism.
func ofPods(pods api.PodTime, atATime int, now time.Time) taken {
	t := taken{pods.At(now) / time.Duration(atATime), About}
	if pods.Incomplete {
		t.bound = AtLeast
	}
	return t
}

// endOf returns when a job released its machines, now if it has not, and zero if that is unknown.
func endOf(s api.Status, now time.Time) time.Time {
	if s.UnreleasedHosts != "" || !s.State.Ended() {
		return now
	}
	return s.Finished
}

// ofAttempts adds up the attempts of a job, without the time between them.
func ofAttempts(attempts []api.Attempt, losses []api.Disruption, s api.Status, now time.Time) taken {
	t := taken{bound: About}
	for i, a := range attempts {
		end := a.Finished
		switch last := i == len(attempts)-1; {
		case last && (end.IsZero() || s.UnreleasedHosts != ""):
			end = endOf(s, now)
		case end.IsZero():
			end = lossBetween(a.Started, attempts[i+1].Started, losses)
			if end.IsZero() { // nobody knows when it was killed
				end, t.bound = attempts[i+1].Started, AtMost
			}
		}
		if end.After(a.Started) {
			t.time += end.Sub(a.Started)
		}
	}
	return t
}

// lossBetween returns when a job lost a pod between two times, zero if it did not.
func lossBetween(from, to time.Time, losses []api.Disruption) time.Time {
	i := slices.IndexFunc(losses, func(d api.Disruption) bool { return !d.Time.Before(from) && d.Time.Before(to) })
	if i < 0 {
		return time.Time{}
	}
	return losses[i].Time
}
