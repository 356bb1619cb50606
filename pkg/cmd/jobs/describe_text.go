package jobs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// addRow adds a row to a group of rows, unless it has no text. Without a key, it continues the one before.
type addRow func(key, format string, args ...any)

// sheet is rows in groups, aligned across all of them.
type sheet struct{ groups [][][2]string }

// group begins a group, whose rows the function adds. An empty one is not printed.
func (s *sheet) group(fill func(addRow)) {
	var rows [][2]string
	fill(func(key, format string, args ...any) {
		text := ui.Clean(fmt.Sprintf(format, args...))
		if text == "" {
			return
		}
		if key != "" {
			key += ":"
		}
		rows = append(rows, [2]string{key, text})
	})
	if len(rows) > 0 {
		s.groups = append(s.groups, rows)
	}
}

// write writes the groups, with an empty line above each.
func (s *sheet) write(w io.Writer) error {
	widest := 0
	for _, row := range slices.Concat(s.groups...) {
		widest = max(widest, utf8.RuneCountInString(row[0]))
	}
	var b strings.Builder
	for _, rows := range s.groups {
		b.WriteByte('\n')
		for _, row := range rows {
			fmt.Fprintf(&b, "%-*s   %s\n", widest, row[0], row[1])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describeText prints how a job stands on one line, then what it is in groups, what happened, and the traceback. wide
// also prints what is rarely looked for.
func (c *command) describeText(j *job.Job, d job.Description, costs price.Meter, wide bool) error {
	out := c.streams.Out
	if _, err := fmt.Fprintln(out, ui.Wrapped(out, headline(ui.Detect(out), d, c.clock.Now()))); err != nil {
		return err
	}
	var s sheet
	s.group(func(row addRow) { row("Next", "%s", d.Status.Next) })
	s.group(func(row addRow) { describeCall(row, d) })
	s.group(func(row addRow) { describePlace(row, d, costs) })
	s.group(func(row addRow) { describeImage(row, d, wide) })
	s.group(func(row addRow) { describeStored(out, row, j, d) })
	if d.Handle.Hosts > 1 {
		s.group(func(row addRow) { row("Hosts", "%s", hostCount(d.Handle, d.Hosts)) })
	}
	if err := s.write(out); err != nil {
		return err
	}
	if d.Handle.Hosts > 1 {
		if err := printHosts(out, d.Hosts); err != nil {
			return err
		}
	}
	if err := printParts(out, d.Parts); err != nil {
		return err
	}
	if err := printTimeline(out, d); err != nil {
		return err
	}
	if width := ui.Detect(out).Width(); width > 0 { // a picture, for people only
		if bar := lifeBar(d, c.clock.Now(), min(width-16, 60)); bar != "" {
			fmt.Fprintf(out, "\n  %s\n", bar)
		}
	}
	return printError(out, d.Error)
}

// headline returns the first line of a description: the ID, the state in its colour, for how long, and why.
func headline(style ui.Style, d job.Description, now time.Time) string {
	text := ui.Clean(describeState(d))
	word := d.Status.Word()
	rest := strings.TrimPrefix(text, word)
	switch s := d.Status; {
	case s.Started.IsZero():
	case !s.Finished.IsZero():
		rest = " after " + ui.Took(s.Finished.Sub(s.Started)) + rest
	case s.State == api.Running:
		rest = " for " + ui.Took(now.Sub(s.Started)) + rest
	}
	return d.Handle.JobID + " " + style.InColor(api.State(word), word) + rest
}

// describeCall prints what is called with what, who submitted it, and from which commit.
func describeCall(row addRow, d job.Description) {
	h := d.Handle
	row("Function", "%s", function(h))
	row("Call", "%s", h.Call)
	if h.Payload != nil {
		row("Payload", "%s", report.PayloadText(*h.Payload))
	}
	if h.Map != nil {
		row("Inputs", "%s", inputs(*h.Map, d.Inputs))
	}
	for _, d := range h.Data {
		row("Data", "%s", report.DataText(d))
	}
	row("Environment", "%s", strings.Join(slices.Concat(h.Env, h.SecretEnv), ", "))
	if len(d.Labels) > 0 {
		row("Labels", "%s", labels.FormatLabels(d.Labels))
	}
	row("Submitted by", "%s", h.User)
	if h.Commit != "" {
		row("Commit", "%s", commit(h.Origin))
	}
}

// describePlace prints where a job runs, with what, and what that costs, as far as it is known.
func describePlace(row addRow, d job.Description, costs price.Meter) {
	row("Runs on", "%s", runsOn(d.Handle))
	row("Warm host", "%s", d.Handle.Host)
	if d.Handle.Host == "" { // else the workload has calls of its own
		row("Workload", "%s", describeWorkload(d))
	}
	if d.Handle.Hosts <= 1 {
		row("Node", "%s", nodes(d.Hosts))
	}
	if d.Handle.Hosts <= 1 && len(d.Hosts) == 1 {
		row("Pod", "%s", d.Hosts[0].Pod)
	}
	if d.CPU != "" || d.Memory != "" {
		row("Requests", "cpu %s, memory %s", cmp.Or(d.CPU, "none"), cmp.Or(d.Memory, "none"))
	}
	if d.MaxAttempts > 0 {
		row("Attempts", "at most %d, not counting lost machines", d.MaxAttempts)
	}
	if h := d.Handle; h.MaxCost > 0 {
		row("Cost limit", "%s", report.CostLimit(h.MaxCost, time.Duration(h.Budget)*time.Second))
	}
	if used := costs.OfHistory(d.Handle, d.Status, d.Attempts, d.Disruptions); used != nil {
		row("Cost", "%s", used.Text())
	}
}

func describeStored(out io.Writer, row addRow, j *job.Job, d job.Description) {
	h := d.Handle
	row("Store", "%s/%s", j.Store.URL(), h.JobID)
	if !h.ByPythonTool() {
		row("Log", "%s", logSize(d))
	}
	row("Outputs", "%s", outputText(h, d))
	switch {
	case d.Inputs != nil && d.Inputs.Done > 0, d.HasResult:
		row("Result", "%s", report.Hint(out, h.JobID, "kubectl kinetic jobs result "+h.JobID+j.LocationFlags()))
	case d.Pickle != "":
		row("Result", "%s, a pickle of keras-kinetic", d.Pickle)
	}
	for _, warning := range d.Warnings {
		row("Warning", "%s", warning)
	}
}

// printTimeline prints what happened, by the local time, with how long that was after the beginning. Why the job failed
// is in the first line of all already.
func printTimeline(out io.Writer, d job.Description) error {
	fmt.Fprintln(out, "\nTimeline:")
	w := printers.GetNewTabWriter(out)
	day := ""
	for i, e := range d.Timeline {
		since := ""
		if i > 0 {
			since = "+" + ui.Took(e.Time.Sub(d.Timeline[0].Time))
		}
		at := e.Time.Local()
		date := at.Format(time.DateOnly)
		if date == day {
			date = strings.Repeat(" ", len(date))
		} else {
			day = date
		}
		what := e.What
		if what == "failed: "+d.Status.Message { // the headline has it
			what = "failed"
		}
		fmt.Fprintf(w, "  %s %s\t%s\t%s\n", date, at.Format(time.TimeOnly), since, ui.Clean(what))
	}
	return w.Flush()
}

func printError(out io.Writer, e *api.ResultError) error {
	if e == nil || strings.TrimSpace(e.Traceback) == "" {
		return nil
	}
	text := strings.TrimRight(ui.Clean(e.Traceback), "\n")
	_, err := fmt.Fprintf(out, "\nError:\n  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	return err
}
