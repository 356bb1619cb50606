package ui

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// tail is the short form of an ID.
func tail(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }

// jobColumns are those of a list of jobs.
func jobColumns() []Column {
	return []Column{{Header: "id", Short: tail}, {Header: "status"}, {Header: "function"}, {Header: "accelerator", Varies: true}, {Header: "age"},
		{Header: "store", Varies: true}, {Header: "outcome", Text: true}}
}

func TestFit(t *testing.T) {
	jobs := [][]string{
		{"cpu-train-20261123-012705-6ebd35c", "RUNNING", "train", "cpu", "5m", "gs://acme-jobs", "running"},
		{"cpu-score-20261123-012654-0123456", "FAILED", "score", "cpu", "6m", "gs://acme-jobs", "failed: FileNotFoundError: [Errno 2] No such file: 'data/train.csv'"},
	}
	for name, tt := range map[string]struct {
		rows  [][]string
		width int
		want  string
	}{
		"all of it": {jobs, 200, `ID                                  STATUS    FUNCTION   ACCELERATOR   AGE   STORE            OUTCOME
cpu-train-20261123-012705-6ebd35c   RUNNING   train      cpu           5m    gs://acme-jobs   running
cpu-score-20261123-012654-0123456   FAILED    score      cpu           6m    gs://acme-jobs   failed: FileNotFoundError: [Errno 2] No such file: 'data/train.csv'
`},
		"at 120: short, and without what is equal": {jobs, 119, `ID        STATUS    FUNCTION   ACCELERATOR   AGE   OUTCOME
6ebd35c   RUNNING   train      cpu           5m    running
0123456   FAILED    score      cpu           6m    failed: FileNotFoundError: [Errno 2] No such file: 'data/train.csv'
all: STORE gs://acme-jobs
`},
		"at 100: also without the next column": {jobs, 99, `ID        STATUS    FUNCTION   AGE   OUTCOME
6ebd35c   RUNNING   train      5m    running
0123456   FAILED    score      6m    failed: FileNotFoundError: [Errno 2] No such file: 'data/trai…
all: ACCELERATOR cpu, STORE gs://acme-jobs
`},
		"at 80: the text is cut": {jobs, 79, `ID        STATUS    FUNCTION   AGE   OUTCOME
6ebd35c   RUNNING   train      5m    running
0123456   FAILED    score      6m    failed: FileNotFoundError: [Errno 2] No s…
all: ACCELERATOR cpu, STORE gs://acme-jobs
`},
		"at 30: lines are cut": {jobs, 30, `ID        STATUS    FUNCTION …
6ebd35c   RUNNING   train …
0123456   FAILED    score …
all: ACCELERATOR cpu, STORE g…
`},
		"one row has nothing in common": {jobs[:1], 60, `ID        STATUS    FUNCTION   ACCELERATOR   AGE   STORE …
6ebd35c   RUNNING   train      cpu           5m    gs://acm…
`},
		"short forms that are equal": {[][]string{{"a-1", "RUNNING", "f", "cpu", "1m", "s", "x"}, {"b-1", "RUNNING", "f", "l4", "1m", "s", "x"}}, 40,
			`ID    STATUS    FUNCTION   ACCELERATOR …
a-1   RUNNING   f          cpu …
b-1   RUNNING   f          l4 …
all: STORE s
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			table := NewFitted(&out, Style{Redraw: true, Columns: tt.width + 1}, true, jobColumns()...)
			for _, row := range tt.rows {
				table.Row(row...)
			}
			if err := table.Flush(); err != nil || out.String() != tt.want {
				t.Errorf("%v, got\n%swant\n%s", err, &out, tt.want)
			}
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > tt.width {
					t.Errorf("a line has %d characters: %s", n, line)
				}
			}
		})
	}
}

// A pipe gets all cells, aligned as in kubectl's tables, whatever the columns are. Later rows only make them wider.
func TestAPipeGetsAllCells(t *testing.T) {
	for _, headers := range []bool{true, false} {
		var want, got bytes.Buffer
		kubectls := printers.GetNewTabWriter(&want)
		table := NewFitted(&got, Style{}, headers, Column{Header: "n", Varies: true}, Column{Header: "id", Short: tail}, Column{Header: "status", Spare: true, Text: true}, Column{Header: "outcome", Text: true})
		if headers {
			fmt.Fprintln(kubectls, "N\tID\tSTATUS\tOUTCOME")
		}
		for _, rows := range [][][]string{
			{{"1", "cpu-train-20261123-012705-6ebd35c", "-", strings.Repeat("x", 300)}, {"1", "é", "-", "y"}},
			{{"1000000", "cpu-a", "longer than before", "z"}, {"1", "b", "ok", "y"}},
			{{"1", "c", "ok", "y"}},
		} {
			for _, row := range rows {
				table.Row(row...)
				fmt.Fprintln(kubectls, strings.Join(row, "\t"))
			}
			if err := errors.Join(table.Flush(), kubectls.Flush()); err != nil || got.String() != want.String() {
				t.Errorf("%v, got\n%swant\n%s", err, &got, &want)
			}
		}
	}
}

// Rows that come later have the columns of the first ones, and the colours of their own.
func TestLaterRowsOfAFittedTable(t *testing.T) {
	var out bytes.Buffer
	style := Style{Redraw: true, Color: true, Columns: 31}
	table := NewFitted(&out, style, true, Column{Header: "id", Short: tail}, Column{Header: "status"}, Column{Header: "outcome", Text: true})
	for _, row := range [][]string{{"cpu-1", "RUNNING", "on a node with a long name"}, {"cpu-2", "FAILED", "short"}} {
		table.Highlight(style, api.State(row[1]))
		table.Row(row...)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	const want = "ID   STATUS    OUTCOME\n1    \x1b[1mRUNNING\x1b[0m   on a node with…\n2    \x1b[31mFAILED\x1b[0m    short\n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}

func TestFitSpare(t *testing.T) {
	columns := []Column{{Header: "accelerator"}, {Header: "aliases", Spare: true}, {Header: "machine", Spare: true}, {Header: "price"}, {Header: "note", Text: true}}
	row := []string{"l4x2", "2xl4", "g2-standard-24", "1.40", "a note that is long"}
	for width, want := range map[int]string{
		80: "l4x2          2xl4      g2-standard-24   1.40    a note that is long\n",
		59: "l4x2          2xl4      1.40    a note that is long\n",
		45: "l4x2          1.40    a note that is long\n",
		38: "l4x2          1.40    a note that is …\n",
	} {
		var out bytes.Buffer
		table := NewFitted(&out, Style{Redraw: true, Columns: width + 1}, true, columns...)
		table.Row(row...)
		if err := table.Flush(); err != nil || !strings.HasSuffix(out.String(), "\n"+want) {
			t.Errorf("%d: %v, got\n%swant\n%s", width, err, &out, want)
		}
	}
}
