package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Rest writes what the store has of the log of a host in an attempt beyond a point, as it
// is stored: with stamps, but for the rest of a line that was begun. It returns the point
// that it came to. There is nothing of a pod that has not recorded its attempt: it never
// came to its call.
func (a *Archive) Rest(ctx context.Context, p Point, w io.Writer) (Point, error) {
	number, err := a.number(ctx, p.Host, p.Pod)
	if err != nil || number == 0 {
		return p, err
	}
	parts, err := listParts(ctx, a.Store, a.JobID, store.LogsOf(a.JobID, p.Host, number))
	if err != nil {
		return p, err
	}
	if p.Tail > 0 {
		from, before, err := newCopier(a.Store).tailOf(ctx, parts, p.Tail)
		if err != nil {
			return p, fmt.Errorf("reading the end of the log of job %s in %s: %w", a.JobID, a.Store.URL(), err)
		}
		if _, err := w.Write(before); err != nil {
			return p, err
		}
		parts, p = parts[from.part:], Point{Pod: p.Pod, Host: p.Host, Lines: from.lines}
	}
	joined := &joinedParts{ctx: ctx, store: a.Store, left: parts}
	defer joined.close()
	r := bufio.NewReaderSize(joined, readSize)
	c := &pointWriter{w: w, point: p}
	if err = c.passOver(r); err == nil {
		_, err = r.WriteTo(c)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return c.point, fmt.Errorf("reading the log of job %s in %s: %w", a.JobID, a.Store.URL(), err)
	}
	return c.point, nil
}

// pointWriter counts what it writes from a point on.
type pointWriter struct {
	w     io.Writer
	point Point
}

// passOver reads up to the point; io.EOF says that there is nothing beyond.
func (c *pointWriter) passOver(r *bufio.Reader) error {
	if !c.point.After.IsZero() {
		return c.passTime(r)
	}
	for range c.point.Lines {
		if err := skipLine(r); err != nil {
			return err
		}
	}
	if c.point.Bytes == 0 {
		return nil
	}
	_, err := r.Discard(len(stampForm) + c.point.Bytes)
	return err
}

// passTime turns a moment into a number of lines.
func (c *pointWriter) passTime(r *bufio.Reader) error {
	until := string(appendStamp(nil, c.point.After))
	for lines := 0; ; lines++ {
		stamp, err := r.Peek(len(stampForm))
		if err != nil {
			return err
		}
		if string(stamp) > until {
			c.point.Lines, c.point.Bytes, c.point.After = lines, 0, time.Time{}
			return nil
		}
		if err := skipLine(r); err != nil {
			return err
		}
	}
}

// Write implements io.Writer.
func (c *pointWriter) Write(p []byte) (int, error) {
	open := len(p) // bytes of the line that p leaves open
	if c.point.Bytes > 0 {
		open += len(stampForm) + c.point.Bytes
	}
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		open = len(p) - i - 1
	}
	c.point.Lines += bytes.Count(p, []byte{'\n'})
	c.point.Bytes = max(0, open-len(stampForm))
	return c.w.Write(p)
}

// skipLine reads up to and with the next line end.
func skipLine(r *bufio.Reader) error {
	for {
		if _, err := r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// joinedParts reads parts one after the other.
type joinedParts struct {
	ctx   context.Context
	store store.Store
	left  []part
	now   io.ReadCloser
}

// Read implements io.Reader.
func (j *joinedParts) Read(b []byte) (int, error) {
	for {
		if j.now == nil {
			if len(j.left) == 0 {
				return 0, io.EOF
			}
			var err error
			if j.now, err = j.store.Open(j.ctx, j.left[0].object); err != nil {
				return 0, err
			}
			j.left = j.left[1:]
		}
		n, err := j.now.Read(b)
		if errors.Is(err, io.EOF) {
			j.close()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (j *joinedParts) close() {
	if j.now != nil {
		_ = j.now.Close() // nothing was written
		j.now = nil
	}
}
