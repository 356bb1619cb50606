package jobs

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
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
	table     *ui.Table // made with the first row
	// outcomes adds a column with the outcomes. A plain list has it if a job holds hosts
	// although it has ended.
	outcomes bool
	// workloads adds a column that says whether the workload exists.
	workloads bool
	meter     price.Meter
}

func (p *entryPrinter) isTable() bool { return p.output == "" || p.output == "wide" }

func (p *entryPrinter) print(entries []api.JobSummary) error {
	switch p.output {
	case cli.JSON, cli.YAML:
		return cli.Write(p.out, p.output, map[string]any{"items": p.costs().Entries(entries)})
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

// costs returns the meter at this moment.
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
		columns := p.columns()
		if p.noHeaders {
			columns = nil
		}
		p.table = ui.NewTable(p.out, columns...)
	}
	for _, e := range entries {
		if e.Word() == string(api.Failed) {
			p.table.Highlight(p.style, api.Failed)
		}
		p.table.Row(p.row(e)...)
	}
	return p.table.Flush()
}

// holds reports whether a job has ended and still holds its hosts.
func holds(e api.JobSummary) bool { return e.Status.UnreleasedHosts != "" }

// usualID is the length that most ids don't exceed: 23 characters of it are the time and
// the digits that make an id unique.
const usualID = 40

func (p *entryPrinter) columns() []string {
	id, status := "id", "status"
	if p.watched {
		id, status = fmt.Sprintf("%-*s", usualID, id), fmt.Sprintf("%-*s", len(api.Succeeded), status)
	}
	columns := []string{id, status, "function", "accelerator", "age", "duration"}
	if p.namespaces {
		columns = append([]string{"namespace"}, columns...)
	}
	if p.workloads {
		columns = append(columns, "workload")
	}
	if p.output == "wide" {
		columns = append(columns, "owner", "hosts", "cost", "node", "store")
	}
	if p.outcomes {
		columns = append(columns, "outcome")
	}
	return columns
}

func (p *entryPrinter) row(e api.JobSummary) []string {
	row := []string{e.ID, e.Word(), e.Function, e.Accelerator, ui.Age(e.Created, p.now()), p.took(e.Status)}
	if p.namespaces {
		row = append([]string{e.Namespace}, row...)
	}
	if p.workloads {
		row = append(row, workload(e))
	}
	if p.output == "wide" {
		row = append(row, e.User, known(e.Hosts), p.costs().OfSummary(e).Cell(), e.Node, e.Store)
	}
	if p.outcomes || holds(e) { // a watch may have begun without such a job
		row = append(row, e.Status.Outcome())
	}
	return row
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
