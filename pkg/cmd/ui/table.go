package ui

import (
	"bytes"
	"errors"
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
	err     error // the first one
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

// Highlight shows the state's word in the next row in its colour, if the style has
// colours.
func (t *Table) Highlight(style Style, state api.State) {
	if style.Color {
		t.painter.painted[t.painter.rows] = [2]string{string(state), style.InColor(state, string(state))}
	}
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

// Write implements io.Writer.
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
	if _, err := io.WriteString(t.w, strings.Join(line, "\t")+"\n"); t.err == nil {
		t.err = err
	}
}

// Flush writes the rows so far and returns the first error of the table.
func (t *Table) Flush() error {
	if err := errors.Join(t.w.Flush(), t.painter.flush()); t.err == nil {
		t.err = err
	}
	if t.err != nil {
		return fmt.Errorf("writing the table: %w", t.err)
	}
	return nil
}

func cleanCell(text string) string {
	if text == "" {
		return "<none>"
	}
	text = Clean(text)
	if strings.ContainsAny(text, "\n\t") {
		text = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)
	}
	return text
}
