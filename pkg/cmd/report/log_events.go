package report

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// logEvents sends the lines of a log as events, each with the time at which it was printed. It is safe
// for concurrent use by different hosts.
type logEvents struct {
	to       *event.Writer
	job      string
	chunks   bool        // the hosts are chunks of a map
	warnings *WarningLog // nil if they don't matter

	mu    sync.Mutex
	sent  bool
	lines []*display.Lines
}

type hostEvents struct {
	*logEvents
	host, attempt int
}

// sink returns what receives the log of a host. Its lines have time stamps.
func (l *logEvents) sink(host int) logs.Sink {
	h := &hostEvents{l, host, 1}
	out, err := display.NewLines(streamEvents{h, "stdout"}), display.NewLines(streamEvents{h, "stderr"})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, out, err)
	return logs.Sink{Streams: display.Streams{Out: out, Err: err}, Attempt: func(n int) { h.attempt = max(n, 1) }}
}

func (l *logEvents) close() error {
	var errs []error
	for _, lines := range l.lines {
		errs = append(errs, lines.Close())
	}
	return errors.Join(errs...)
}

// streamEvents are the events of a stream of a host.
type streamEvents struct {
	*hostEvents
	stream string
}

// Write sends whole lines.
func (s streamEvents) Write(p []byte) (int, error) {
	var events []event.Event
	for line := range bytes.Lines(p) {
		at, text := cutStamp(bytes.TrimRight(line, "\r\n"))
		e := event.Log{Time: at, Job: s.job, Stream: s.stream, Attempt: s.attempt, Line: string(text)}
		if s.chunks {
			e.Chunk = &s.host
		} else {
			e.Host = &s.host
		}
		events = append(events, e)
	}
	s.mu.Lock()
	s.sent = true
	if s.warnings != nil && s.stream == "stderr" {
		_, _ = s.warnings.Write(p) // it goes nowhere else
	}
	s.mu.Unlock()
	return len(p), s.to.Send(events...)
}

// cutStamp splits a line into its time, which is zero if it has none, and its text.
func cutStamp(line []byte) (time.Time, []byte) {
	stamp, text, found := bytes.Cut(line, []byte(" "))
	if at, err := time.Parse(logs.StampLayout, string(stamp)); found && err == nil {
		return at, text
	}
	return time.Time{}, line
}
