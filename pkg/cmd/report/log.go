package report

import (
	"errors"
	"io"
	"os"
	"reflect"

	"golang.org/x/term"

	"github.com/kubectl-kinetic/kinetic/pkg/screen"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// LogWriter writes a log, each stream of the job to one of ours. A terminal gets colours
// and moving bars but no other control sequences; anything else gets the bytes unchanged.
type LogWriter struct {
	screen.Streams
	places   []place
	out, err screen.View
}

// place is a terminal, a pipe or a file.
type place interface {
	Streams() screen.Streams
	Close() error
}

// NewLogWriter returns a LogWriter that writes the job's standard output to out and its
// standard error to errOut. below means that we write to errOut after the log.
func NewLogWriter(out, errOut io.Writer, below bool) *LogWriter {
	l := &LogWriter{out: viewOf(out), err: viewOf(errOut)}
	err := placeOf(errOut, below)
	if isSamePlace(out, errOut) {
		l.Streams, l.places = err.Streams(), []place{err}
		return l
	}
	o := placeOf(out, false)
	l.Streams, l.places = screen.Streams{Out: o.Streams().Out, Err: err.Streams().Err}, []place{o, err}
	return l
}

// Views returns how each stream is displayed.
func (l *LogWriter) Views() (out, err screen.View) { return l.out, l.err }

func viewOf(w io.Writer) screen.View {
	style := ui.Detect(w)
	return screen.View{Terminal: isTerminal(w), Color: style.Color, Columns: style.Columns}
}

func placeOf(w io.Writer, below bool) place {
	if isTerminal(w) {
		return screen.NewScreen(w)
	}
	pipe := screen.NewPipe(w)
	pipe.EndsLine = below
	return pipe
}

// Close writes unfinished lines, and ends the last line if we write below it.
func (l *LogWriter) Close() error {
	var errs []error
	for _, p := range l.places {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isSamePlace reports whether both writers lead to the same place, as after 2>&1.
func isSamePlace(a, b io.Writer) bool {
	return isTerminal(a) && isTerminal(b) || isSameFile(a, b) ||
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
