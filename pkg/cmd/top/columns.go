package top

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Column is a column of the screen.
type Column struct {
	// Header is its name.
	Header string
	// Cell is what it has in a row, "" for nothing.
	Cell func(Row) string

	width int
	right bool // of its width
	// measured shows none for what is not known of a job that runs.
	measured bool
	drop     int // the place in the order in which columns are left out of a narrow screen; 0 for never
}

const (
	gap = 2
	// wide is from which width on IDs are not shortened to shortID.
	wide            = 120
	shortID, longID = 20, 40
	leastLine       = 16 // of the last column
	stateWidth      = len(api.Succeeded)
	number          = 5
	packagesWidth   = len("packages")
	namespaceWidth  = 14
	jobHeader       = "JOB"
	dutyHeader      = "DUTY"
	costHeader      = "COST"
	limitHeader     = "MAX COST"
	none            = "-"
)

// Columns returns all columns at a time: which job, how it stands, what it uses and costs, and what it last said.
func (m *Model) Columns(now time.Time) []Column {
	meter := m.Meter
	meter.Now = now
	ofJob := func(cell func(Row) string) func(Row) string {
		return func(r Row) string {
			if r.Host != WholeJob {
				return ""
			}
			return cell(r)
		}
	}
	var columns []Column
	if m.Namespaces {
		columns = append(columns, Column{Header: "NAMESPACE", width: namespaceWidth, drop: 5, Cell: ofJob(func(r Row) string { return r.Namespace })})
	}
	return append(columns,
		Column{Header: jobHeader, Cell: nameOf},
		Column{Header: "STATE", width: stateWidth, Cell: wordOf},
		Column{Header: "PHASE", width: packagesWidth, drop: 2, Cell: phaseOf},
		Column{Header: "AGE", width: number, right: true, drop: 7, Cell: func(r Row) string { return age(r, now) }},
		Column{Header: "CPU", width: number, right: true, measured: true, drop: 6, Cell: func(r Row) string { return cores(r.Use.CPU) }},
		Column{Header: "MEMORY", width: number + 1, right: true, measured: true, drop: 6, Cell: func(r Row) string { return size(r.Use.Memory) }},
		Column{Header: dutyHeader, width: len(dutyHeader), right: true, measured: true, drop: 3, Cell: func(r Row) string { return percent(r.Use.Duty) }},
		Column{Header: costHeader, width: number + 2, right: true, drop: 4, Cell: ofJob(func(r Row) string { return meter.OfSummary(r.Entry).Cell() })},
		Column{Header: limitHeader, width: len(limitHeader), right: true, drop: 1, Cell: ofJob(func(r Row) string { return limit(r.Entry) })},
		Column{Header: "LAST LINE", Cell: Said})
}

func nameOf(r Row) string {
	if r.Host == WholeJob {
		return r.ID
	}
	return fmt.Sprintf("  host %d", r.Host)
}

func wordOf(r Row) string {
	if r.Host == WholeJob {
		return r.Entry.Word()
	}
	return string(r.Pod.State)
}

func phaseOf(r Row) string {
	if r.Host == WholeJob {
		return job.PhaseOfJob(r.Entry)
	}
	return job.PhaseOf(r.Pod)
}

// age is that of the job, or for how long the host has been running.
func age(r Row, now time.Time) string {
	switch {
	case r.Host == WholeJob:
		return ui.Age(r.Entry.Created, now)
	case r.Pod.Started.IsZero():
		return ""
	}
	return ui.Age(r.Pod.Started, now)
}

// Said returns what there is to read about a row: why a job or some of its hosts wait or how it ended, what a host is
// waiting for, or the last line that it has printed.
func Said(r Row) string {
	message := r.Entry.Status.Message
	if r.Entry.Map && r.Line != "" { // it only counts the chunks that are done
		message = ""
	}
	switch {
	case r.Host != WholeJob && (r.Line == "" || r.Pod.State != api.Running && r.Pod.Message != ""):
		return r.Pod.Message
	case r.Host != WholeJob, r.Entry.State == api.Running && message == "":
		return r.Line
	}
	return r.Entry.Status.Outcome()
}

func cores(n *float64) string {
	if n == nil {
		return ""
	}
	const many = 10
	if *n >= many {
		return strconv.FormatFloat(*n, 'f', 0, 64)
	}
	return strconv.FormatFloat(*n, 'f', 2, 64)
}

// size formats bytes as Kubernetes writes them, with three digits at least.
func size(n *int64) string {
	if n == nil {
		return ""
	}
	const step, few = 1 << 10, 10
	value, unit := float64(*n), 0
	units := []string{"", "Ki", "Mi", "Gi", "Ti"}
	for value >= step && unit < len(units)-1 {
		value, unit = value/step, unit+1
	}
	digits := 0
	if unit > 2 && value < few*few {
		digits = 1
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + units[unit]
}

func percent(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', 0, 64) + "%"
}

func limit(e api.JobSummary) string {
	if e.MaxCost <= 0 {
		return ""
	}
	return price.Dollars(e.MaxCost)
}

// HasAccelerators reports whether a job holds accelerators.
func HasAccelerators(e api.JobSummary) bool {
	a, err := accelerator.Parse(e.Accelerator, accelerator.Options{})
	return err == nil && a.Kind != api.CPU
}

// used leaves out the columns that no row has a use for: the duty and the cost where nothing holds accelerators, and the
// limit of the cost where there is none.
func used(columns []Column, rows []Row) []Column {
	held := slices.ContainsFunc(rows, func(r Row) bool { return HasAccelerators(r.Entry) })
	limited := slices.ContainsFunc(rows, func(r Row) bool { return limit(r.Entry) != "" })
	return slices.DeleteFunc(columns, func(c Column) bool {
		return (c.Header == dutyHeader || c.Header == costHeader) && !held || c.Header == limitHeader && !limited
	})
}

// fit returns the columns that a screen of a width has room for, with their widths, and those that it has no room for. What
// no job has is in neither.
func (m *Model) fit(rows []Row, width int, now time.Time) (columns, dropped []Column) {
	columns = used(m.Columns(now), rows)
	name, most := len(jobHeader), shortID
	if width >= wide {
		most = longID
	}
	for _, r := range rows {
		name = max(name, min(len(nameOf(r)), most))
	}
	at := slices.IndexFunc(columns, func(c Column) bool { return c.Header == jobHeader })
	columns[at].width = name
	for {
		rest := width
		for _, c := range columns[:len(columns)-1] {
			rest -= c.width + gap
		}
		last := firstDropped(columns)
		if rest >= leastLine || last < 0 {
			columns[len(columns)-1].width = max(rest, 0)
			return columns, dropped
		}
		dropped = append(dropped, columns[last])
		columns = slices.Delete(columns, last, last+1)
	}
}

// firstDropped returns the column that is left out next, -1 if all others stay.
func firstDropped(columns []Column) int {
	at := -1
	for i, c := range columns {
		if c.drop > 0 && (at < 0 || c.drop < columns[at].drop) {
			at = i
		}
	}
	return at
}

// shorten cuts an ID in the middle: its end makes it unique, and is enough to name the job.
func shorten(id string, width int) string {
	end := store.ShortID(id)
	if len(id) <= width || end == id || width <= len(end) {
		return id
	}
	return id[:width-len(end)-1] + "…" + end
}
