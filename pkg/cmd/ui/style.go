package ui

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Style is what the reader's terminal can do; the zero value suits a pipe.
type Style struct {
	// Redraw allows lines that are overwritten, such as a progress bar.
	Redraw bool
	// Color allows colours.
	Color bool
	// Columns is the width of a line; 0 means 80.
	Columns int
}

const defaultColumns = 80

// Width returns how long a line may be, 0 for any length. The last column of a terminal stays free: some go to the
// next line when it is written to.
func (s Style) Width() int {
	switch {
	case !s.Redraw:
		return 0
	case s.Columns < 1:
		return defaultColumns - 1
	default:
		return s.Columns - 1
	}
}

// Detect returns the style for a writer: everything but a terminal is plain, and so is a
// terminal with TERM=dumb, or a console that can only print ANSI sequences. A non-empty NO_COLOR turns colours off (no-color.org).
func Detect(w io.Writer) Style {
	if !term.IsTerminal(w) || !obeysSequences(w) {
		return Style{}
	}
	columns := 0
	if size := (term.TTY{Out: w}).GetSize(); size != nil {
		columns = int(size.Width)
	}
	return terminalStyle(columns, os.Getenv)
}

func terminalStyle(columns int, getenv func(string) string) Style {
	if getenv("TERM") == "dumb" {
		return Style{}
	}
	return Style{Redraw: true, Color: getenv("NO_COLOR") == "", Columns: columns}
}

// IsUTF8 reports whether the locale of the environment has more signs than ASCII.
func IsUTF8(env func(string) string) bool {
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// InColor returns a text in the colour of a state, if there are colours.
func (s Style) InColor(state api.State, text string) string { return s.paint(colorOf(state), text) }

// color is the parameter of the ANSI sequence that selects it.
type color int

const (
	bold   color = 1
	dim    color = 2
	red    color = 31
	green  color = 32
	yellow color = 33
	cyan   color = 36
)

func (s Style) paint(c color, text string) string {
	if !s.Color {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, text)
}

func colorOf(state api.State) color {
	switch state {
	case api.Succeeded:
		return green
	case api.Failed:
		return red
	case api.Pending:
		return yellow
	case api.Running:
		return cyan
	default:
		return dim
	}
}

// Palette returns the colour of a state, from 0 to 7 as terminals number them; -1 for one that is only dim.
func Palette(state api.State) int {
	const first = 30 // the parameter of colour 0
	return max(int(colorOf(state))-first, -1)
}

// Good returns a text in the colour of what is as it should be, if there are colours.
func (s Style) Good(text string) string { return s.paint(green, text) }

// Bad returns a text in the colour of what is wrong, if there are colours.
func (s Style) Bad(text string) string { return s.paint(red, text) }

// Bold returns a text in bold, if there are colours.
func (s Style) Bold(text string) string { return s.paint(bold, text) }
