package jobs

import (
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func TestLifeBar(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 1, 2, 3, 4, seconds, 0, time.UTC) }
	running := api.Status{State: api.Running, Started: at(5)}
	for name, c := range map[string]struct {
		d    job.Description
		want string
	}{
		"waiting": {job.Description{Status: api.Status{State: api.Pending}}, ""},
		"runs":    {job.Description{Status: running, Attempts: []api.Attempt{{Started: at(5)}}}, "░░░░░░░░░░██████████ 10s\n  ░ waited  █ ran"},
		"of keras-kinetic, which records no attempts": {job.Description{Status: running}, "░░░░░░░░░░██████████ 10s\n  ░ waited  █ ran"},
		"ended": {job.Description{Status: api.Status{State: api.Succeeded, Started: at(0), Finished: at(4)}, Attempts: []api.Attempt{{Started: at(0)}}},
			"████████████████████ 4.0s\n  ░ waited  █ ran"},
		"collected": {job.Description{Status: api.Status{State: api.NotFound}, End: &api.End{Finished: at(4)}, Attempts: []api.Attempt{{Started: at(2)}}},
			"░░░░░░░░░░██████████ 4.0s\n  ░ waited  █ ran"},
		"crashed, and waits for another attempt": {job.Description{Status: api.Status{State: api.Pending}, Attempts: []api.Attempt{{Started: at(2), Finished: at(6)}}},
			"░░░░█████████░░░░░░░ 10s\n  ░ waited  █ ran"},
		"two attempts": {job.Description{Status: running, Attempts: []api.Attempt{{Started: at(2), Finished: at(4)}, {Started: at(6)}}},
			"░░░░████×░░░████████ 10s\n  ░ waited  █ ran  × attempt ended"},
		"lost with its node": {job.Description{Status: running, Attempts: []api.Attempt{{Started: at(2)}, {Started: at(6)}}, Disruptions: []api.Disruption{{Time: at(1)}, {Time: at(5)}}},
			"░░░░██████×░████████ 10s\n  ░ waited  █ ran  × attempt ended"},
		"lost, nobody knows when: until the next begins": {job.Description{Status: running, Attempts: []api.Attempt{{Started: at(2)}, {Started: at(6)}}},
			"░░░░████████×███████ 10s\n  ░ waited  █ ran  × attempt ended"},
		"a map": {job.Description{Handle: api.Handle{Map: &api.Map{}}, Status: running, Attempts: []api.Attempt{{Started: at(2)}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.d.Handle.CreatedAt = at(0)
			if got := lifeBar(c.d, at(10), 20); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	d := job.Description{Handle: api.Handle{CreatedAt: at(0)}, Status: running}
	for _, width := range []int{-14, 0, leastBar - 1} { // of very narrow terminals
		if got := lifeBar(d, at(10), width); got != "" {
			t.Errorf("width %d: got %q", width, got)
		}
	}
}
