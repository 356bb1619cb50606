package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// position is the beginning of a line in a row of parts: behind the first
// lines line ends of one of them.
type position struct{ part, lines int }

// shape is what has to be known of a part to count lines from the end.
type shape struct {
	lines    int  // line ends, and the end of a stream that lacks one
	stamped  bool // it begins with a line, not in the middle of one
	lastByte byte
}

// tailOf finds where the last n lines of one host's parts begin. It reads from
// the end and no further than it must.
func (c *copier) tailOf(ctx context.Context, parts []part, n int) (position, error) {
	if n == 0 {
		return position{part: len(parts)}, nil
	}
	lines := 0
	for i := len(parts) - 1; i >= 0; i-- {
		s, err := c.shape(ctx, parts[i])
		if err != nil {
			return position{}, err
		}
		endsStream := i == len(parts)-1 || !parts[i].sameStream(parts[i+1])
		if endsStream && s.lastByte != '\n' {
			s.lines++
		}
		lines += s.lines
		if lines > n {
			return position{i, lines - n}, nil
		}
		if lines == n && s.stamped {
			return position{part: i}, nil
		}
	}
	return position{}, nil
}

func (c *copier) shape(ctx context.Context, p part) (shape, error) {
	s := shape{lastByte: '\n'}
	var head []byte
	err := c.read(ctx, p, func(b []byte) error {
		head = append(head, b[:min(len(b), len(stampForm)-len(head))]...)
		s.lines += bytes.Count(b, []byte{'\n'})
		s.lastByte = b[len(b)-1]
		return nil
	})
	s.stamped = len(head) == len(stampForm) && stampPrefix(head, 0) == len(stampForm)
	return s, err
}

// tailOffset finds where the last n lines of a file of the given size begin. A
// last line without an end counts as one; n = 0 is the begin of such a line, so
// that whoever goes on from there sees whole lines.
func tailOffset(r io.ReaderAt, size int64, n int) (int64, error) {
	buf := make([]byte, bufferSize)
	lines := 0
	for end := size; end > 0; {
		b := buf[:min(end, int64(len(buf)))]
		start := end - int64(len(b))
		if _, err := r.ReadAt(b, start); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if end == size && b[len(b)-1] != '\n' {
			lines++
		}
		for i := bytes.LastIndexByte(b, '\n'); i >= 0; i = bytes.LastIndexByte(b[:i], '\n') {
			if lines++; lines > n {
				return start + int64(i) + 1, nil
			}
		}
		end = start
	}
	return 0, nil
}
