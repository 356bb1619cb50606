package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"time"
)

// tailMargin is how many lines more than are wanted the first look at the end of a log
// requests.
const tailMargin = 100

// findTail sets the cursor where the last lines begin. The node counts them otherwise: it
// does not know of lines in several pieces.
func (l *podLog) findTail(ctx context.Context) error {
	for asked := l.options.Tail + tailMargin; ; asked *= 4 {
		w, err := l.window(ctx, asked)
		if err != nil {
			return err
		}
		whole := w.lines < asked
		skip, before, found := w.tail.Start(whole)
		if !found {
			continue
		}
		at, found := w.cursorAfter(skip, whole)
		if !found {
			continue
		}
		l.at = at
		l.recent.sums = w.sumsOf(skip)
		if _, err := l.decoder.Write(before); err != nil {
			return &writeError{err}
		}
		return nil
	}
}

// window is the end of a log, without the runner's end line.
type window struct {
	lines  int
	tail   Tail
	stamps []time.Time // of its lines; zero for one without
	sums   []uint64    // of their texts, for recentLines
}

// window reads the last lines.
func (l *podLog) window(ctx context.Context, lines int) (*window, error) {
	body, err := l.source.Open(ctx, *l.pod, OpenOptions{Tail: lines})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	w := &window{tail: Tail{Lines: l.options.Tail}}
	var sum maphash.Hash
	sum.SetSeed(l.recent.hash.Seed())
	r := bufio.NewReaderSize(body, l.buffer)
	for inside := false; ; {
		piece, err := r.ReadSlice('\n')
		line := Line{Text: piece}
		if !inside && len(piece) > 0 {
			w.lines++
			if line.At, line.Text, _ = splitStamp(piece); l.isEnd(line.Text) {
				continue
			}
			w.stamps = append(w.stamps, line.At)
		}
		w.tail.Add(line)
		_, _ = sum.Write(line.Text) // it never fails
		if inside = errors.Is(err, bufio.ErrBufferFull); inside {
			continue
		}
		w.sums = append(w.sums, sum.Sum64())
		sum.Reset()
		switch {
		case errors.Is(err, io.EOF):
			return w, nil
		case err != nil:
			return nil, l.broken(err)
		}
	}
}

// sumsOf are the sums of the last of the first n lines. Those without a stamp are not in the store.
func (w *window) sumsOf(n int) []uint64 {
	var sums []uint64
	for i, stamp := range w.stamps[:n] {
		if !stamp.IsZero() {
			sums = append(sums, w.sums[i])
		}
	}
	return slices.Clone(sums[max(0, len(sums)-recentCount):])
}

// cursorAfter is the cursor behind the first lines of the window; false where it takes an
// earlier line to know it. whole says that there is none.
func (w *window) cursorAfter(lines int, whole bool) (cursor, bool) {
	stamps := slices.DeleteFunc(slices.Clone(w.stamps[:lines]), time.Time.IsZero)
	if len(stamps) == 0 {
		return cursor{}, whole
	}
	last := stamps[len(stamps)-1]
	first := slices.IndexFunc(stamps, last.Equal)
	if first == 0 && !whole {
		return cursor{}, false
	}
	return cursor{stamp: last, lines: len(stamps) - first}, true
}

// lacksBeginning reports whether all of the log is wanted and its node has dropped the
// first lines: then the archive's first line is another one. In doubt it has not.
func (l *podLog) lacksBeginning(ctx context.Context) bool {
	if !l.archive.hasLog() || l.options.Tail >= 0 || !l.options.Since.IsZero() {
		return false
	}
	stored, here := &firstLine{}, &firstLine{}
	_ = l.inTurn(ctx, func() error {
		if _, err := l.archive.Rest(ctx, l.point(), stored); err != nil && !stored.whole {
			return err
		}
		body, err := l.source.Open(ctx, *l.pod, OpenOptions{Limit: readSize})
		if err != nil {
			return err
		}
		defer body.Close()
		_, err = io.Copy(here, body)
		return err
	}) // then a line is not whole
	return stored.whole && here.whole && !bytes.Equal(stored.text(), here.text())
}

// firstLine takes the first line of a log, and no more.
type firstLine struct {
	line  []byte
	whole bool
}

// errEnough ends what writes to a firstLine that is whole.
var errEnough = errors.New("one line is enough")

// Write implements io.Writer.
func (f *firstLine) Write(p []byte) (int, error) {
	if f.whole {
		return 0, errEnough
	}
	line, _, ended := bytes.Cut(p, []byte{'\n'})
	f.line, f.whole = append(f.line, line...), ended
	if ended {
		return len(line), errEnough
	}
	return len(p), nil
}

// text is the line without its stamp.
func (f *firstLine) text() []byte {
	_, text, _ := splitStamp(f.line)
	return text
}
