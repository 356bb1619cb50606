package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// Heard passes on what a job prints to standard error, and remembers the runner's warnings
// and the module that Python did not find. A nil Heard has nothing.
type Heard struct {
	w       io.Writer
	line    []byte   // the unfinished line
	lines   []string // the last few lines with a warning
	missing string   // the last module that Python did not find
}

// Hear returns a Heard that writes to w.
func Hear(w io.Writer) *Heard { return &Heard{w: w} }

// missingMark begins the last line of a traceback for a missing module.
const missingMark = "ModuleNotFoundError: No module named '"

const (
	// heardMark precedes each warning of a runner; the number of its host may come before
	// it.
	heardMark = "kinetic: warning: "
	// maxHeard limits the lines that are remembered, and heardBytes the length of each: any
	// program may print such lines. The last ones are kept because a runner warns at the
	// end.
	maxHeard, heardBytes = 100, 16 << 10
)

// Write implements io.Writer.
func (h *Heard) Write(b []byte) (int, error) {
	for piece := range bytes.Lines(b) {
		h.hear(piece)
	}
	return h.w.Write(b)
}

// hear processes a piece of a line, with or without its end.
func (h *Heard) hear(piece []byte) {
	h.line = append(h.line, piece[:min(len(piece), max(0, heardBytes-len(h.line)))]...)
	if piece[len(piece)-1] != '\n' {
		return
	}
	if bytes.Contains(h.line, []byte(heardMark)) {
		h.lines = append(h.lines, string(h.line))
		h.lines = h.lines[max(0, len(h.lines)-maxHeard):]
	}
	if _, after, found := bytes.Cut(h.line, []byte(missingMark)); found {
		module, _, _ := bytes.Cut(after, []byte("'"))
		h.missing = string(module)
	}
	h.line = h.line[:0]
}

// MissingModule returns the last module that Python did not find, "" for none.
func (h *Heard) MissingModule() string {
	if h == nil {
		return ""
	}
	return h.missing
}

// Has reports whether the runner has printed a warning.
func (h *Heard) Has(warning string) bool {
	matches := func(line string) bool { return strings.Contains(line, heardMark+warning+"\n") }
	return h != nil && slices.ContainsFunc(h.lines, matches)
}
