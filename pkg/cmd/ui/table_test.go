package ui

import (
	"bytes"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestTable(t *testing.T) {
	var out bytes.Buffer
	table := NewFitted(&out, Style{}, true, Columns("id", "state", "age")...)
	table.Row("v5e1-train-model-20260417-153012-abc1234", "RUNNING", "5m3s")
	table.Row("cpu-a", "FAILED", "")
	table.Row("cpu-\x1b[2J", "two\nlines", "a\ttab")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	table.Row("cpu-b", "PENDING", "0s")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, out.Bytes())
}

func TestTableWithoutHeaders(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, 2)
	table.Row("cpu-a", "FAILED")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "cpu-a   FAILED\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestTableReportsAnErrorOfItsWriter(t *testing.T) {
	table := NewTable(failing{}, 1)
	table.Row("cpu-a")
	if err := table.Flush(); err == nil || err.Error() != "writing the table: nobody reads" {
		t.Errorf("Flush() = %v", err)
	}
}

// A colour shifts no column, and is on the word of its own row alone.
func TestTableHighlights(t *testing.T) {
	for name, tt := range map[string]struct {
		style Style
		want  string
	}{
		"a terminal": {Style{Color: true}, "ID      STATE     AGE\ncpu-a   \x1b[31mFAILED\x1b[0m    5m\ncpu-b   RUNNING   1m\n" +
			"cpu-c   \x1b[31mFAILED\x1b[0m    2m\n"},
		"a pipe": {Style{}, "ID      STATE     AGE\ncpu-a   FAILED    5m\ncpu-b   RUNNING   1m\ncpu-c   FAILED    2m\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			table := NewFitted(&out, Style{}, true, Columns("id", "state", "age")...)
			table.Highlight(tt.style, api.Failed)
			table.Row("cpu-a", "FAILED", "5m")
			table.Row("cpu-b", "RUNNING", "1m")
			if err := table.Flush(); err != nil {
				t.Fatal(err)
			}
			table.Highlight(tt.style, api.Failed)
			table.Row("cpu-c", "FAILED", "2m")
			if err := table.Flush(); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}

// countedWrites is a writer that counts how often it is written to.
type countedWrites int

func (c *countedWrites) Write(p []byte) (int, error) {
	*c++
	return len(p), nil
}

// A write for each cell of a list of thousands of jobs was half of its time.
func TestTableWritesManyRowsAtOnce(t *testing.T) {
	var writes countedWrites
	table := NewTable(&writes, 2)
	for range 1000 {
		table.Row("cpu-train-20261120-082019-abc1234", "RUNNING")
	}
	if err := table.Flush(); err != nil || writes == 0 || writes > 50 {
		t.Errorf("%d writes, %v", writes, err)
	}
}
