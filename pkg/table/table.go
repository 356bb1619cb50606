// Package table reads lists as an API server prepares them for kubectl get: a few columns of
// each object as text, a tenth of the bytes of the objects.
package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// A request for a list with this Accept header and query parameter is answered with a table.
const (
	Accept      = "application/json;as=Table;g=meta.k8s.io;v=v1"
	ParamObject = "includeObject"
	NoObject    = "None"
)

// Read reads the answer of an API server, and calls each with the text of some columns of each
// row as soon as that has come. The text of a column that the table lacks is empty. The slice is
// valid only during the call. Any other answer than a table is an error.
func Read(r io.Reader, columns []string, each func(row []string)) error {
	t := reader{json: json.NewDecoder(r), columns: columns, each: each}
	err := t.read()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("reading a table: %w", err)
	}
	return nil
}

// reader reads one table. Decoding thousands of rows at once would take twice as long, and could
// only begin when the last one has come.
type reader struct {
	json    *json.Decoder
	columns []string
	at      []int // the places of the columns in a row, -1 for one that the table lacks
	each    func([]string)
}

func (t *reader) read() error {
	if _, err := t.json.Token(); err != nil { // {
		return err
	}
	kind := ""
	for t.json.More() {
		name, err := t.json.Token()
		if err != nil {
			return err
		}
		switch name {
		case "kind":
			err = t.json.Decode(&kind)
		case "columnDefinitions":
			err = t.readColumns()
		case "rows":
			err = t.readRows()
		default:
			err = t.json.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	if kind != "Table" {
		return fmt.Errorf("the server sent kind %q", kind)
	}
	_, err := t.json.Token() // }
	return err
}

func (t *reader) readColumns() error {
	var definitions []struct{ Name string }
	if err := t.json.Decode(&definitions); err != nil {
		return err
	}
	for _, name := range t.columns {
		t.at = append(t.at, slices.IndexFunc(definitions, func(c struct{ Name string }) bool { return c.Name == name }))
	}
	return nil
}

func (t *reader) readRows() error {
	if start, err := t.json.Token(); err != nil || start == nil { // [ or null
		return err
	}
	var line struct{ Cells []json.RawMessage }
	row := make([]string, len(t.columns))
	for t.json.More() {
		line.Cells = line.Cells[:0]
		if err := t.json.Decode(&line); err != nil {
			return err
		}
		for i, k := range t.at {
			row[i] = ""
			if k >= 0 && k < len(line.Cells) {
				row[i] = text(line.Cells[k])
			}
		}
		t.each(row)
	}
	_, err := t.json.Token() // ]
	return err
}

// text returns the text of a cell, "" if the cell is no text.
func text(cell json.RawMessage) string {
	if len(cell) < 2 || cell[0] != '"' {
		return ""
	}
	if bytes.IndexByte(cell, '\\') < 0 {
		return string(cell[1 : len(cell)-1])
	}
	var s string
	_ = json.Unmarshal(cell, &s) // the decoder has found no mistake in it
	return s
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
