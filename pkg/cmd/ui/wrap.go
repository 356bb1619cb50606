package ui

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// colors are what paint writes, which takes no room on a line.
const colors = `\x1b\[\d+m`

// Wrap returns a text whose lines fit into the width of a terminal: one that is longer continues between two words, below
// its second word. Anywhere else the text stays as it is.
func Wrap(style Style, text string) string {
	return wrap(style, text, func(line string) int { return 2 + len(line) - len(strings.TrimLeft(line, " ")) })
}

// WrapBelow is Wrap for lines that begin with a name: they continue in this column, counted from 0.
func WrapBelow(style Style, column int, text string) string {
	return wrap(style, text, func(string) int { return column })
}

func wrap(style Style, text string, indent func(line string) int) string {
	width := style.Width()
	if width == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		b.WriteString(wrapLine(line, width, strings.Repeat(" ", indent(line))) + "\n")
	}
	return b.String()
}

// Wrapped is Wrap for one line, without its newline, as it is written to w.
func Wrapped(w io.Writer, line string) string {
	return strings.TrimSuffix(Wrap(Detect(w), line), "\n")
}

func wrapLine(line string, width int, indent string) string {
	words := strings.Split(line, " ")
	var b strings.Builder
	column := 0
	for i, word := range words {
		n := utf8.RuneCountInString(lazyregexp.Of(colors).ReplaceAllString(word, ""))
		switch {
		case i > 0 && column+1+n > width && column > len(indent):
			b.WriteString("\n" + indent)
			column = len(indent)
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
