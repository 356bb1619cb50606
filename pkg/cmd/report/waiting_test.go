package report

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

func TestTeller(t *testing.T) {
	pulls := api.Status{State: api.Pending, Message: "pulling image a", Next: "kubectl get pod"}
	const pulled = "pending     waiting: pulling image a\n  kubectl get pod\n"
	waits := func(attempt int, message string) api.Status {
		return api.Status{State: api.Pending, Attempt: attempt, Message: message}
	}
	runs := api.Status{State: api.Running, Attempt: 1}
	tests := map[string]struct {
		seen []api.Status
		want string
	}{
		"what mends it":        {[]api.Status{pulls}, pulled},
		"in a queue":           {[]api.Status{{State: api.Pending, Message: "waiting in queue mine: no room"}}, "pending     waiting in queue mine: no room\n"},
		"nobody knows why":     {[]api.Status{{State: api.Pending}}, ""},
		"a part of it is lost": {[]api.Status{{State: api.Running, Message: "its node is silent", Next: "kubectl get node"}}, "running     its node is silent\n"},
		"it has failed by now": {[]api.Status{{State: api.Failed, Message: "out of memory"}}, ""},
		"the same again":       {[]api.Status{pulls, pulls, {State: api.Pending}, pulls}, pulled},
		"nodes come and go":    {[]api.Status{waits(1, "2 of 9 with a taint"), waits(1, "3 of 10 with a taint"), waits(1, "3 of 10 cordoned")}, "pending     waiting: 2 of 9 with a taint\npending     waiting: 3 of 10 cordoned\n"},
		"another retry":        {[]api.Status{waits(1, "retry 1 of 2 follows"), waits(2, "retry 2 of 2 follows"), waits(3, "retry 2 of 2 follows")}, "pending     waiting: retry 1 of 2 follows\npending     waiting: retry 2 of 2 follows\n"},
		"it runs":              {[]api.Status{runs, runs}, "running     attempt 1 (0.0s)\n"},
		"the attempt before":   {[]api.Status{runs, pulls, runs, pulls, {State: api.Running, Attempt: 2}}, "running     attempt 1 (0.0s)\n" + pulled + "running     attempt 2 (0.0s)\n"},
		"anew after it ran":    {[]api.Status{pulls, runs, pulls}, pulled + "running     attempt 1 (0.0s)\n" + pulled},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			told := NewStatusPrinter(ui.New(&out, func() time.Time { return time.Time{} }), "a", 0)
			for _, s := range tt.seen {
				told.Waiting(s)
				told.Running(s)
			}
			if out.String() != tt.want {
				t.Errorf("got\n%s, want\n%s", out.String(), tt.want)
			}
		})
	}
}

// A short pull is usual: nothing is said of it. One that takes longer is told once.
func TestPulls(t *testing.T) {
	pulls := api.Status{State: api.Pending, Message: "pulling image a", Next: "kubectl get pod"}
	later := api.Status{State: api.Pending, Message: "no node has room"}
	runs := api.Status{State: api.Running, Attempt: 1}
	const pulled, full, ran = "pending     waiting: pulling image a\n  kubectl get pod\n", "pending     waiting: no node has room\n", "running     attempt 1 (0.0s)\n"
	for name, tt := range map[string]struct {
		seen []api.Status // one a second
		rest time.Duration
		want string
	}{
		"short":                  {[]api.Status{pulls, runs}, time.Minute, ran},
		"seen again":             {[]api.Status{pulls, pulls, runs}, time.Minute, ran},
		"long":                   {[]api.Status{pulls, pulls}, time.Minute, pulled},
		"long, and seen often":   {[]api.Status{pulls, pulls, pulls, pulls, pulls, runs}, 0, pulled + ran},
		"another reason":         {[]api.Status{pulls, later}, time.Minute, full},
		"of the next attempt":    {[]api.Status{pulls, runs, pulls}, time.Minute, ran + pulled},
		"it ends":                {[]api.Status{pulls, {State: api.Failed}}, time.Minute, ""},
		"nothing is waited long": {[]api.Status{pulls}, time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				told := NewStatusPrinter(ui.New(&out, func() time.Time { return time.Time{} }), "a", 3*time.Second)
				for _, s := range tt.seen {
					told.Waiting(s)
					told.Running(s)
					<-time.After(time.Second)
				}
				<-time.After(tt.rest)
				synctest.Wait()
				if got := out.String(); got != tt.want {
					t.Errorf("got\n%s, want\n%s", got, tt.want)
				}
			})
		})
	}
}
