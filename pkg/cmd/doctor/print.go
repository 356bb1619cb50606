package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/doctor"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

// marks stand for the states of checks.
type marks map[doctor.State]string

func unicodeMarks() marks { return marks{doctor.OK: "✓", doctor.Wrong: "✗", doctor.Skipped: "–"} }

// asciiMarks are marks for a pipe, or for a terminal without UTF-8.
func asciiMarks() marks {
	return marks{doctor.OK: "ok", doctor.Wrong: "wrong", doctor.Skipped: "skipped"}
}

func (m marks) width() int {
	width := 0
	for _, mark := range m {
		width = max(width, utf8.RuneCountInString(mark))
	}
	return width
}

// few is how many checks, at most, have a line each on a terminal although they were skipped for the same reason.
const few = 3

// fold returns results without those that were skipped because another check has failed, if they are many, and a line
// for them.
func fold(results []doctor.Result) (left []doctor.Result, lines []string) {
	skipped := map[string]int{}
	for _, r := range results {
		skipped[needed(r)]++
	}
	said := map[string]bool{}
	for _, r := range results {
		needs := needed(r)
		if needs == "" || skipped[needs] <= few {
			left = append(left, r)
		} else if !said[needs] {
			said[needs] = true
			lines = append(lines, fmt.Sprintf("%d checks need: %s", skipped[needs], needs))
		}
	}
	return left, lines
}

// needed returns what a check needs that was skipped for it, "" for any other check.
func needed(r doctor.Result) string {
	needs, found := strings.CutPrefix(r.Detail, "needs: ")
	if r.State != doctor.Skipped || !found {
		return ""
	}
	return needs
}

// printResults writes one line for each result, below the heading of its group. A terminal has one line for all that
// were skipped for the same reason.
func printResults(w io.Writer, results []doctor.Result, m marks, style ui.Style) error {
	var folded []string
	if style.Redraw {
		results, folded = fold(results)
	}
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
		mark := fmt.Sprintf("%-*s", m.width(), m[r.State])
		switch r.State {
		case doctor.OK:
			mark = style.Good(mark)
		case doctor.Wrong:
			mark = style.Bad(mark)
		}
		fmt.Fprintf(&b, "  %s  %-*s  %s\n", mark, names, r.Name, ui.Clean(line(r.Finding)))
	}
	for i, text := range folded {
		if i == 0 {
			b.WriteString("\nSkipped\n")
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", m.width(), m[doctor.Skipped], ui.Clean(text))
	}
	_, err := io.WriteString(w, ui.WrapBelow(style, 2+m.width()+2+names+2, b.String()))
	return err
}

func line(f doctor.Finding) string {
	text := f.Detail
	if f.Fix != "" && !strings.Contains(f.Detail, f.Fix) {
		text += ": " + f.Fix
	}
	return strings.Join(strings.Fields(text), " ")
}
