package logs

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// Terminal is the last writer before a terminal. It keeps text, tabs, line ends,
// carriage returns and colours (ESC [ … m); any other control character or
// sequence, and any byte that is not UTF-8, is shown in the way Python writes it,
// as \x07 or \u009b, and has no effect. Text is passed on at once, so that
// progress bars move.
type Terminal struct {
	w        io.Writer
	pending  []byte // the beginning of a colour or a character
	coloured bool   // the last colour was not a reset
	out      []byte
}

// NewTerminal makes a Terminal that writes to w.
func NewTerminal(w io.Writer) *Terminal { return &Terminal{w: w} }

const (
	esc = 0x1b
	// maxColour bounds a colour: the longest in use, two 24-bit colours and all
	// attributes, has some 50 bytes.
	maxColour = 64
	reset     = "\x1b[0m"
)

// Write passes on b, made harmless.
func (t *Terminal) Write(b []byte) (int, error) {
	t.out = t.out[:0]
	in := b
	if len(t.pending) > 0 {
		in = append(t.pending, b...)
	}
	n := t.filter(in)
	t.pending = append([]byte(nil), in[n:]...)
	return len(b), t.flush()
}

// Close writes what was held back and ends a colour that the log left on. It
// does not close the writer below.
func (t *Terminal) Close() error {
	t.out = t.out[:0]
	if len(t.pending) > 0 && t.pending[0] == esc {
		t.escape(esc)
		t.pending = t.pending[1:]
		t.out = append(t.out, t.pending...)
	} else {
		for _, c := range t.pending {
			t.escape(c)
		}
	}
	t.pending = nil
	if t.coloured {
		t.out = append(t.out, reset...)
		t.coloured = false
	}
	return t.flush()
}

func (t *Terminal) flush() error {
	if len(t.out) == 0 {
		return nil
	}
	_, err := t.w.Write(t.out)
	return err
}

// filter takes as much of b as can be judged and tells how much that was.
func (t *Terminal) filter(b []byte) int {
	i := 0
	for i < len(b) {
		start := i
		for i < len(b) && isPlain(b[i]) {
			i++
		}
		t.out = append(t.out, b[start:i]...)
		if i == len(b) {
			break
		}
		n := t.special(b[i:])
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// isPlain tells whether a byte is harmless by itself.
func isPlain(c byte) bool {
	return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t'
}

// special takes what b begins with, a control character, a colour or a
// character of several bytes, and returns its length: 0 if more is needed to
// tell.
func (t *Terminal) special(b []byte) int {
	if b[0] == esc {
		return t.colour(b)
	}
	if b[0] < utf8.RuneSelf {
		t.escape(b[0])
		return 1
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n == 1:
		t.escape(b[0])
	case r < 0xa0: // C1: the 8-bit forms of ESC sequences
		t.out = fmt.Appendf(t.out, `\u%04x`, r)
	default:
		t.out = append(t.out, b[:n]...)
	}
	return n
}

// colour takes an escape sequence if it is ESC [ digits, ';' and ':' m, else
// only the ESC.
func (t *Terminal) colour(b []byte) int {
	for i := 1; i < len(b) && i < maxColour; i++ {
		c := b[i]
		switch {
		case i == 1 && c == '[', i > 1 && (c >= '0' && c <= '9' || c == ';' || c == ':'):
			continue
		case i > 1 && c == 'm':
			t.out = append(t.out, b[:i+1]...)
			t.coloured = !isReset(b[2:i])
			return i + 1
		}
		t.escape(esc)
		return 1
	}
	if len(b) < maxColour {
		return 0
	}
	t.escape(esc)
	return 1
}

// isReset tells whether the parameters of a colour are all zero.
func isReset(params []byte) bool {
	for _, c := range params {
		if c != '0' && c != ';' {
			return false
		}
	}
	return true
}

func (t *Terminal) escape(c byte) { t.out = fmt.Appendf(t.out, `\x%02x`, c) }
