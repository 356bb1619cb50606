package ui

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
)

// A program gets events, which have the texts as they are.
func TestEvents(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	w := event.NewWriter(&out, c.now)
	u := New(w, c.now)
	c.pass(200 * time.Millisecond)
	u.Phase("packaged", "12 files\x1b")
	u.Submitted(api.Handle{JobID: "a"})
	u.State("a", api.Status{State: api.Pending, Reason: "x"}, "waiting")
	u.Running("a", 2)
	u.Note("n")
	u.Warn("w")
	build := u.Lines(w, "build")
	_, _ = build.Write([]byte("step 1\n"))
	const want = `{"event":"phase","name":"packaged","detail":"12 files\u001b","seconds":0.2}
{"event":"submitted","job":{"version":0,"job_id":"a"…}}
{"event":"state","job":"a","state":"PENDING","reason":"x","message":"waiting"}
{"event":"state","job":"a","state":"RUNNING","reason":"","message":"attempt 2"}
{"event":"note","message":"n"}
{"event":"warning","message":"w"}
{"event":"note","message":"build       step 1"}
`
	if got := short(&out); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// short leaves out the times of events and most of a handle.
func short(out *bytes.Buffer) string {
	got := regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(out.String(), "")
	return regexp.MustCompile(`("job_id":"a").*\}\}`).ReplaceAllString(got, "$1…}}")
}

func TestProgressEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		work func(u *UI, c *clock)
		want string
	}{
		"bytes, at most twice a second, and the last": {func(u *UI, c *clock) {
			bar := u.Progress("storing", 100)
			for range 100 {
				c.pass(9 * time.Millisecond)
				bar.Add(1)
			}
			bar.Done()
		}, `{"event":"progress","name":"storing","done":1,"total":100}
{"event":"progress","name":"storing","done":57,"total":100}
{"event":"progress","name":"storing","done":100,"total":100}
`},
		"things that are counted": {func(u *UI, c *clock) {
			bar := u.ProgressCount("map", 1, 3, "1/3")
			bar.Count(2, 3, "2/3")
			bar.Count(3, 3, "3/3")
			bar.Done()
		}, `{"event":"progress","name":"map","done":1,"total":3}
{"event":"progress","name":"map","done":3,"total":3}
`},
		"a text, now and then": {func(u *UI, c *clock) {
			bar := u.ProgressText("packages", "resolving")
			bar.Show("installing")
			bar.Done()
		}, `{"event":"note","message":"packages    resolving"}
`},
		"nothing to do": {func(u *UI, c *clock) { u.Progress("storing", 0).Done() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := newClock()
			tt.work(New(event.NewWriter(&out, c.now), c.now), c)
			if got := short(&out); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}
