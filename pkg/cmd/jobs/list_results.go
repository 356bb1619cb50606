package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// resultsFormat is the value of --output for a table that compares jobs.
const resultsFormat = "results"

// results prints what jobs were called with and what they returned. Values are printed as they are read, some at a time.
func (o *listOptions) results(ctx context.Context, entries []api.JobSummary) error {
	columns := []column{
		{ui.Column{Header: "id", Short: store.ShortID}, func(e api.JobSummary) string { return e.ID }},
		{ui.Column{Header: "args", Text: true}, func(e api.JobSummary) string { return argumentText(e.Call) }},
		{ui.Column{Header: "state"}, api.JobSummary.Word}, o.duration(),
	}
	columns = append(columns, o.labelColumns()...)
	value := column{ui.Column{Header: "value", Text: true}, nil}
	return o.registry.Values(ctx, entries, func(some []api.JobSummary, values []job.Value) error {
		if o.table == nil {
			o.begin(append(columns, value))
			o.shown = columns
		}
		for i, e := range some {
			o.row(e, valueCell(e, values[i]))
		}
		return o.table.Flush()
	})
}

// valueCell returns what a job returned, or why it failed, on one line; "" if there is nothing to say.
func valueCell(e api.JobSummary, v job.Value) string {
	switch {
	case e.Word() == string(api.Failed):
		text, _, _ := strings.Cut(strings.TrimPrefix(e.Status.Outcome(), "failed: "), "\n")
		return text
	case v.Err != nil:
		return "unknown: " + v.Err.Error()
	case v.Inputs != nil:
		return report.MapProgress(*v.Inputs)
	case v.Size > 0:
		return human.Bytes(v.Size)
	case v.JSON == nil && e.Word() == string(api.Succeeded) && !e.Workload.ByPythonTool:
		return "deleted" // as a value that Python has collected
	}
	var compact bytes.Buffer
	if json.Compact(&compact, v.JSON) != nil { // there is none
		return ""
	}
	return compact.String()
}
