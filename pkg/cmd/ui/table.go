package ui

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Table writes rows in columns, aligned like kubectl's. The rows before the first Flush decide how the others are written,
// so that a watch stays readable.
type Table struct {
	w       io.Writer
	columns []Column // nil before the first row of a table without headers
	headers bool
	width   int // of a line; 0 for any
	rows    []tableRow
	layout  *layout   // nil before the first Flush
	next    [2]string // the words of the next row
}

// tableRow is a row that is not written, with a word and its replacement in colour.
type tableRow struct {
	cells []string
	words [2]string
}

// NewFitted is NewTable for a table whose lines fit into the width of the terminal, if w is one.
func NewFitted(w io.Writer, style Style, headers bool, columns ...Column) *Table {
	return &Table{w: w, columns: columns, headers: headers, width: style.Width()}
}

// NewTable returns a table with headers, written in upper case; without headers there is
// no header line.
func NewTable(w io.Writer, headers ...string) *Table {
	return &Table{w: w, columns: Columns(headers...), headers: len(headers) > 0}
}

// Highlight shows the state's word in the next row in its colour, if the style has colours. What runs is bold: it is
// what people look for in a long list, beside what has failed.
func (t *Table) Highlight(style Style, state api.State) {
	word := style.InColor(state, string(state))
	if state == api.Running {
		word = style.Bold(string(state))
	}
	t.next = [2]string{string(state), word}
}

// Row adds a row. Cells are cleaned and kept to one line each; an empty one becomes
// <none>.
func (t *Table) Row(cells ...string) {
	row := tableRow{make([]string, len(cells)), t.next}
	for i, cell := range cells {
		row.cells[i] = cleanCell(cell)
	}
	t.rows, t.next = append(t.rows, row), [2]string{}
}

// Flush writes the rows so far, below the headers if they are the first, and what all have of the columns that are left
// out.
func (t *Table) Flush() error {
	cells := make([][]string, len(t.rows))
	for i, row := range t.rows {
		cells[i] = row.cells
	}
	var text strings.Builder
	common := ""
	switch {
	case t.layout == nil:
		if len(t.columns) == 0 && len(cells) > 0 {
			t.columns = make([]Column, len(cells[0]))
		}
		var headers [][]string
		if t.headers {
			headers = [][]string{make([]string, len(t.columns))}
			for i, c := range t.columns {
				headers[0][i] = strings.ToUpper(c.Header)
			}
		}
		t.layout = fit(t.columns, headers, cells, cmp.Or(t.width, math.MaxInt))
		common = t.layout.common
		for _, row := range headers {
			text.WriteString(t.layout.line(row) + "\n")
		}
	case t.width == 0:
		t.layout.widen(cells)
	}
	for _, row := range t.rows {
		text.WriteString(strings.Replace(t.layout.line(row.cells), row.words[0], row.words[1], 1) + "\n")
	}
	if t.headers && common != "" {
		text.WriteString(common + "\n")
	}
	t.rows = nil
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
