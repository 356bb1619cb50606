package display

import "io"

// Lines is the last writer before something that takes whole lines, one or more in a write: those
// that a Plain writes, cut at MaxLine.
type Lines struct {
	plain *Plain
	cut   *cutter
}

// NewLines returns a Lines that writes to w.
func NewLines(w io.Writer) *Lines {
	plain := NewPlain(w)
	return &Lines{plain, newCutter(plain)}
}

// Write passes on all lines that end in b.
func (l *Lines) Write(b []byte) (int, error) { return l.cut.Write(b) }

// Close writes an unfinished last line, which has no line end then.
func (l *Lines) Close() error { return l.plain.Close() }
