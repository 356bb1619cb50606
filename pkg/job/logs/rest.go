package logs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Rest writes what the store has of a host's log in an attempt after a point, as it is stored:
// with stamps, except for the rest of a line of which a part was read. It returns the point up to
// which the log was written, which is p if the store does not have the log up to p yet. A pod that
// has not recorded its attempt has no log: it never started its call.
func (a *Archive) Rest(ctx context.Context, p Point, w io.Writer) (Point, error) {
	number, err := a.number(ctx, p.Host, p.Pod)
	if err != nil || number == 0 {
		return p, err
	}
	parts, err := listParts(ctx, a.Store, a.JobID, store.LogsOf(a.JobID, p.Host, number))
	if err != nil {
		return p, err
	}
	parts = slices.DeleteFunc(parts, func(read part) bool { return read.number <= p.Part })
	if len(parts) == 0 || parts[len(parts)-1].number == p.searched {
		return p, nil
	}
	end := Point{Pod: p.Pod, Host: p.Host, Part: parts[len(parts)-1].number}
	if p.Tail > 0 {
		from, before, err := newCopier(a.Store).tailOf(ctx, parts, p.Tail)
		if err != nil {
			return p, fmt.Errorf("reading the end of the log of job %s in %s: %w", a.JobID, a.Store.URL(), err)
		}
		if _, err := w.Write(before); err != nil {
			return p, err
		}
		parts, p.Lines = parts[from.part:], from.lines
	}
	reached, err := a.copyRest(ctx, parts, p, w)
	if err != nil {
		return p, fmt.Errorf("reading the log of job %s in %s: %w", a.JobID, a.Store.URL(), err)
	}
	if !reached {
		p.searched = end.Part
		return p, nil
	}
	return end, nil
}

// copyRest writes what the parts have after a point, and reports whether they contain that.
func (a *Archive) copyRest(ctx context.Context, parts []part, p Point, w io.Writer) (reached bool, err error) {
	joined := &joinedParts{ctx: ctx, store: a.Store, left: parts}
	defer joined.close()
	r := bufio.NewReaderSize(joined, readSize)
	if p.recent != nil {
		lines, found, err := p.recent.find(r)
		if err != nil || !found {
			return false, err
		}
		joined.left, p.Lines = parts, lines
		r.Reset(joined)
	}
	if err := passOver(r, p); err != nil {
		return false, unlessEOF(err)
	}
	_, err = r.WriteTo(w)
	return true, err
}

// passOver reads up to a point. The error is io.EOF if the log ends before it.
func passOver(r *bufio.Reader, p Point) error {
	for range p.Lines {
		if err := skipLine(r); err != nil {
			return err
		}
	}
	if p.Bytes == 0 {
		return nil
	}
	_, err := r.Discard(len(stampForm) + p.Bytes)
	return err
}

// skipLine reads up to and including the next line end.
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
		_ = j.now.Close() // it was only read
		j.now = nil
	}
}
