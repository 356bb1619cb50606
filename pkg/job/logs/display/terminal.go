package display

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// Terminal is the last writer before a terminal. It keeps text, tabs, line ends, carriage
// returns and colours (ESC [ … m), and the sequences that move progress bars: backspaces,
// erasing in the line (ESC [ … K) and cursor up (ESC [ … A), which stops at the first of
// the text's own last lines. Any other control character or sequence, and any byte that
// is not UTF-8, has no effect and is shown as Python writes it: \x07 or \u009b. Text is
// passed on at once, so that progress bars move.
type Terminal struct {
	w        io.Writer
	pending  []byte // the beginning of a sequence or a character
	coloured bool   // the last colour was not a reset
	still    bool   // nothing moves: the sequences that move progress bars are dropped
	out      []byte

	row  int // of the cursor, counted from the first that it may go up to
	last int // last row with text
}

// NewTerminal returns a Terminal that writes to w.
func NewTerminal(w io.Writer) *Terminal { return &Terminal{w: w} }

// NewStill returns a Terminal for the lines of one of several hosts, which appear between the lines of others: the sequences that move
// progress bars have no effect.
func NewStill(w io.Writer) *Terminal { return &Terminal{w: w, still: true} }

const (
	esc = 0x1b
	// maxSequence limits a sequence. The longest in use, two 24-bit colours and all
	// attributes, has about 50 bytes.
	maxSequence = 64
	reset       = "\x1b[0m"
	// maxRows is how far text may go up: nested progress bars have a few lines.
	maxRows = 20
)

// stay keeps the text from going up beyond the current row.
func (t *Terminal) stay() { t.row, t.last = 0, 0 }

func (t *Terminal) down(lines int) {
	t.row += lines
	t.last = max(t.last, t.row)
	if over := t.row - maxRows; over > 0 {
		t.row, t.last = t.row-over, t.last-over
	}
}

// below returns how many rows with text are below the cursor.
func (t *Terminal) below() int { return t.last - t.row }

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

// Close writes held bytes and ends a colour that the log left on. It does not close the
// underlying writer.
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

// filter handles as much of b as can be judged, and returns how many bytes that was.
func (t *Terminal) filter(b []byte) int {
	i := 0
	for i < len(b) {
		start := i
		for i < len(b) && isPlain(b[i]) {
			i++
		}
		t.out = append(t.out, b[start:i]...)
		t.down(bytes.Count(b[start:i], []byte{'\n'}))
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

func isPlain(c byte) bool {
	return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t'
}

// special handles the control character, sequence or multi-byte character at the
// beginning of b and returns its length; 0 if more bytes are needed to decide.
func (t *Terminal) special(b []byte) int {
	if b[0] == esc {
		return t.sequence(b)
	}
	if b[0] == '\b' {
		t.move(b[:1])
		return 1
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

// sequence handles an escape sequence if it is ESC [ digits, ';' and ':' and a known
// final byte, else only the ESC.
func (t *Terminal) sequence(b []byte) int {
	for i := 1; i < len(b) && i < maxSequence; i++ {
		c := b[i]
		if i == 1 && c == '[' || i > 1 && (c >= '0' && c <= '9' || c == ';' || c == ':') {
			continue
		}
		if i > 1 && t.known(c, b[:i+1]) {
			return i + 1
		}
		t.escape(esc)
		return 1
	}
	if len(b) < maxSequence {
		return 0
	}
	t.escape(esc)
	return 1
}

// known handles a sequence if its final byte is known, and reports whether it is.
func (t *Terminal) known(final byte, sequence []byte) bool {
	params := sequence[2 : len(sequence)-1]
	switch final {
	case 'm':
		t.out = append(t.out, sequence...)
		t.coloured = !isReset(params)
	case 'K':
		t.move(sequence)
	case 'A':
		t.up(params)
	default:
		return false
	}
	return true
}

// move passes on a sequence that moves progress bars.
func (t *Terminal) move(sequence []byte) {
	if !t.still {
		t.out = append(t.out, sequence...)
	}
}

// up moves the cursor up by the number of rows in the parameters, as far as the text may.
func (t *Terminal) up(params []byte) {
	rows, err := strconv.Atoi(string(params))
	if err != nil || rows == 0 {
		rows = 1
	}
	if rows = min(rows, t.row); rows > 0 {
		t.row -= rows
		t.move(fmt.Appendf(nil, "\x1b[%dA", rows))
	}
}

func isReset(params []byte) bool {
	for _, c := range params {
		if c != '0' && c != ';' {
			return false
		}
	}
	return true
}

func (t *Terminal) escape(c byte) { t.out = fmt.Appendf(t.out, `\x%02x`, c) }
