package ui

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// Table writes rows in columns, aligned as kubectl aligns its own. Rows of a
// later Flush keep the widths of earlier ones, so that a watch stays readable.
type Table struct {
	w interface {
		io.Writer
		Flush() error
	}
	err error // the first one
}

// NewTable starts a table with its headers, written in upper case; without any
// there is no header line.
func NewTable(w io.Writer, headers ...string) *Table {
	t := &Table{w: printers.GetNewTabWriter(w)}
	if len(headers) > 0 {
		t.Row(strings.Split(strings.ToUpper(strings.Join(headers, "\t")), "\t")...)
	}
	return t
}

// Row adds a row. Cells are cleaned and kept to one line each; an empty one
// becomes <none>.
func (t *Table) Row(cells ...string) {
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
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	if t.err != nil {
		return fmt.Errorf("write the table: %w", t.err)
	}
	return nil
}

func cleanCell(text string) string {
	if text == "" {
		return "<none>"
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Clean(text))
}
