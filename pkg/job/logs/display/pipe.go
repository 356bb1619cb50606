package display

import (
	"bytes"
	"errors"
	"io"
)

// Pipe is the last writer before a pipe or file that gets both streams of a log. It
// writes whole lines of each as a Plain does. It writes a line that is too long for a
// Plain to hold in pieces; meanwhile, output of the other stream waits.
type Pipe struct {
	// EndsLine makes Close also end the last line of the log, because something follows
	// it.
	EndsLine bool

	w       io.Writer
	lines   [2]*Plain // by Stream
	writers [2]*pipeWriter
	last    byte        // the last byte that was written
	inside  *pipeWriter // the stream whose line is partly written; nil at the beginning of a line
	waiting []byte      // output of the other stream since then
}

// NewPipe returns a Pipe that writes to w.
func NewPipe(w io.Writer) *Pipe {
	p := &Pipe{w: w, last: '\n'}
	for i := range p.lines {
		p.writers[i] = &pipeWriter{p}
		p.lines[i] = NewPlain(p.writers[i])
	}
	return p
}

// Streams returns the writers of both streams.
func (p *Pipe) Streams() Streams { return Streams{Out: p.lines[Stdout], Err: p.lines[Stderr]} }

// Close writes the unfinished lines, each on a line of its own. It does not close the
// underlying writer.
func (p *Pipe) Close() error {
	err := p.breakLine()
	for _, line := range p.lines {
		if line.holds() {
			err = errors.Join(err, p.endLine(), line.Close())
		}
	}
	if p.EndsLine {
		err = errors.Join(err, p.endLine())
	}
	return err
}

func (p *Pipe) other(s *pipeWriter) *pipeWriter {
	if s == p.writers[Stdout] {
		return p.writers[Stderr]
	}
	return p.writers[Stdout]
}

func (p *Pipe) endLine() error {
	p.inside = nil
	if p.last == '\n' {
		return nil
	}
	return p.write([]byte{'\n'})
}

// breakLine writes the waiting output, after ending the line that is partly written.
func (p *Pipe) breakLine() error {
	if len(p.waiting) == 0 {
		return nil
	}
	return errors.Join(p.endLine(), p.writeWaiting())
}

func (p *Pipe) writeWaiting() error {
	err := p.write(p.waiting)
	p.waiting = p.waiting[:0]
	return err
}

func (p *Pipe) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	p.last = b[len(b)-1]
	_, err := p.w.Write(b)
	return err
}

// pipeWriter is one stream's way into the pipe.
type pipeWriter struct{ pipe *Pipe }

func (s *pipeWriter) Write(b []byte) (int, error) {
	p := s.pipe
	var err error
	if p.inside != nil && p.inside != s {
		p.waiting = append(p.waiting, b...)
		if len(p.waiting) > maxHeld {
			err = s.passed(p.breakLine())
		}
		return len(b), err
	}
	rest := b
	if end := bytes.IndexByte(b, '\n') + 1; end > 0 && len(p.waiting) > 0 {
		err = errors.Join(p.write(b[:end]), p.writeWaiting())
		rest = b[end:]
		if p.last != '\n' { // the other stream's line was broken, and continues
			p.inside, p.waiting = p.other(s), append(p.waiting, rest...)
			return len(b), err
		}
	}
	return len(b), s.passed(errors.Join(err, p.write(rest)))
}

// passed records whether the stream's line in the pipe is unfinished.
func (s *pipeWriter) passed(err error) error {
	s.pipe.inside = nil
	if s.pipe.last != '\n' {
		s.pipe.inside = s
	}
	return err
}
