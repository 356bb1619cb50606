package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Table writes rows in columns, aligned like kubectl's. Rows after a Flush keep the
// widths of earlier ones, so that a watch stays readable.
type Table struct {
	w interface {
		io.Writer
		Flush() error
	}
	painter *painter
	fitted  *fitted // nil if lines may have any width
	err     error   // the first one
}

// fitted are the rows of a table that fits into a width. The rows before the first Flush decide how.
type fitted struct {
	columns []Column
	headers bool
	width   int
	rows    [][]string // those that are not written
	layout  *layout
}

// NewFitted is NewTable for a table whose lines fit into the width of the terminal, if w is one.
func NewFitted(w io.Writer, style Style, headers bool, columns ...Column) *Table {
	if width := style.Width(); width > 0 {
		p := &painter{w: w, painted: map[int][2]string{}}
		t := &Table{painter: p, fitted: &fitted{columns: columns, headers: headers, width: width}}
		if headers {
			p.rows++
		}
		return t
	}
	var names []string
	for _, c := range columns {
		if headers {
			names = append(names, fmt.Sprintf("%-*s", c.Least, c.Header))
		}
	}
	return NewTable(w, names...)
}

// NewTable returns a table with headers, written in upper case; without headers there is
// no header line.
func NewTable(w io.Writer, headers ...string) *Table {
	p := &painter{w: w, painted: map[int][2]string{}}
	t := &Table{w: printers.GetNewTabWriter(p), painter: p}
	if len(headers) > 0 {
		t.Row(strings.Split(strings.ToUpper(strings.Join(headers, "\t")), "\t")...)
	}
	return t
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
	t.painter.painted[t.painter.rows] = [2]string{string(state), word}
}

// painter collects aligned lines, writes them at once, and adds colours: escape sequences
// would count as text while lines are aligned.
type painter struct {
	w       io.Writer
	text    bytes.Buffer
	rows    int               // that were added
	lines   int               // that were written
	painted map[int][2]string // a word and its replacement, by line
}

func (p *painter) Write(b []byte) (int, error) { return p.text.Write(b) }

func (p *painter) flush() error {
	if len(p.painted) == 0 {
		p.lines = p.rows
		_, err := p.text.WriteTo(p.w)
		return err
	}
	var all strings.Builder
	for line := range strings.Lines(p.text.String()) {
		if words, found := p.painted[p.lines]; found {
			line = strings.Replace(line, words[0], words[1], 1)
			delete(p.painted, p.lines)
		}
		all.WriteString(line)
		p.lines++
	}
	p.text.Reset()
	_, err := io.WriteString(p.w, all.String())
	return err
}

// Row adds a row. Cells are cleaned and kept to one line each; an empty one becomes
// <none>.
func (t *Table) Row(cells ...string) {
	t.painter.rows++
	line := make([]string, len(cells))
	for i, cell := range cells {
		line[i] = cleanCell(cell)
	}
	if t.fitted != nil {
		t.fitted.rows = append(t.fitted.rows, line)
		return
	}
	if _, err := io.WriteString(t.w, strings.Join(line, "\t")+"\n"); t.err == nil {
		t.err = err
	}
}

// Flush writes the rows so far and returns the first error of the table.
func (t *Table) Flush() error {
	if t.fitted != nil {
		t.painter.rows += t.fitted.write(&t.painter.text)
	} else if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	if err := t.painter.flush(); t.err == nil {
		t.err = err
	}
	if t.err != nil {
		return fmt.Errorf("writing the table: %w", t.err)
	}
	return nil
}

// write writes the rows so far, below the headers if they are the first, and what all have of the columns that are left
// out. It returns how many lines that is more than the headers and the rows.
func (f *fitted) write(to *bytes.Buffer) (more int) {
	first := f.layout == nil
	if first {
		var headers [][]string
		if f.headers {
			var row []string
			for _, c := range f.columns {
				row = append(row, strings.ToUpper(c.Header))
			}
			headers = [][]string{row}
		}
		f.layout = fit(f.columns, headers, f.rows, f.width)
		f.rows = append(headers, f.rows...)
	}
	for _, row := range f.rows {
		to.WriteString(f.layout.line(row) + "\n")
	}
	if first && f.headers && f.layout.common != "" {
		to.WriteString(f.layout.common + "\n")
		more = 1
	}
	f.rows = nil
	return more
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
