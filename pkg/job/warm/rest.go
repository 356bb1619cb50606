package warm

import "io"

// counter counts what is written.
type counter struct {
	io.Writer
	n int
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}

// rest returns a writer for the same text from its beginning, of which it leaves out what was already written.
func (c *counter) rest() io.Writer { return &rest{c.Writer, c.n} }

type rest struct {
	io.Writer
	written int
}

// Write implements io.Writer.
func (r *rest) Write(p []byte) (int, error) {
	old := min(r.written, len(p))
	r.written -= old
	if old == len(p) {
		return old, nil
	}
	n, err := r.Writer.Write(p[old:])
	return old + n, err
}
