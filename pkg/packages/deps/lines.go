package deps

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// logicalLine is a line of a requirements file whose continuations were joined.
type logicalLine struct {
	text    string // without its comment
	comment string
	number  int // of its first line
}

// commentAt returns where the comment of a line begins, -1 if it has none: at the start of the line
// or after a blank, so that the fragment of a URL is none.
func commentAt(line string) int {
	for from := 0; ; {
		i := strings.IndexByte(line[from:], '#')
		if i < 0 {
			return -1
		}
		if i += from; i == 0 || line[i-1] == ' ' || line[i-1] == '\t' {
			return i
		}
		from = i + 1
	}
}

// logicalLines reads the lines of a requirements file as pip does, without those that say nothing.
// A comment ends a line that was continued.
func logicalLines(text []byte, name string) ([]logicalLine, error) {
	text = platform.Text(text)
	var lines []logicalLine
	var parts []string
	first, number := 0, 0
	end := func() {
		if l := newLogicalLine(strings.Join(parts, ""), first); l.text != "" {
			lines = append(lines, l)
		}
		parts = parts[:0]
	}
	for raw := range strings.Lines(string(text)) {
		number++
		if !utf8.ValidString(raw) {
			return nil, fmt.Errorf("%s: not UTF-8: save the file in that encoding", place(name, number))
		}
		line := strings.TrimRight(raw, "\r\n")
		if len(parts) == 0 {
			first = number
		}
		isComment := strings.HasPrefix(strings.TrimLeft(line, " \t"), "#")
		if before, continued := strings.CutSuffix(line, `\`); continued && !isComment {
			parts = append(parts, before)
			continue
		}
		if isComment && len(parts) > 0 {
			line = " " + line
		}
		parts = append(parts, line)
		end()
	}
	end()
	return lines, nil
}

func newLogicalLine(text string, number int) logicalLine {
	l := logicalLine{number: number}
	if at := commentAt(text); at >= 0 {
		text, l.comment = text[:at], text[at:]
	}
	l.text = strings.TrimSpace(text)
	return l
}
