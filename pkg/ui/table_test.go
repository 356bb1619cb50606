package ui

import (
	"bytes"
	"testing"
)

func TestTable(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, "id", "state", "age")
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
	golden(t, out.Bytes())
}

func TestTableWithoutHeaders(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out)
	table.Row("cpu-a", "FAILED")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "cpu-a   FAILED\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestTableReportsAnErrorOfItsWriter(t *testing.T) {
	table := NewTable(failing{}, "id")
	table.Row("cpu-a")
	if err := table.Flush(); err == nil || err.Error() != "write the table: nobody reads" {
		t.Errorf("Flush() = %v", err)
	}
}
