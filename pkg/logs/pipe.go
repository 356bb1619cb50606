package logs

import (
	"errors"
	"io"
)

// Pipe is the last writer before a pipe or file that gets both streams of a log, whole
// lines of each as a Plain writes them.
type Pipe struct {
	// EndsLine has Close end the last line of the log, too, for somebody writes below it.
	EndsLine bool

	w     io.Writer
	lines [2]*Plain // by Stream
	last  byte      // that was written
}

// NewPipe makes a Pipe that writes to w.
func NewPipe(w io.Writer) *Pipe {
	p := &Pipe{w: w, last: '\n'}
	for i := range p.lines {
		p.lines[i] = NewPlain(pipeWriter{p})
	}
	return p
}

// Streams are the writers of both streams.
func (p *Pipe) Streams() Streams { return Streams{Out: p.lines[Stdout], Err: p.lines[Stderr]} }

// Close writes the lines that were left unfinished, each on a line of its own. It does not
// close the writer below.
func (p *Pipe) Close() error {
	err := p.lines[Stdout].Close()
	if p.lines[Stderr].holds() {
		err = errors.Join(err, p.endLine(), p.lines[Stderr].Close())
	}
	if p.EndsLine {
		err = errors.Join(err, p.endLine())
	}
	return err
}

func (p *Pipe) endLine() error {
	if p.last == '\n' {
		return nil
	}
	_, err := pipeWriter{p}.Write([]byte{'\n'})
	return err
}

// pipeWriter is the way to the pipe.
type pipeWriter struct{ *Pipe }

// Write implements io.Writer.
func (p pipeWriter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		p.last = b[len(b)-1]
	}
	return p.w.Write(b)
}
