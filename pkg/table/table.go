// Package table reads lists as an API server prepares them for kubectl get: a few columns of
// each object as text, a tenth of the bytes of the objects.
package table

import (
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
// valid only during the call. Any other answer than a table is an error. It returns the resource version
// of the list.
func Read(r io.Reader, columns []string, each func(row []string)) (version string, err error) {
	t := reader{values: newValues(r), columns: columns, each: each}
	err = t.read()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("reading a table: %w", err)
	}
	return t.metadata.ResourceVersion, nil
}

// reader reads one table.
type reader struct {
	values   *values
	columns  []string
	metadata struct{ ResourceVersion string }
	at       []int // the places of the columns in a row, -1 for one that the table lacks
	each     func([]string)
}

func (t *reader) read() error {
	kind := ""
	err := t.values.object(func(field string) (err error) {
		switch field {
		case "kind":
			err = t.values.decode(&kind)
		case "metadata":
			err = t.values.decode(&t.metadata)
		case "columnDefinitions":
			err = t.readColumns()
		case "rows":
			row := make([]string, len(t.columns))
			err = t.values.array(func() error { return t.readRow(row) })
		default:
			_, err = t.values.next()
		}
		return err
	})
	if err == nil && kind != "Table" {
		return fmt.Errorf("the server sent kind %q", kind)
	}
	return err
}

func (t *reader) readColumns() error {
	var definitions []struct{ Name string }
	if err := t.values.decode(&definitions); err != nil {
		return err
	}
	for _, name := range t.columns {
		t.at = append(t.at, slices.IndexFunc(definitions, func(c struct{ Name string }) bool { return c.Name == name }))
	}
	return nil
}

func (t *reader) readRow(row []string) error {
	clear(row)
	err := t.values.object(func(field string) error {
		if field != "cells" {
			_, err := t.values.next()
			return err
		}
		place := -1
		return t.values.array(func() error {
			cell, err := t.values.next()
			place++
			if column := slices.Index(t.at, place); column >= 0 {
				row[column] = text(cell)
			}
			return err
		})
	})
	if err == nil {
		t.each(row)
	}
	return err
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
