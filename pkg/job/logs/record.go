package logs

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// A log consists of records, one per line:
//
//	[STAMP ' '] [MARK] TEXT [pieceEnd] '\n'
//
// A record is a line of one stream or, if it ends in pieceEnd, a piece of a line, which the next
// record of the same stream continues. Records of the other stream may come between the two. A
// log without marks, from an older runner, is all standard output.
//
// stderrMark begins a record of standard error, stdoutMark one of standard output whose text begins with a mark.
// pieceEnd says that the line continues in another record.
var stderrMark, stdoutMark, pieceEnd = api.Contract.Marks.Stderr[0], api.Contract.Marks.Stdout[0], api.Contract.Marks.Piece[0]

const (
	// stampForm is the form of a stamp, in which 0 stands for any digit.
	stampForm = "0000-00-00T00:00:00.000000Z "
	// StampLayout is the form of a stamp for package time, without the space.
	StampLayout = "2006-01-02T15:04:05.000000Z"
)

func appendStamp(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(b, StampLayout), ' ')
}

// appendBegun appends a record that stands for the beginning of a line, which the records after it
// continue. returned says that the beginning ended in a carriage return.
func appendBegun(b []byte, s display.Stream, returned bool) []byte {
	b = appendStamp(b, time.Time{})
	if s == display.Stderr {
		b = append(b, stderrMark)
	}
	if returned {
		b = append(b, '\r')
	}
	return append(b, pieceEnd, '\n')
}

// moment is when a record was printed: the stamp of a stored record, or the time that a node
// gives. It has neither if that is not known.
type moment struct {
	stamp []byte
	at    time.Time
}

func (m moment) isBegun() bool { return m.stamp != nil && string(m.stamp[:4]) == "0001" }

func (m moment) appendTo(b []byte) []byte {
	if m.at.IsZero() {
		return append(b, m.stamp...)
	}
	return appendStamp(b, m.at)
}

// Line is a line of a log as a node sends it, or a piece of such a line.
type Line struct {
	// At is when the line was printed; zero for a piece that is not the first one.
	At time.Time
	// Text has the marks of a record and, unless it is a piece, the line end.
	Text []byte
}

func unmarked(text []byte) []byte {
	if len(text) > 0 && isMark(text[0]) {
		return text[1:]
	}
	return text
}

func isMark(c byte) bool { return c == stderrMark || c == stdoutMark }

// parser finds the records in a log, which it gets in pieces of any size.
type parser struct {
	at    parserAt
	stamp []byte    // of the current record, as far as it was read
	time  time.Time // of the current record, if it comes from a Line
	held  bool      // the last byte was pieceEnd, which is text unless the record ends there
}

// parserAt is the part of a record that is read next.
type parserAt int

const (
	atStamp parserAt = iota
	atMark
	atText
)

type recordHandler interface {
	// begin is called at the beginning of a record.
	begin(m moment, s display.Stream)
	// text is called with a piece of the record's text, which is never empty.
	text(b []byte)
	// end is called at the end of a record; piece says that the line continues.
	end(piece bool)
}

func (p *parser) parse(b []byte, to recordHandler) {
	for len(b) > 0 {
		switch p.at {
		case atStamp:
			b = p.readStamp(b, to)
		case atMark:
			b = p.readMark(moment{p.stamp, p.time}, b, to)
		case atText:
			b = p.readText(b, to)
		}
	}
}

// add reads a line. The log may continue with Lines or in stored form.
func (p *parser) add(l Line, to recordHandler) {
	if !l.At.IsZero() {
		if p.at == atText { // the end of the record is lost
			to.end(p.held)
		}
		p.reset()
		p.at, p.time = atMark, l.At
	}
	p.parse(l.Text, to)
}

func (p *parser) reset() {
	p.at, p.stamp, p.held = atStamp, p.stamp[:0], false
}

// readStamp reads the stamp, or as much of it as b has, and returns the rest of b. If the log
// ends within a stamp, that is no text and is not shown.
func (p *parser) readStamp(b []byte, to recordHandler) []byte {
	if n := len(stampForm); len(p.stamp) == 0 && len(b) > n && hasStamp(b) {
		return p.readMark(moment{stamp: b[:n]}, b[n:], to)
	}
	want := min(len(stampForm)-len(p.stamp), len(b))
	n := stampPrefix(b[:want], len(p.stamp))
	p.stamp = append(p.stamp, b[:n]...)
	switch {
	case len(p.stamp) == len(stampForm):
		p.at = atMark
	case n < want: // not a stamp: text from its first byte
		p.at = atText
		to.begin(moment{}, display.Stdout)
		if len(p.stamp) > 0 {
			to.text(p.stamp)
		}
		p.stamp = p.stamp[:0]
	}
	return b[n:]
}

// hasStamp reports whether b, which must be long enough, begins with a stamp. It compares eight
// bytes at a time, because it is called for each record.
func hasStamp(b []byte) bool {
	var wrong uint64
	for _, w := range stampWords {
		diff := binary.LittleEndian.Uint64(b[w.at:]) ^ w.form // 0 to 9 of a digit
		wrong |= (diff|(diff+0x0606060606060606))&0xf0f0f0f0f0f0f0f0 | diff&w.fixed
	}
	return wrong == 0
}

// stampWord is eight bytes of stampForm; fixed has the bits of the bytes that are not digits.
type stampWord struct {
	at          int
	form, fixed uint64
}

var stampWords = func() (words [4]stampWord) {
	for i, at := range []int{0, 8, 16, len(stampForm) - 8} {
		words[i] = stampWord{at: at, form: binary.LittleEndian.Uint64([]byte(stampForm[at:]))}
		for n, c := range []byte(stampForm[at : at+8]) {
			if c != '0' {
				words[i].fixed |= 0xff << (8 * n)
			}
		}
	}
	return words
}()

// stampPrefix returns how many bytes of b match the form of a stamp from its byte at.
func stampPrefix(b []byte, at int) int {
	for i, c := range b {
		form := stampForm[at+i]
		if form == '0' && c-'0' > 9 || form != '0' && c != form {
			return i
		}
	}
	return len(b)
}

func (p *parser) readMark(m moment, b []byte, to recordHandler) []byte {
	stream := display.Stdout
	if b[0] == stderrMark {
		stream = display.Stderr
	}
	to.begin(m, stream)
	p.at, p.stamp, p.time = atText, p.stamp[:0], time.Time{}
	if isMark(b[0]) {
		return b[1:]
	}
	return b
}

func (p *parser) readText(b []byte, to recordHandler) []byte {
	end := bytes.IndexByte(b, '\n')
	text := b
	if end >= 0 {
		text = b[:end]
	}
	if p.held && end != 0 {
		to.text([]byte{pieceEnd})
		p.held = false
	}
	if len(text) > 0 && text[len(text)-1] == pieceEnd {
		text, p.held = text[:len(text)-1], true
	}
	if len(text) > 0 {
		to.text(text)
	}
	if end < 0 {
		return nil
	}
	p.at = atStamp
	to.end(p.held)
	p.held = false
	return b[end+1:]
}
