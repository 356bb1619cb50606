package jobs

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func TestTracksAreDrawn(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 0, s, 0, time.UTC) }
	d := job.Description{Handle: api.Handle{JobID: "a-<1>", CreatedAt: at(0)}, Hosts: []api.Host{{Scheduled: at(10), Started: at(20)}, {Host: 1, Scheduled: at(10)}}}
	drawn, err := tracksOf(d, at(40))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := drawn.print(&out); err != nil {
		t.Fatal(err)
	}
	want := "         QUEUED   IMAGE   RUN   0s                                   40s\n" +
		"host 0   10s      10s     20s   ··········░░░░░░░░░░████████████████████\n" +
		"host 1   10s      30s     -     ··········░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░\n\n" +
		"· queued  ░ image  █ run\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := drawn.svg(&out); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{">a-&lt;1&gt;<", `class="run" x="470.0" y="28" width="360.0"`, "<title>image 30s</title>"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the picture lacks %s:\n%s", part, out.String())
		}
	}
	for tokens := xml.NewDecoder(&out); ; {
		if _, err := tokens.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestJobsWithoutTracks(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	if _, err := tracksOf(job.Description{Handle: api.Handle{JobID: "m", CreatedAt: now, Map: &api.Map{}}}, now); err == nil || !strings.Contains(err.Error(), "m is a map") {
		t.Errorf("a map: got %v", err)
	}
	if _, err := tracksOf(job.Description{Handle: api.Handle{JobID: "new", CreatedAt: now}}, now); err == nil || !strings.Contains(err.Error(), "new has no pod yet") {
		t.Errorf("a new job: got %v", err)
	}
}
