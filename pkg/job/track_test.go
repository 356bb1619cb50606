package job

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestTracks(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 0, s, 0, time.UTC) }
	ended := api.Status{State: api.Succeeded, Started: at(6), Finished: at(50)}
	for name, c := range map[string]struct {
		d    Description
		want string
	}{
		"no pod yet": {Description{}, ""},
		"two pods, one without a node": {Description{Hosts: []api.Host{{Scheduled: at(3), Started: at(5)}, {Host: 1}}},
			"host 0: queued 0-3 image 3-5 run 5-60; host 1: queued 0-60"},
		"a pod whose image is pulled": {Description{Hosts: []api.Host{{Scheduled: at(3)}}}, "host 0: queued 0-3 image 3-60"},
		"ended, with its pod": {Description{Status: ended, End: &api.End{Called: at(9), Finished: at(50)}, Attempts: []api.Attempt{{Attempt: 1, Started: at(6)}},
			Hosts: []api.Host{{Scheduled: at(3), Started: at(5), Finished: at(51)}}}, "host 0: queued 0-3 image 3-5 packages 5-9 run 9-51"},
		"collected": {Description{Status: api.Status{State: api.NotFound}, End: &api.End{Called: at(9), Finished: at(50)}, Attempts: []api.Attempt{{Attempt: 1, Started: at(6)}},
			collected: &api.Collected{Time: at(58)}}, "attempt 1: queued 0-6 packages 6-9 run 9-50 collect 50-58"},
		"a crash, and a second attempt with its pod": {Description{Attempts: []api.Attempt{{Attempt: 1, Started: at(6), Finished: at(20)}, {Attempt: 2, Started: at(31)}},
			Hosts: []api.Host{{Scheduled: at(28), Started: at(30)}}}, "attempt 1: queued 0-6 run 6-20; host 0: queued 20-28 image 28-30 run 30-60"},
		"a crash, then collected": {Description{Status: api.Status{State: api.NotFound}, End: &api.End{Called: at(33), Finished: at(50)},
			Attempts: []api.Attempt{{Attempt: 1, Started: at(6), Finished: at(20)}, {Attempt: 2, Started: at(31)}}},
			"attempt 1: queued 0-6 run 6-20; attempt 2: queued 20-31 packages 31-33 run 33-50"},
		"of an older runner": {Description{Status: ended, End: &api.End{Finished: at(50)}}, "attempt 1: queued 0-6 run 6-50"},
	} {
		t.Run(name, func(t *testing.T) {
			c.d.Handle.CreatedAt = at(0)
			var got []string
			for _, track := range Tracks(c.d, at(60)) {
				line := track.Name + ":"
				for _, p := range track.Phases {
					line += fmt.Sprintf(" %s %v-%v", p.Name, p.From.Sub(at(0)).Seconds(), p.To.Sub(at(0)).Seconds())
				}
				got = append(got, line)
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestPhaseOfJob(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	waits, pulls := api.Host{State: api.Pending}, api.Host{State: api.Pending, Scheduled: at}
	runs, crashed := api.Host{State: api.Running, Scheduled: at, Started: at}, api.Host{State: api.Failed, Scheduled: at, Started: at}
	for name, tt := range map[string]struct {
		state api.State
		hosts []api.Host
		want  string
	}{
		"no pod yet":                    {api.Pending, nil, "queued"},
		"no node yet":                   {api.Pending, []api.Host{waits, pulls}, "queued"},
		"one of two pods":               {api.Pending, []api.Host{pulls}, "queued"},
		"an image is pulled":            {api.Pending, []api.Host{pulls, pulls}, "image"},
		"one host of a running job":     {api.Running, []api.Host{runs, pulls}, "image"},
		"all run":                       {api.Running, []api.Host{runs, runs}, "run"},
		"one has ended before the rest": {api.Running, []api.Host{runs, crashed}, "run"},
		"a job of this machine":         {api.Running, nil, "run"},
		"not collected":                 {api.Succeeded, []api.Host{crashed}, "collect"},
		"failed":                        {api.Failed, []api.Host{crashed}, ""},
		"gone":                          {api.NotFound, nil, ""},
	} {
		e := api.JobSummary{State: tt.state, Hosts: 2, Workload: api.WorkloadFacts{Hosts: tt.hosts}}
		if got := PhaseOfJob(e); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
