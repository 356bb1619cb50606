package ui

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Table writes rows in columns, aligned like kubectl's. In a terminal the rows before the first Flush decide how the
// lines fit into its width. Elsewhere lines may have any width, and columns grow with later rows, so that a watch stays
// readable.
type Table struct {
	w       io.Writer
	columns []Column
	headers []string // nil for no header line
	width   int      // of a line
	layout  *layout  // nil before the first Flush
	rows    [][]string
	painted map[int][2]string // a word and its replacement, by the place of its row in rows
}

const (
	// anyWidth is the width of a line that needs to fit nowhere.
	anyWidth = math.MaxInt
	// leastPiped is the width of the narrowest column outside of a terminal, as in kubectl's tables.
	leastPiped = 6 - len(gap)
)

// NewFitted returns a table whose lines fit into the width of the terminal, if w is one. Headers are written in upper case.
func NewFitted(w io.Writer, style Style, headers bool, columns ...Column) *Table {
	t := &Table{w: w, columns: slices.Clone(columns), width: cmp.Or(style.Width(), anyWidth), painted: map[int][2]string{}}
	for i, c := range columns {
		if headers {
			t.headers = append(t.headers, cleanCell(strings.ToUpper(c.Header)))
		}
		switch {
		case t.width == anyWidth && headers:
			t.columns[i].Least = max(c.Least, leastPiped)
		case t.width == anyWidth:
			t.columns[i].Least = leastPiped
		}
	}
	return t
}

// NewTable returns a table without headers, whose lines may have any width.
func NewTable(w io.Writer, columns int) *Table {
	return NewFitted(w, Style{}, false, make([]Column, columns)...)
}

// Highlight shows the state's word in the next row in its colour, if the style has colours. What runs is bold: it is
// what people look for in a long list, beside what has failed.
func (t *Table) Highlight(style Style, state api.State) {
	if !style.Color {
		return
	}
	word := style.InColor(state, string(state))
	if state == api.Running {
		word = style.Bold(string(state))
	}
	t.painted[len(t.rows)] = [2]string{string(state), word}
}

// Row adds a row. Cells are cleaned and kept to one line each; an empty one becomes
// <none>.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = cleanCell(cell)
	}
	t.rows = append(t.rows, row)
}

// Flush writes the rows so far, below the headers if they are the first, and what all of them have in the columns that
// are left out.
func (t *Table) Flush() error {
	var text strings.Builder
	common := ""
	switch {
	case t.layout == nil:
		t.layout = fit(t.columns, t.headers, t.rows, t.width)
		if t.headers != nil {
			text.WriteString(t.layout.line(t.headers) + "\n")
			common = t.layout.common
		}
	case t.width == anyWidth:
		t.layout.widen(t.rows)
	}
	for i, row := range t.rows {
		line := t.layout.line(row)
		if words, found := t.painted[i]; found { // escape sequences would have counted as text
			line = strings.Replace(line, words[0], words[1], 1)
		}
		text.WriteString(line)
		text.WriteByte('\n')
	}
	if common != "" {
		text.WriteString(common + "\n")
	}
	t.rows = nil
	clear(t.painted)
	if _, err := io.WriteString(t.w, text.String()); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// none is written for an empty cell.
const none = "<none>"

func cleanCell(text string) string {
	if text == "" {
		return none
	}
	text = Clean(text)
	if strings.ContainsAny(text, "\n\t") {
		text = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)
	}
	return text
}
