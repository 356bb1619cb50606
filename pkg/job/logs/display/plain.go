package display

import (
	"bytes"
	"io"
)

// Plain is the last writer before a pipe or file. It passes on every byte, but of a line
// that was drawn several times, such as a progress bar, only the last state: what follows
// the last carriage return. An unfinished line waits for its end, or for Close.
type Plain struct {
	w    io.Writer
	held []byte // of the current line, since the last carriage returns
	crs  int    // carriage returns after held: part of a line end, or another state follows
	raw  bool   // too much to hold: the current line is passed on as it arrives
	out  []byte
}

// NewPlain returns a Plain that writes to w.
func NewPlain(w io.Writer) *Plain { return &Plain{w: w} }

// maxHeld limits what a Plain holds, in bytes. The lines of several hosts are cut before.
const maxHeld = 2 * maxMergedLine

// Write passes on all lines that end in b.
func (p *Plain) Write(b []byte) (int, error) {
	p.out = p.out[:0]
	for rest := b; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			p.text(rest)
			break
		}
		p.line(rest[:end])
		rest = rest[end:]
	}
	return len(b), p.flush()
}

// Close writes an unfinished last line. It does not close the underlying writer.
func (p *Plain) Close() error {
	p.out = p.out[:0]
	p.release()
	return p.flush()
}

func (p *Plain) flush() error {
	if len(p.out) == 0 {
		return nil
	}
	_, err := p.w.Write(p.out)
	return err
}

// line handles the rest of a line, including its line end.
func (p *Plain) line(b []byte) {
	if len(p.held)+p.crs == 0 && bytes.IndexByte(b, '\r') < 0 {
		p.out = append(p.out, b...)
	} else {
		p.text(b[:len(b)-1])
		p.release()
		p.out = append(p.out, '\n')
	}
	p.raw = false
}

func (p *Plain) text(b []byte) {
	for len(b) > 0 && !p.raw {
		if b[0] == '\r' {
			p.crs++
			b = b[1:]
			continue
		}
		if p.crs > 0 { // another state of the line
			p.held, p.crs = p.held[:0], 0
		}
		end := bytes.IndexByte(b, '\r')
		if end < 0 {
			end = len(b)
		}
		p.held = append(p.held, b[:end]...)
		b = b[end:]
		if len(p.held) > maxHeld {
			p.release()
			p.raw = true
		}
	}
	p.out = append(p.out, b...)
}

// holds reports whether Close has something to write.
func (p *Plain) holds() bool { return len(p.held)+p.crs > 0 }

// release moves held bytes to the output.
func (p *Plain) release() {
	p.out = append(p.out, p.held...)
	for ; p.crs > 0; p.crs-- {
		p.out = append(p.out, '\r')
	}
	p.held = p.held[:0]
}
