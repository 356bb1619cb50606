package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// Heard passes on what a job prints to standard error and remembers what its runner warns
// of there, and which module Python misses. A nil one has heard nothing.
type Heard struct {
	w       io.Writer
	line    []byte   // that is unfinished
	lines   []string // with a warning, the last few
	missing string   // the last module that was not found
}

// Hear makes a Heard that writes to w.
func Hear(w io.Writer) *Heard { return &Heard{w: w} }

// missingMark is how a traceback ends where a module is not there.
const missingMark = "ModuleNotFoundError: No module named '"

const (
	// heardMark is in front of each warning of a runner, and behind the number of its host.
	heardMark = "kinetic: warning: "
	// maxHeard bounds the lines that are remembered, and heardBytes each of them: any
	// program may print such lines. A runner warns at the end.
	maxHeard, heardBytes = 100, 16 << 10
)

// Write implements io.Writer.
func (h *Heard) Write(b []byte) (int, error) {
	for piece := range bytes.Lines(b) {
		h.hear(piece)
	}
	return h.w.Write(b)
}

// hear takes the rest of a line, or a piece of it.
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

// MissingModule is the last module that Python has said not to find, "" for none.
func (h *Heard) MissingModule() string {
	if h == nil {
		return ""
	}
	return h.missing
}

// Has reports whether the runner has told a warning.
func (h *Heard) Has(warning string) bool {
	told := func(line string) bool { return strings.Contains(line, heardMark+warning+"\n") }
	return h != nil && slices.ContainsFunc(h.lines, told)
}
