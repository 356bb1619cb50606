package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

const at = "2026-01-02T03:04:05.000006Z"

// TestLogEvents holds that lines are whole and have the time at which they were printed.
func TestLogEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		chunks bool
		write  func(logs.Sink)
		want   string
	}{
		"lines": {false, func(s logs.Sink) {
			write(s.Out, at+" a\n"+at+" b\n")
			write(s.Err, at+" c\n")
		}, `{"event":"log","time":"` + at + `","job":"a","stream":"stdout","host":2,"attempt":1,"line":"a"}
{"event":"log","time":"` + at + `","job":"a","stream":"stdout","host":2,"attempt":1,"line":"b"}
{"event":"log","time":"` + at + `","job":"a","stream":"stderr","host":2,"attempt":1,"line":"c"}
`},
		"attempts": {false, func(s logs.Sink) {
			s.Attempt(3)
			write(s.Out, at+" a\n")
			s.Attempt(0)
			write(s.Out, at+" b\n")
		}, `{"event":"log","time":"` + at + `","job":"a","stream":"stdout","host":2,"attempt":3,"line":"a"}
{"event":"log","time":"` + at + `","job":"a","stream":"stdout","host":2,"attempt":1,"line":"b"}
`},
		"a chunk of a map": {true, func(s logs.Sink) { write(s.Out, at+" a\n") },
			`{"event":"log","time":"` + at + `","job":"a","stream":"stdout","chunk":2,"attempt":1,"line":"a"}` + "\n"},
		"without a stamp": {false, func(s logs.Sink) { write(s.Out, "a b\n\nunfinished") },
			`{"event":"log","time":"NOW","job":"a","stream":"stdout","host":2,"attempt":1,"line":"a b"}
{"event":"log","time":"NOW","job":"a","stream":"stdout","host":2,"attempt":1,"line":""}
{"event":"log","time":"NOW","job":"a","stream":"stdout","host":2,"attempt":1,"line":"unfinished"}
`},
		"a progress bar, and bytes that are no text": {false, func(s logs.Sink) { write(s.Out, at+" 10%\r"+at+" \xff%\n") },
			`{"event":"log","time":"` + at + `","job":"a","stream":"stdout","host":2,"attempt":1,"line":"` + `\ufffd` + `%"}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			l := NewLogWriter(&bytes.Buffer{}, event.NewWriter(&out, func() time.Time { return now }), true)
			j := &job.Job{Handle: api.Handle{JobID: "a"}}
			if tt.chunks {
				j.Handle.Map = &api.Map{}
			}
			o := l.Options(j, logs.Options{})
			tt.write(o.Sink(2))
			if err := l.Close(); err != nil || !o.Timestamps || !l.Printed() {
				t.Errorf("got %v, %v, %v", err, o.Timestamps, l.Printed())
			}
			if got := strings.ReplaceAll(out.String(), "2030-01-01T00:00:00.000000Z", "NOW"); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func write(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

// Long lines are cut where a terminal cuts them.
func TestLongLogEvents(t *testing.T) {
	var out bytes.Buffer
	l := NewLogWriter(event.NewWriter(&out, time.Now), io.Discard, false)
	s := l.Options(&job.Job{}, logs.Options{}).Sink(0)
	write(s.Out, strings.Repeat("x", 10*display.MaxLine)+"\n")
	_, got, _ := strings.Cut(out.String(), `"line":`)
	if want := `"` + strings.Repeat("x", display.MaxLine) + `... [line cut at 64 KiB]"}` + "\n"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

// A program that went away ends the reading, as for people.
func TestLogEventsWithoutReader(t *testing.T) {
	l := NewLogWriter(io.Discard, event.NewWriter(writerFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe }), time.Now), true)
	s := l.Options(&job.Job{}, logs.Options{}).Sink(0)
	if _, err := s.Out.Write([]byte("a\n")); err == nil {
		t.Error("no error")
	}
}

func TestWarningsInLogEvents(t *testing.T) {
	l := NewLogWriter(io.Discard, event.NewWriter(io.Discard, time.Now), true)
	seen := l.Watch()
	s := l.Options(&job.Job{}, logs.Options{}).Sink(0)
	write(s.Err, at+" kinetic: warning: careful\n"+at+" ModuleNotFoundError: No module named 'jax'\n")
	write(s.Out, at+" kinetic: warning: of the program\n")
	if !seen.Has("careful") || seen.Has("of the program") || seen.MissingModule() != "jax" {
		t.Errorf("got %v, %q", seen.lines, seen.missing)
	}
}
