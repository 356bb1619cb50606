package logs

import (
	"bytes"
	"errors"
	"io"
)

// Screen is the last writer before a terminal that shows both streams of a log. Text
// appears at once, so that progress bars move, each stream made harmless by a Terminal of
// its own. Where one stream prints while the other is in the middle of a line, it begins
// a new line, and the other's line is drawn again when that goes on.
type Screen struct {
	w     io.Writer
	lines [2]screenLine // by Stream
	at    *screenLine   // the unfinished line that the cursor is in; nil at the beginning of a line
	out   []byte
}

// screenLine is the unfinished line of a stream.
type screenLine struct {
	screen *Screen
	filter *Terminal
	text   []byte // from the last carriage return
	left   bool   // the other stream has printed since
}

// NewScreen makes a Screen that writes to w.
func NewScreen(w io.Writer) *Screen {
	s := &Screen{w: w}
	for i := range s.lines {
		s.lines[i].screen = s
		s.lines[i].filter = NewTerminal(&s.lines[i])
	}
	return s
}

// Streams are the writers of both streams.
func (s *Screen) Streams() Streams {
	return Streams{Out: s.lines[Stdout].filter, Err: s.lines[Stderr].filter}
}

// Close writes what was held back, and ends a line and colours that the log left
// unfinished. It does not close the writer below.
func (s *Screen) Close() error {
	err := errors.Join(s.lines[Stdout].filter.Close(), s.lines[Stderr].filter.Close())
	if s.at == nil {
		return err
	}
	s.at = nil
	_, newline := s.w.Write([]byte{'\n'})
	return errors.Join(err, newline)
}

// Write implements io.Writer, for the line's filter.
func (l *screenLine) Write(b []byte) (int, error) {
	s := l.screen
	s.out = s.out[:0]
	if string(b) == reset { // from Close: nothing to see
		_, err := s.w.Write(b)
		return len(b), err
	}
	if s.at != nil && s.at != l {
		s.leave()
	}
	rest := b
	if l.left {
		rest = l.resume(b)
	}
	s.out = append(s.out, rest...)
	l.remember(b)
	if len(s.out) == 0 {
		return len(b), nil
	}
	_, err := s.w.Write(s.out)
	return len(b), err
}

// leave begins a new line below one that is unfinished.
func (s *Screen) leave() {
	if s.at.filter.coloured {
		s.out = append(s.out, reset...)
	}
	s.out = append(s.out, '\n')
	s.at.left, s.at = true, nil
}

// resume goes on with a line that was left, and returns what to write of b. The line is
// drawn again, unless it just ends or b draws it anew.
func (l *screenLine) resume(b []byte) []byte {
	l.left = false
	if b[0] == '\n' {
		return b[1:]
	}
	if b[0] != '\r' {
		l.screen.out = append(l.screen.out, l.text...)
	}
	return b
}

// remember keeps what b leaves of the line, and where the cursor is.
func (l *screenLine) remember(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		l.text, b, l.screen.at = l.text[:0], b[i+1:], nil
	}
	if len(b) == 0 {
		return
	}
	l.screen.at = l
	if i := bytes.LastIndexByte(b, '\r'); i >= 0 {
		l.text, b = l.text[:0], b[i+1:]
	}
	l.text = append(l.text, b...)
}
