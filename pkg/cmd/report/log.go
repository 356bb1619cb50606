package report

import (
	"cmp"
	"errors"
	"io"
	"os"
	"reflect"

	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// LogWriter writes a log, each stream of the job to one of ours. A terminal gets colours
// and moving bars but no other control sequences; anything else gets the bytes unchanged. If one of
// our streams takes events, that gets each line of both streams as an event.
type LogWriter struct {
	display.Streams
	places   []place
	out, err display.View
	events   *logEvents // nil for text
	printed  bool
}

// place is a terminal, a pipe or a file.
type place interface {
	Streams() display.Streams
	Close() error
}

// NewLogWriter returns a LogWriter that writes the job's standard output to out and its
// standard error to errOut. below means that we write to errOut after the log.
func NewLogWriter(out, errOut io.Writer, below bool) *LogWriter {
	if to := cmp.Or(event.Of(out), event.Of(errOut)); to != nil {
		return &LogWriter{events: &logEvents{to: to}, Streams: display.Both(io.Discard)}
	}
	l := &LogWriter{out: viewOf(out), err: viewOf(errOut)}
	err := placeOf(errOut, below)
	streams := err.Streams()
	l.places = []place{err}
	if !isSamePlace(out, errOut) {
		o := placeOf(out, false)
		streams.Out, l.places = o.Streams().Out, []place{o, err}
	}
	l.Streams = display.Streams{Out: &noter{streams.Out, &l.printed}, Err: &noter{streams.Err, &l.printed}}
	return l
}

// Options returns the options for reading the log of a job with this LogWriter.
func (l *LogWriter) Options(j *job.Job, o logs.Options) logs.Options {
	o.Out, o.Err = l.out, l.err
	if l.events != nil {
		l.events.job, l.events.chunks = j.ID(), j.Handle.Map != nil
		o.Timestamps, o.Sink = true, l.events.sink
	}
	return o
}

// Watch returns what remembers the warnings in the log.
func (l *LogWriter) Watch() *WarningLog {
	w := NewWarningLog(l.Err)
	l.Err = w
	if l.events != nil {
		l.events.warnings = w
	}
	return w
}

// Printed reports whether the log had anything.
func (l *LogWriter) Printed() bool { return l.printed || l.events != nil && l.events.sent }

// noter is a writer that records whether something was written.
type noter struct {
	w    io.Writer
	some *bool
}

func (n *noter) Write(p []byte) (int, error) {
	*n.some = true
	return n.w.Write(p)
}

func viewOf(w io.Writer) display.View {
	style := ui.Detect(w)
	return display.View{Terminal: term.IsTerminal(w), Color: style.Color, Columns: style.Columns}
}

func placeOf(w io.Writer, below bool) place {
	if term.IsTerminal(w) {
		return display.NewScreen(w)
	}
	pipe := display.NewPipe(w)
	pipe.EndsLine = below
	return pipe
}

// Close writes unfinished lines, and ends the last line if we write below it.
func (l *LogWriter) Close() error {
	var errs []error
	if l.events != nil {
		errs = append(errs, l.events.close())
	}
	for _, p := range l.places {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// isSamePlace reports whether both writers lead to the same place, as after 2>&1.
func isSamePlace(a, b io.Writer) bool {
	return term.IsTerminal(a) && term.IsTerminal(b) || isSameFile(a, b) ||
		reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

func isSameFile(a, b io.Writer) bool {
	one, ok := a.(*os.File)
	other, both := b.(*os.File)
	if !ok || !both {
		return false
	}
	first, err := one.Stat()
	second, otherErr := other.Stat()
	return err == nil && otherErr == nil && os.SameFile(first, second)
}
