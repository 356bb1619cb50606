package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// WarningLog passes on what a job prints to standard error, and remembers the runner's warnings
// and the module and the file that Python did not find. A nil WarningLog has nothing.
type WarningLog struct {
	w       io.Writer
	line    []byte   // the unfinished line
	lines   []string // the last few lines with a warning
	missing string   // the last module that Python did not find
	file    string   // the last file
}

// NewWarningLog returns a WarningLog that writes to w.
func NewWarningLog(w io.Writer) *WarningLog { return &WarningLog{w: w} }

// missingMark and fileMark begin the last lines of tracebacks for a missing module and a missing file.
const (
	missingMark = "ModuleNotFoundError: No module named '"
	fileMark    = "FileNotFoundError: [Errno 2] No such file or directory: '"
)

const (
	// warningMark precedes each warning of a runner; the number of its host may come before
	// it.
	warningMark = "kinetic: warning: "
	// maxWarnings limits the lines that are remembered, and warningBytes the length of each: any
	// program may print such lines. The last ones are kept because a runner warns at the
	// end.
	maxWarnings, warningBytes = 100, 16 << 10
)

func (h *WarningLog) Write(b []byte) (int, error) {
	for piece := range bytes.Lines(b) {
		h.remember(piece)
	}
	return h.w.Write(b)
}

// remember processes a piece of a line, with or without its end.
func (h *WarningLog) remember(piece []byte) {
	h.line = append(h.line, piece[:min(len(piece), max(0, warningBytes-len(h.line)))]...)
	if piece[len(piece)-1] != '\n' {
		return
	}
	if bytes.Contains(h.line, []byte(warningMark)) {
		h.lines = append(h.lines, string(h.line))
		h.lines = h.lines[max(0, len(h.lines)-maxWarnings):]
	}
	for mark, last := range map[string]*string{missingMark: &h.missing, fileMark: &h.file} {
		if _, after, found := bytes.Cut(h.line, []byte(mark)); found {
			name, _, _ := bytes.Cut(after, []byte("'"))
			*last = string(name)
		}
	}
	h.line = h.line[:0]
}

// MissingModule returns the last module that Python did not find, "" for none.
func (h *WarningLog) MissingModule() string {
	if h == nil {
		return ""
	}
	return h.missing
}

// MissingFile returns the path of the last file that Python did not find, "" for none.
func (h *WarningLog) MissingFile() string {
	if h == nil {
		return ""
	}
	return h.file
}

// Has reports whether the runner has printed a warning.
func (h *WarningLog) Has(warning string) bool {
	matches := func(line string) bool { return strings.Contains(line, warningMark+warning+"\n") }
	return h != nil && slices.ContainsFunc(h.lines, matches)
}
