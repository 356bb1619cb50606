// Package table reads lists as an API server prepares them for kubectl get: a few columns of
// each object as text, a tenth of the bytes of the objects.
package table

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
)

// A request for a list with this Accept header and query parameter is answered with a table.
const (
	Accept      = "application/json;as=Table;g=meta.k8s.io;v=v1"
	ParamObject = "includeObject"
	NoObject    = "None"
)

// Table is a list.
type Table struct {
	Kind    string                  `json:"kind"`
	Columns []struct{ Name string } `json:"columnDefinitions"`
	Lines   []struct{ Cells []any } `json:"rows"`
}

// Read reads the answer of an API server. Any other answer than a table is an error.
func Read(r io.Reader) (Table, error) {
	var t Table
	if err := json.NewDecoder(r).Decode(&t); err != nil {
		return t, fmt.Errorf("reading a table: %w", err)
	}
	if t.Kind != "Table" {
		return t, fmt.Errorf("expected a table, the server sent kind %q", t.Kind)
	}
	return t, nil
}

// Rows yields some columns of each row. The text of a column that the table lacks is empty. Each
// row is valid only until the next one.
func (t Table) Rows(columns ...string) iter.Seq[[]string] {
	at := make([]int, len(columns))
	for i, name := range columns {
		at[i] = slices.IndexFunc(t.Columns, func(c struct{ Name string }) bool { return c.Name == name })
	}
	return func(yield func([]string) bool) {
		row := make([]string, len(columns))
		for _, line := range t.Lines {
			for i, k := range at {
				row[i] = ""
				if k >= 0 && k < len(line.Cells) {
					row[i], _ = line.Cells[k].(string)
				}
			}
			if !yield(row) {
				return
			}
		}
	}
}

// Age returns the duration that a column AGE shows, such as 3d4h. Any other text means nothing.
func Age(column string) time.Duration {
	const day = 24 * time.Hour
	var age time.Duration
	n := 0
	for _, c := range column {
		switch c {
		case 's':
			age += time.Duration(n) * time.Second
		case 'm':
			age += time.Duration(n) * time.Minute
		case 'h':
			age += time.Duration(n) * time.Hour
		case 'd':
			age += time.Duration(n) * day
		case 'y':
			age += time.Duration(n) * 365 * day
		default:
			if c < '0' || c > '9' {
				return 0
			}
			n = 10*n + int(c-'0')
			continue
		}
		n = 0
	}
	return age
}
