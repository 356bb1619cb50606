package jobs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// entryPrinter writes lists of jobs in one of the forms of --output.
type entryPrinter struct {
	output string
	// namespaces adds a column with the namespaces.
	namespaces bool
	// watched makes columns wide enough for most rows that may follow.
	watched bool
	// noHeaders leaves out the names of the columns.
	noHeaders bool
	now       func() time.Time
	out       io.Writer
	style     ui.Style
	labels    []string // of --label-columns
	custom    []customColumn
	table     *ui.Table // made with the first row
	shown     []column  // of the table
	// outcomes adds a column with the outcomes. A plain list has it if a job holds hosts
	// although it has ended.
	outcomes bool
	// workloads adds a column that says whether the workload exists.
	workloads bool
	meter     price.Meter
}

func (p *entryPrinter) isTable() bool {
	return p.output == "" || p.output == "wide" || p.output == resultsFormat || p.custom != nil
}

func (p *entryPrinter) print(entries []api.JobSummary) error {
	if p.custom != nil {
		return p.customTable(entries)
	}
	switch p.output {
	case cli.JSON, cli.YAML:
		return cli.Write(p.out, p.output, map[string]any{"items": p.items(entries)})
	case "name":
		for _, e := range entries {
			if _, err := fmt.Fprintln(p.out, e.ID); err != nil {
				return err
			}
		}
		return nil
	default:
		return p.rows(entries)
	}
}

// item is a job of a list for programs.
type item struct {
	price.Entry
	// Args are the arguments of a function, as far as its call shows them: null for the others.
	Args map[string]json.RawMessage `json:"args,omitempty"`
}

// items returns jobs as programs read them. It is never nil.
func (p *entryPrinter) items(entries []api.JobSummary) []item {
	items := make([]item, 0, len(entries))
	for _, e := range p.costs().Entries(entries) {
		items = append(items, item{e, argumentValues(e.Call)})
	}
	return items
}

func (p *entryPrinter) costs() price.Meter {
	m := p.meter
	m.Now = p.now()
	return m
}

// rows adds rows to the table, after its headers if they are the first.
func (p *entryPrinter) rows(entries []api.JobSummary) error {
	if len(entries) == 0 {
		return nil
	}
	if p.table == nil {
		p.outcomes = p.output == "wide" || slices.ContainsFunc(entries, holds)
		p.begin(p.columns())
	}
	for _, e := range entries {
		var more []string
		if !p.outcomes && holds(e) { // a watch may have begun without such a job
			more = []string{e.Status.Outcome()}
		}
		p.row(e, more...)
	}
	return p.table.Flush()
}

func holds(e api.JobSummary) bool { return e.Status.UnreleasedHosts != "" }

// usualID is the length that most ids don't exceed: 23 characters of it are the time and
// the digits that make an id unique.
const usualID = 40

type column struct {
	ui.Column
	cell func(api.JobSummary) string
}

// columns returns those of the list, as -o wide and the flags choose them.
func (p *entryPrinter) columns() []column {
	varies := func(header string, cell func(api.JobSummary) string) column {
		return column{ui.Column{Header: header, Varies: true}, cell}
	}
	spare := func(header string, text bool, cell func(api.JobSummary) string) column { // the outcome says more
		return column{ui.Column{Header: header, Varies: true, Spare: true, Text: text}, cell}
	}
	var columns []column
	if p.namespaces {
		columns = append(columns, varies("namespace", func(e api.JobSummary) string { return e.Namespace }))
	}
	columns = append(columns,
		column{ui.Column{Header: "id", Short: store.ShortID, Least: usualID}, func(e api.JobSummary) string { return e.ID }},
		column{ui.Column{Header: "status", Least: len(api.Succeeded)}, api.JobSummary.Word},
		column{ui.Column{Header: "function", Text: true}, functionCell},
		varies("accelerator", func(e api.JobSummary) string { return e.Accelerator }),
		column{ui.Column{Header: "age"}, func(e api.JobSummary) string { return ui.Age(e.Created, p.now()) }},
		p.duration())
	if p.workloads {
		columns = append(columns, varies("workload", workload))
	}
	if p.output == "wide" {
		columns = append(columns, varies("owner", func(e api.JobSummary) string { return e.User }),
			spare("hosts", false, func(e api.JobSummary) string {
				if e.Pathways {
					return "1+" + known(e.Hosts)
				}
				return known(e.Hosts)
			}),
			varies("cost", func(e api.JobSummary) string { return p.costs().OfSummary(e).Cell() }),
			spare("node", true, func(e api.JobSummary) string { return e.Node }),
			spare("store", true, func(e api.JobSummary) string { return e.Store }))
	}
	if p.outcomes {
		columns = append(columns, column{ui.Column{Header: "outcome", Text: true}, func(e api.JobSummary) string { return e.Status.Outcome() }})
	}
	return append(columns, p.labelColumns()...)
}

func (p *entryPrinter) duration() column {
	return column{ui.Column{Header: "duration"}, func(e api.JobSummary) string { return p.took(e.Status) }}
}

// labelColumns returns a column for each label of --label-columns, with the last part of its name, as kubectl's.
func (p *entryPrinter) labelColumns() []column {
	var columns []column
	for _, label := range p.labels {
		columns = append(columns, column{ui.Column{Header: label[strings.LastIndexByte(label, '/')+1:], Text: true}, func(e api.JobSummary) string {
			return cmp.Or(e.Workload.Labels[label], e.Labels[label])
		}})
	}
	return columns
}

func (p *entryPrinter) begin(columns []column) {
	p.shown = columns
	all := make([]ui.Column, len(columns))
	for i, c := range columns {
		all[i] = c.Column
		if p.watched {
			all[i].Varies = false // the rows that follow may differ
		} else {
			all[i].Least = 0
		}
	}
	p.table = ui.NewFitted(p.out, p.style, !p.noHeaders, all...)
}

// row adds a job to the table, with more cells than the columns of the jobs if there are any.
func (p *entryPrinter) row(e api.JobSummary, more ...string) {
	if word := e.Word(); word == string(api.Failed) || word == string(api.Running) {
		p.table.Highlight(p.style, api.State(word))
	}
	cells := make([]string, len(p.shown))
	for i, c := range p.shown {
		cells[i] = c.cell(e)
	}
	p.table.Row(append(cells, more...)...)
}

// functionCell returns the name of a job, and of the function if that is another.
func functionCell(e api.JobSummary) string {
	if called, _ := functionOf(e.Call); called != "" && called != e.Function {
		return fmt.Sprintf("%s (%s)", e.Function, called)
	}
	return e.Function
}

// workload says whether the workload of a job exists and, if not, whether the job was collected.
func workload(e api.JobSummary) string {
	switch {
	case e.State != api.NotFound:
		return "exists"
	case e.Status.Unread != "":
		return "unknown"
	case e.Status.Collected:
		return "collected"
	default:
		return "gone"
	}
}

// known formats a number, "" for 0.
func known(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// took returns how long a job has been running, or ran; "" if it has not started.
func (p *entryPrinter) took(s api.Status) string {
	if s.Started.IsZero() {
		return ""
	}
	return ui.Took(p.ran(s))
}

// ran returns how long a job has been running, or ran; -1 if it has not started.
func (p *entryPrinter) ran(s api.Status) time.Duration {
	switch {
	case s.Started.IsZero():
		return -1
	case s.Finished.IsZero():
		return p.now().Sub(s.Started)
	default:
		return s.Finished.Sub(s.Started)
	}
}
