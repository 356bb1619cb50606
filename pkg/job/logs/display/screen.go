package display

import (
	"bytes"
	"errors"
	"io"
)

// Screen is the last writer before a terminal that shows both streams of a log. Text
// appears at once, so that progress bars move. Each stream has its own Terminal, which
// makes it harmless. If one stream prints while the other is in the middle of a line, it
// begins a new line, and the other's line is drawn again when it continues. It takes the
// place of a line that was overwritten with blanks, as of a bar that makes room. Lines are
// cut at MaxLine.
type Screen struct {
	w     io.Writer
	lines [2]screenLine // by Stream
	at    *screenLine   // the unfinished line that the cursor is in; nil at the beginning of a line
	out   []byte
}

type screenLine struct {
	screen *Screen
	filter *Terminal
	other  *screenLine
	text   []byte // of the row that the cursor is in, since the last carriage return
	left   bool   // the other stream has printed since
	blank  bool   // the row was overwritten with blanks, and the cursor is at its beginning
	width  int    // the most columns of the row that had text since
}

// NewScreen returns a Screen that writes to w.
func NewScreen(w io.Writer) *Screen {
	s := &Screen{w: w}
	for i := range s.lines {
		s.lines[i].screen, s.lines[i].other = s, &s.lines[1-i]
		s.lines[i].filter = NewTerminal(&s.lines[i])
	}
	return s
}

// Streams returns the writers of both streams.
func (s *Screen) Streams() Streams {
	return Cut(Streams{Out: s.lines[Stdout].filter, Err: s.lines[Stderr].filter})
}

// Close writes held bytes, and ends a line and colours that the log left unfinished. It
// does not close the underlying writer.
func (s *Screen) Close() error {
	err := errors.Join(s.lines[Stdout].filter.Close(), s.lines[Stderr].filter.Close())
	if s.at == nil || s.at.empty() {
		return err
	}
	_, newline := s.w.Write(s.at.below())
	s.at = nil
	return errors.Join(err, newline)
}

// below returns the line ends from the cursor to the first row below all text.
func (l *screenLine) below() []byte { return bytes.Repeat([]byte{'\n'}, l.filter.below()+1) }

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
	l.other.filter.stay()
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

// leave begins a new line below the unfinished one, unless nothing is to be seen of it.
func (s *Screen) leave() {
	if s.at.empty() {
		s.at = nil
		return
	}
	if s.at.filter.coloured {
		s.out = append(s.out, reset...)
	}
	s.out = append(s.out, s.at.below()...)
	s.at.left, s.at = true, nil
}

// resume continues an interrupted line, and returns the part of b to be written. It draws
// the line again, unless b just ends it or draws it from its beginning.
func (l *screenLine) resume(b []byte) []byte {
	l.left = false
	if b[0] == '\n' && afterUp(b) == 0 {
		l.filter.stay()
		return b[1:]
	}
	if b[0] != '\r' {
		l.screen.out = append(l.screen.out, l.text...)
	}
	return b
}

// remember records the unfinished line after b, and where the cursor is.
func (l *screenLine) remember(b []byte) {
	if i := max(bytes.LastIndexByte(b, '\n')+1, afterUp(b)); i > 0 {
		l.text, b, l.screen.at = l.text[:0], b[i:], nil
		l.blank, l.width = false, 0
	}
	if len(b) > 0 || l.filter.below() > 0 {
		l.screen.at = l
	}
	for i := bytes.IndexByte(b, '\r'); i >= 0; i = bytes.IndexByte(b, '\r') {
		l.overwrite(append(l.text, b[:i]...))
		l.text, b = l.text[:0], b[i+1:]
	}
	l.text = append(l.text, b...)
}

// overwrite records what was drawn over the row before a carriage return.
func (l *screenLine) overwrite(text []byte) {
	if len(text) == 0 {
		return
	}
	l.width = max(l.width, columnsOf(text))
	l.blank = len(bytes.TrimLeft(text, " ")) == 0 && len(text) == l.width
	if l.blank {
		l.width = 0
	}
}

// empty reports whether nothing is to be seen of the unfinished line.
func (l *screenLine) empty() bool {
	text := string(l.text)
	return (l.blank && text == "" || text == "\x1b[K" || text == "\x1b[2K") && l.filter.below() == 0
}

// afterUp returns where the text after the last cursor-up sequence begins; 0 if there is
// none.
func afterUp(b []byte) int {
	for end := len(b); ; {
		i := bytes.LastIndex(b[:end], []byte("\x1b["))
		if i < 0 {
			return 0
		}
		rest := bytes.TrimLeft(b[i+2:end], "0123456789")
		if len(rest) > 0 && rest[0] == 'A' {
			return end - len(rest) + 1
		}
		end = i
	}
}
