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

// tailMargin is how many more lines than are wanted are requested at first.
const tailMargin = 100

// leastEntry is the length of the shortest pieces into which container runtimes cut a long line:
// CRI-O's, while containerd's are twice as long.
const leastEntry = 8 << 10

// findTail sets the cursor to where the last lines begin. The node can't find that place: it
// counts each piece of a line.
func (l *podLog) findTail(ctx context.Context) error {
	for asked := l.options.Tail + tailMargin; ; asked *= 4 {
		w, err := l.window(ctx, asked)
		if err != nil {
			return err
		}
		whole := w.entries < asked
		skip, before, found := w.tail.Start(whole)
		if !found {
			continue
		}
		at, found := w.cursorAfter(skip, whole)
		if !found {
			continue
		}
		l.at = at
		l.recent.sums = w.sumsOf(skip, whole)
		if _, err := l.decoder.Write(before); err != nil {
			return &WriteError{err}
		}
		return nil
	}
}

// window is the last lines of a log, without the runner's end line.
type window struct {
	entries int // how many the node has sent, at most
	tail    Tail
	stamps  []time.Time // of the lines; zero for a line without a stamp
	sums    []uint64    // of the lines, as recentLines has them
}

// window reads the last entries of the log.
func (l *podLog) window(ctx context.Context, entries int) (*window, error) {
	body, err := l.source.Open(ctx, *l.pod, OpenOptions{Tail: entries})
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
		w.entries += (len(piece) + leastEntry - 1) / leastEntry
		if !inside && len(piece) > 0 {
			if line.At, line.Text, _ = splitStamp(piece); l.isEnd(line.Text) || l.archive.Take(line.Text) {
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

// sumsOf returns the last sums of the first n lines, without those of lines that have no stamp:
// these are not in the store. Unless the window is the whole log, it may begin within a line.
func (w *window) sumsOf(n int, whole bool) []uint64 {
	var sums []uint64
	for i, stamp := range w.stamps[:n] {
		if !stamp.IsZero() && (whole || i > 0) {
			sums = append(sums, w.sums[i])
		}
	}
	return slices.Clone(sums[max(0, len(sums)-recentCount):])
}

// cursorAfter returns the cursor after the first lines of the window, and whether it is known:
// earlier lines may have the same stamp. whole says that there are none.
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

// lacksBeginning reports whether the whole log is wanted, but its node has dropped the first
// lines: the archive begins with another line. It is false if one of the two can't be read.
func (l *podLog) lacksBeginning(ctx context.Context) bool {
	if !l.archive.hasLog() || l.options.Tail >= 0 || !l.options.Since.IsZero() {
		return false
	}
	stored, here := &firstLine{}, &firstLine{}
	err := l.withSlot(ctx, func() error {
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
	}) // after an error one of the lines is not whole
	none := err == nil && len(here.line) == 0 // the node has just begun a new file
	return stored.whole && (none || here.whole && !bytes.Equal(stored.text(), here.text()))
}

// firstLine is a writer that keeps the first line of a log.
type firstLine struct {
	line  []byte
	whole bool
}

// errEnough is the error of a write to a firstLine that is complete.
var errEnough = errors.New("one line is enough")

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

// text returns the line without its stamp.
func (f *firstLine) text() []byte {
	_, text, _ := splitStamp(f.line)
	return text
}
