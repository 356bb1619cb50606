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

// Rest writes what the store has of one attempt of a host beyond a point, as it
// is stored: with stamps, but for the rest of a line that was begun.
func Rest(ctx context.Context, s store.Store, id string, host, attempt int, p Point, w io.Writer) error {
	parts, err := listParts(ctx, s, id)
	if err != nil {
		return fmt.Errorf("listing the log of job %s in %s: %w", id, s.URL(), err)
	}
	wanted := part{host: host, attempt: attempt}
	parts = slices.DeleteFunc(parts, func(p part) bool { return !p.sameStream(wanted) })
	joined := &joinedParts{ctx: ctx, store: s, left: parts}
	defer joined.close()
	r := bufio.NewReaderSize(joined, MaxLine)
	err = passOver(r, p)
	if err == nil {
		_, err = r.WriteTo(w)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the log of job %s in %s: %w", id, s.URL(), err)
	}
	return nil
}

// passOver reads up to the point; io.EOF says that there is nothing beyond.
func passOver(r *bufio.Reader, p Point) error {
	for n := 0; n < p.Lines && p.After.IsZero(); n++ {
		if err := skipLine(r); err != nil {
			return err
		}
	}
	until := string(AppendStamp(nil, p.After))
	for !p.After.IsZero() {
		stamp, err := r.Peek(len(stampForm))
		if err != nil {
			return err
		}
		if string(stamp) > until {
			break
		}
		if err := skipLine(r); err != nil {
			return err
		}
	}
	if p.Bytes == 0 || !p.After.IsZero() {
		return nil
	}
	_, err := r.Discard(len(stampForm) + p.Bytes)
	return err
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
