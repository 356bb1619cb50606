package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// The last lines of a log are found by examining its last records, and more records before them
// as needed. A line counts where it begins or, if it is redrawn as a progress bar is, where it was
// redrawn last. If it began before all lines that are shown, only its later states are shown.

// Tail finds where the last lines of a log begin. The last records of the log are written
// to it, in stored form.
type Tail struct {
	// Lines is how many lines are wanted.
	Lines  int
	parser parser
	kinds  []kind
	open   bool    // the last record has no end
	cr     [2]bool // by Stream: the current line ended in a carriage return so far
}

// kind is what Tail has to know about a record.
type kind byte

const (
	ofStderr kind = 1 << iota
	isPiece       // its line continues
	isDrawn       // it has text behind a carriage return
	isReturn      // it ends in a carriage return
	isFirst       // it is the first of an attempt, and begins a line
	counts        // a line counts here
	doubtful      // it is not known whether it begins a line
)

func (k kind) stream() display.Stream { return display.Stream(k & ofStderr) }

// lookBack is how many records before those that are shown are examined, to see whether the
// first one of a stream continues a line.
const lookBack = 1000

// Write examines the next piece of the log.
func (t *Tail) Write(b []byte) (int, error) {
	t.parser.parse(b, t)
	return len(b), nil
}

// Add examines the next line, or the next piece of a line.
func (t *Tail) Add(l Line) { t.parser.add(l, t) }

// Start returns how many records come before the lines that are wanted, and what must be decoded
// before the records after them. whole says that the records are the whole log; found is false if
// more records are needed.
func (t *Tail) Start(whole bool) (skip int, before []byte, found bool) {
	skip, found = lastLines(t.kinds, t.Lines, whole)
	if t.Lines == 0 && t.open {
		skip-- // the log continues with the rest of that record
	}
	return skip, linesBegun(t.kinds, skip), found
}

func (t *Tail) begin(_ moment, s display.Stream) {
	if len(t.kinds) == cap(t.kinds) {
		t.kinds = slices.Grow(t.kinds, max(len(t.kinds), 64))
	}
	t.kinds, t.open = append(t.kinds, kind(s)), true
}

func (t *Tail) text(b []byte) {
	k := &t.kinds[len(t.kinds)-1]
	cr := &t.cr[k.stream()]
	if *cr && b[0] != '\r' {
		*k |= isDrawn
	}
	*k &^= isReturn
	*cr = false
	if bytes.IndexByte(b, '\r') < 0 {
		return
	}
	if before := bytes.TrimRight(b, "\r"); len(before) < len(b) {
		*k |= isReturn
		*cr = true
		b = before
	}
	if bytes.IndexByte(b, '\r') >= 0 {
		*k |= isDrawn
	}
}

func (t *Tail) end(piece bool) {
	t.open = false
	k := &t.kinds[len(t.kinds)-1]
	if piece {
		*k |= isPiece
	} else {
		t.cr[k.stream()] = false
	}
}

// lastLines returns how many records come before the last n lines. found is false if earlier
// records are needed to know that; whole says that there are none.
func lastLines(kinds []kind, n int, whole bool) (skip int, found bool) {
	mark(kinds, whole)
	doubt, lines := false, 0
	for i, k := range slices.Backward(kinds) {
		if lines == n {
			return i + 1, !doubt || i+1 >= lookBack
		}
		doubt = doubt || k&doubtful != 0
		if k&counts != 0 {
			lines++
		}
	}
	return 0, whole
}

func mark(kinds []kind, whole bool) {
	known, goesOn, counted := [2]bool{whole, whole}, [2]bool{}, [2]int{}
	for i, k := range kinds {
		s := k.stream()
		k &^= counts | doubtful
		if k&isFirst != 0 {
			known, goesOn = [2]bool{true, true}, [2]bool{}
		}
		switch {
		case !goesOn[s]:
			k |= counts
			counted[s] = i
		case k&isDrawn != 0:
			kinds[counted[s]] &^= counts
			k |= counts
			counted[s] = i
		}
		if !known[s] {
			k |= doubtful
		}
		known[s], goesOn[s] = true, k&isPiece != 0
		kinds[i] = k
	}
}

// linesBegun returns records that stand for the lines that continue after so many of these records.
func linesBegun(kinds []kind, skip int) []byte {
	if skip < len(kinds) && kinds[skip]&isFirst != 0 { // a new attempt continues none
		return nil
	}
	var begun []byte
	kinds = kinds[:skip]
	for _, s := range []display.Stream{display.Stdout, display.Stderr} {
		for _, k := range slices.Backward(kinds) {
			if k.stream() != s {
				if k&isFirst != 0 {
					break
				}
				continue
			}
			if k&isPiece != 0 {
				begun = appendBegun(begun, s, k&isReturn != 0)
			}
			break
		}
	}
	return begun
}

// tailOffset returns where the last n lines of a file of the given size begin, and what must be
// decoded before them.
func tailOffset(r io.ReaderAt, size int64, n int) (offset int64, before []byte, err error) {
	buf := make([]byte, bufferSize)
	t := &Tail{Lines: n}
	for width := int64(len(buf)); ; width *= 2 {
		from, err := recordAfter(r, size-width, size, buf)
		if err != nil {
			return 0, nil, err
		}
		*t = Tail{Lines: n, kinds: t.kinds[:0]}
		if _, err := io.CopyBuffer(t, io.NewSectionReader(r, from, size-from), buf); err != nil {
			return 0, nil, err
		}
		skip, before, found := t.Start(from == 0)
		if !found {
			continue
		}
		offset, err = afterLines(r, from, size, skip, buf)
		return offset, before, err
	}
}

// recordAfter returns the offset of the first record that begins at or after an offset, which
// may be negative. It is size if there is none.
func recordAfter(r io.ReaderAt, at, size int64, buf []byte) (int64, error) {
	if at <= 0 {
		return 0, nil
	}
	return afterLines(r, at-1, size, 1, buf)
}

// afterLines returns the offset after the next n line ends.
func afterLines(r io.ReaderAt, at, size int64, n int, buf []byte) (int64, error) {
	for n > 0 && at < size {
		b := buf[:min(int64(len(buf)), size-at)]
		if _, err := r.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for n > 0 {
			i := bytes.IndexByte(b, '\n')
			if i < 0 {
				at += int64(len(b))
				break
			}
			at, b, n = at+int64(i)+1, b[i+1:], n-1
		}
	}
	return at, nil
}

// position is the beginning of a record in a sequence of parts: after that many line ends of the
// part with that index.
type position struct{ part, lines int }

// outline is what tailOf has to know about a part.
type outline struct {
	kinds []kind
	// goesOn says that the part begins in the middle of a record.
	goesOn bool
}

// tailOf returns where the last n lines of one host's parts begin, and what must be decoded
// before them. It reads the parts from the last one on, and only as many as it needs.
func (c *copier) tailOf(ctx context.Context, parts []part, n int) (position, []byte, error) {
	if n == 0 {
		return position{part: len(parts)}, nil, nil
	}
	outlines := make([]outline, len(parts))
	records := 0
	for i := len(parts) - 1; i >= 0; i-- {
		var err error
		if outlines[i], err = c.outline(ctx, parts[i]); err != nil {
			return position{}, nil, err
		}
		if records += len(outlines[i].kinds); records < n && i > 0 {
			continue
		}
		kinds, begins := joinOutlines(parts[i:], outlines[i:])
		if skip, found := lastLines(kinds, n, i == 0); found {
			at := positionOf(skip, begins, outlines[i:])
			at.part += i
			return at, linesBegun(kinds, skip), nil
		}
	}
	return position{}, nil, nil // there are no parts
}

// joinOutlines joins the records of several parts, and returns how many records begin before
// each part.
func joinOutlines(parts []part, outlines []outline) (kinds []kind, begins []int) {
	for i, o := range outlines {
		own := o.kinds
		switch {
		case i == 0:
		case !parts[i].sameStream(parts[i-1]):
			own[0] |= isFirst
		case o.goesOn && len(kinds) > 0:
			kinds[len(kinds)-1] |= own[0]
			own = own[1:]
		}
		begins = append(begins, len(kinds))
		kinds = append(kinds, own...)
	}
	return kinds, begins
}

func positionOf(record int, begins []int, outlines []outline) position {
	for i, before := range slices.Backward(begins) {
		if record < before {
			continue
		}
		p := position{part: i, lines: record - before}
		if i > 0 && outlines[i].goesOn {
			p.lines++
		}
		return p
	}
	return position{}
}

func (c *copier) outline(ctx context.Context, p part) (outline, error) {
	var head []byte
	t := &Tail{kinds: make([]kind, 0, 1)}
	err := c.read(ctx, p, func(b []byte) error {
		head = append(head, b[:min(len(b), len(stampForm)-len(head))]...)
		t.parser.parse(b, t)
		return nil
	})
	if t.parser.at == atMark || len(t.parser.stamp) > 0 { // the part ends within a stamp
		t.begin(moment{}, display.Stdout)
	}
	stamped := len(head) == len(stampForm) && hasStamp(head)
	return outline{kinds: t.kinds, goesOn: !stamped}, err
}
