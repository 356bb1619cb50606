package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// Writer writes events. It is also where text goes that is meant for people: each line of that
// becomes a note or a warning. It is safe for concurrent use.
//
// Once a write has failed, because the reader went away, nothing more is written.
type Writer struct {
	clock func() time.Time

	mu     sync.Mutex
	w      io.Writer
	failed error
	part   []byte // a line of text without its end
	out    bytes.Buffer
}

// NewWriter returns a Writer that writes to w, and gets the time from clock.
func NewWriter(w io.Writer, clock func() time.Time) *Writer { return &Writer{w: w, clock: clock} }

// Of returns w as a Writer of events, nil if it takes text for people.
func Of(w io.Writer) *Writer {
	events, _ := w.(*Writer)
	return events
}

// Send writes events, in one write. The error is that of the first write that failed.
func (w *Writer) Send(events ...Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.send(events)
}

// End writes the last event, after what is left of the text. Later ones are dropped.
func (w *Writer) End(events ...Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		events = append(w.line(nil), events...)
	}
	_ = w.send(events) // nobody reads them
	if w.failed == nil {
		w.failed = errEnded
	}
}

var errEnded = errors.New("the last event was written")

// longest is how many bytes of a line of text are kept while its end is missing.
const longest = 64 << 10

// Write makes a note or a warning of each line of a text. It always succeeds: text is for people, and
// a command doesn't fail because nobody watches.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var events []Event
	for piece := range bytes.Lines(p) {
		w.part = append(w.part, piece...)
		if piece[len(piece)-1] == '\n' || len(w.part) > longest {
			events = w.line(events)
		}
	}
	_ = w.send(events)
	return len(p), nil
}

// line appends the line of text that is complete now. Of one that was drawn over itself only the last
// state counts. The caller holds the lock.
func (w *Writer) line(events []Event) []Event {
	text := strings.TrimRight(string(w.part), "\r\n\t ")
	w.part = w.part[:0]
	text = text[strings.LastIndexByte(text, '\r')+1:]
	for _, prefix := range []string{"warning: ", "error: "} { // the latter is of one of several things that were to be done
		if warning, is := strings.CutPrefix(text, prefix); is {
			return append(events, Warning{Message: warning})
		}
	}
	if text == "" {
		return events
	}
	return append(events, Note{Message: text})
}

// send writes events. The caller holds the lock.
func (w *Writer) send(events []Event) error {
	if w.failed != nil || len(events) == 0 {
		return w.failed
	}
	w.out.Reset()
	for _, e := range events {
		if err := w.encode(e); err != nil {
			return err
		}
	}
	_, w.failed = w.w.Write(w.out.Bytes())
	if w.out.Cap() > 4*longest { // one large traceback
		w.out = bytes.Buffer{}
	}
	return w.failed
}

// stampLayout is RFC 3339 with a fixed width.
const stampLayout = "2006-01-02T15:04:05.000000Z"

// encode appends an event as a line. Bytes that are not UTF-8 become U+FFFD.
func (w *Writer) encode(e Event) error {
	at := w.clock()
	if l, ok := e.(Log); ok && !l.Time.IsZero() {
		at = l.Time
	}
	w.out.WriteString(`{"event":"` + e.event() + `","time":"` + at.UTC().Format(stampLayout) + `"`)
	var members bytes.Buffer
	enc := json.NewEncoder(&members)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return err
	}
	w.out.WriteByte(',')
	w.out.Write(members.Bytes()[1:]) // every event has members of its own
	return nil
}
