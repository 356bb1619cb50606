package jobs

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

func (o *cleanupOptions) printPreview(found []jobState) error {
	if err := o.listPreview(found); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.streams.ErrOut, "%s; nothing was removed\n", o.question(found))
	return err
}

// previewed is what cleanup --dry-run prints about a job with -o json.
type previewed struct {
	ID       string     `json:"id"`
	Status   api.Status `json:"status"`
	Function string     `json:"function"`
	Created  time.Time  `json:"created"`
}

func (o *cleanupOptions) listPreview(found []jobState) error {
	if !o.out.json {
		return o.table(o.streams.Out, found)
	}
	items := []any{}
	for _, s := range found {
		items = append(items, previewed{s.job.ID(), s.status, s.job.Handle.FuncName, s.created})
	}
	return o.answer(items, false)
}

func (o *cleanupOptions) table(w io.Writer, found []jobState) error {
	columns := ui.Columns("id", "status", "function", "age")
	columns[0].Short = store.ShortID
	t := ui.NewFitted(w, ui.Detect(w), true, columns...)
	for _, s := range found {
		t.Row(s.job.ID(), s.status.Word(), s.job.Handle.FuncName, ui.Age(s.created, o.clock.Now()))
	}
	return t.Flush()
}

// shownJobs is how many jobs are listed before the question, at most.
const shownJobs = 20

// confirm asks before it removes jobs that were chosen by filters, or that have not ended.
func (o *cleanupOptions) confirm(ctx context.Context, found []jobState) error {
	if o.yes || o.named && o.running(found) == 0 {
		return nil
	}
	question := o.question(found)
	if why := cli.CannotAsk(o.streams); why != "" {
		return cli.Usagef("%s; %s: confirm with -y, or use --dry-run to see which", question, why)
	}
	if err := o.show(found); err != nil {
		return err
	}
	return cli.Confirm(ctx, o.streams, question, "nothing was cleaned up")
}

// show lists the jobs that the question is about, unless there is only one, which the question names.
func (o *cleanupOptions) show(found []jobState) error {
	if len(found) == 1 {
		return nil
	}
	return showFirst(o.streams.ErrOut, found, o.table)
}

// showFirst writes the first jobs as a table, and how many more there are.
func showFirst[J any](w io.Writer, found []J, table func(io.Writer, []J) error) error {
	shown := found[:min(len(found), shownJobs)]
	if err := table(w, shown); err != nil {
		return err
	}
	if more := len(found) - len(shown); more > 0 {
		fmt.Fprintf(w, "and %s more (all with --dry-run)\n", human.Number(more))
	}
	return nil
}

// running returns how many of the jobs a cleanup would cancel.
func (o *cleanupOptions) running(found []jobState) int {
	n := 0
	for _, s := range found {
		if o.Workload && !s.status.State.Ended() {
			n++
		}
	}
	return n
}

// question says what would be done to jobs, to which of their parts, and if outputs are kept.
func (o *cleanupOptions) question(found []jobState) string {
	text := questionOf(found, o.running(found)) + " (" + strings.Join(o.going(), ", ")
	if !o.Outputs && o.Stored {
		text += "; outputs are kept"
	}
	return text + ")"
}

// going names the parts of a job that would be removed.
func (o *cleanupOptions) going() []string {
	going := []string{}
	for _, p := range []struct {
		goes bool
		name string
	}{{o.Workload, "workload"}, {o.Stored, "records"}, {o.Outputs, "outputs"}} {
		if p.goes {
			going = append(going, p.name)
		}
	}
	return going
}

// questionOf says what would be done to jobs, some of which are still running.
func questionOf(found []jobState, running int) string {
	switch {
	case len(found) == 1 && running == 1:
		return fmt.Sprintf("job %s is %s; it would be cancelled and cleaned up", found[0].job.ID(), found[0].status.State)
	case len(found) == 1:
		return fmt.Sprintf("job %s would be cleaned up", found[0].job.ID())
	case running == 0:
		return fmt.Sprintf("%s would be cleaned up", human.Count(len(found), "job"))
	default:
		return fmt.Sprintf("%s would be cleaned up, %d of them cancelled first", human.Count(len(found), "job"), running)
	}
}
