package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Marks are how the states are shown.
type Marks struct{ OK, Wrong, Skipped string }

// Signs are marks for a terminal, Words for a pipe or a terminal without UTF-8.
func Signs() Marks { return Marks{"✓", "✗", "–"} }

// Words are marks in ASCII.
func Words() Marks { return Marks{"ok", "wrong", "skipped"} }

func (m Marks) of(s State) string {
	switch s {
	case OK:
		return m.OK
	case Wrong:
		return m.Wrong
	default:
		return m.Skipped
	}
}

func (m Marks) width() int {
	return max(utf8.RuneCountInString(m.OK), utf8.RuneCountInString(m.Wrong), utf8.RuneCountInString(m.Skipped))
}

// Print writes one line for each result, below the heading of its group.
func Print(w io.Writer, results []Result, marks Marks, style ui.Style) error {
	names := 0
	for _, r := range results {
		names = max(names, utf8.RuneCountInString(r.Name))
	}
	var b strings.Builder
	group := ""
	for _, r := range results {
		if r.Group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = r.Group
			b.WriteString(ui.Clean(group) + "\n")
		}
		mark := fmt.Sprintf("%-*s", marks.width(), marks.of(r.State))
		switch r.State {
		case OK:
			mark = style.Good(mark)
		case Wrong:
			mark = style.Bad(mark)
		}
		fmt.Fprintf(&b, "  %s  %-*s  %s\n", mark, names, r.Name, ui.Clean(r.line()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line returns a finding as one line.
func (f Finding) line() string {
	line := f.Detail
	if f.Fix != "" && !strings.Contains(f.Detail, f.Fix) {
		line += ": " + f.Fix
	}
	return strings.Join(strings.Fields(line), " ")
}
