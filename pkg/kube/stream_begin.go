package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// tailMargin is how many lines more than are wanted the first look at the end of a log
// asks for.
const tailMargin = 100

// findTail has the stream begin where the last lines do, which the node counts otherwise
// than we: it does not know of lines in several pieces.
func (s *stream) findTail(ctx context.Context) error {
	for asked := s.options.Tail + tailMargin; ; asked *= 4 {
		w, err := s.window(ctx, asked)
		if err != nil {
			return err
		}
		whole := w.lines < asked
		skip, before, found := w.tail.Start(whole)
		if found && w.seek(s, skip, whole) {
			s.block = append(s.block, before...)
			return nil
		}
	}
}

// window is the end of a log.
type window struct {
	lines  int
	tail   logs.Tail
	stamps []time.Time // of its lines but the end line; zero for one without
}

// window reads the last lines, but for the runner's end line.
func (s *stream) window(ctx context.Context, lines int) (*window, error) {
	body, err := s.open(ctx, &corev1.PodLogOptions{TailLines: new(int64(lines))})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	w := &window{tail: logs.Tail{Lines: s.options.Tail}}
	r := bufio.NewReaderSize(body, screen.MaxLine)
	for inside := false; ; {
		piece, err := r.ReadSlice('\n')
		w.take(piece, inside, s)
		inside = errors.Is(err, bufio.ErrBufferFull)
		switch {
		case errors.Is(err, io.EOF):
			return w, nil
		case err != nil && !inside:
			return nil, s.broken(err)
		}
	}
}

// take is given a line, or a piece of one; inside says that it is not the first.
func (w *window) take(piece []byte, inside bool, s *stream) {
	if inside || len(piece) == 0 {
		_, _ = w.tail.Write(piece) // which never fails
		return
	}
	w.lines++
	stamp, text, stamped := split(piece)
	if s.isEnd(text) {
		return
	}
	w.stamps = append(w.stamps, stamp)
	if stamped {
		_, _ = w.tail.Write(logs.AppendStamp(nil, stamp))
	}
	_, _ = w.tail.Write(text)
}

// seek places a stream behind the first lines of the window; false where it takes an
// earlier line to know the place. whole says that there is none.
func (w *window) seek(s *stream, lines int, whole bool) bool {
	if lines == 0 {
		return whole
	}
	stamps := slices.DeleteFunc(slices.Clone(w.stamps[:lines]), time.Time.IsZero)
	if len(stamps) == 0 {
		return whole
	}
	last := stamps[len(stamps)-1]
	first := slices.IndexFunc(stamps, last.Equal)
	if first == 0 && !whole {
		return false
	}
	s.at = place{stamp: last, lines: len(stamps) - first}
	return true
}

// lacksBeginning tells whether all of the log is wanted and its node has dropped
// the first lines: then the store's first line is another one. Where there is a
// doubt it is not.
func (s *stream) lacksBeginning(ctx context.Context) bool {
	if s.options.Rest == nil || s.options.Tail >= 0 || !s.options.Since.IsZero() {
		return false
	}
	stored := &firstLine{}
	if _, err := s.options.Rest(ctx, s.point(), stored); err != nil && !stored.whole {
		return false
	}
	body, err := s.open(ctx, &corev1.PodLogOptions{LimitBytes: new(int64(screen.MaxLine))})
	if err != nil {
		return false
	}
	defer body.Close()
	here := &firstLine{}
	if _, err := io.Copy(here, body); err != nil && !here.whole {
		return false
	}
	return stored.whole && here.whole && !bytes.Equal(stored.words(), here.words())
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

// words is the line without its stamp.
func (f *firstLine) words() []byte {
	_, text, _ := split(f.line)
	return text
}
