package warm

import (
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// shown counts what was written of the log of one host, by stream.
type shown struct{ out, err int }

func (s *shown) count(o logs.Options, w display.Streams) (logs.Options, display.Streams) {
	return o.Wrapped(w, func(w display.Streams) display.Streams {
		return display.Streams{Out: &counter{w.Out, &s.out}, Err: &counter{w.Err, &s.err}}
	})
}

// rest returns options and writers for the same log from its beginning, of which it leaves out what was already written.
func (s *shown) rest(o logs.Options, w display.Streams) (logs.Options, display.Streams) {
	return o.Wrapped(w, func(w display.Streams) display.Streams {
		return display.Streams{Out: &rest{w.Out, s.out}, Err: &rest{w.Err, s.err}}
	})
}

type counter struct {
	io.Writer
	n *int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	*c.n += n
	return n, err
}

// rest leaves out what is written first.
type rest struct {
	io.Writer
	written int
}

func (r *rest) Write(p []byte) (int, error) {
	old := min(r.written, len(p))
	r.written -= old
	if old == len(p) {
		return old, nil
	}
	n, err := r.Writer.Write(p[old:])
	return old + n, err
}
