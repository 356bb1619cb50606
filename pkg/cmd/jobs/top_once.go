package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/top"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// askedOnce is how many rows of running jobs are asked for what they use and print, if the list is printed once: as many as a
// screen shows.
const askedOnce = 25

// lookAgain is how long to wait when no more questions may be asked at the moment.
const lookAgain = 50 * time.Millisecond

func (o *topOptions) printOnce(ctx context.Context) error {
	entries, unread := o.source.registry.Entries(ctx, o.filter, api.ListReasons)
	if len(entries) == 0 && unread != nil {
		return unread
	}
	o.model.Put(entries, o.now())
	if o.source.cluster != nil && len(entries) > 0 {
		o.source.takeUses(o.model, o.source.uses(ctx))
	}
	o.askOnce(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	rows := o.model.Rows(o.now())
	print := o.printRows
	if o.json {
		print = o.printItems
	}
	err := print(rows)
	if o.model.Notice != "" {
		fmt.Fprintln(o.streams.ErrOut, o.model.Notice)
	}
	return errors.Join(err, unread)
}

// askOnce asks the first rows, each once.
func (o *topOptions) askOnce(ctx context.Context) {
	rows := o.model.Rows(o.now())
	running := rows[:0:0]
	for _, r := range rows {
		if r.Entry.State == api.Running && len(running) < askedOnce {
			running = append(running, r)
		}
	}
	asker := top.NewAsker(o.source.wants)
	asker.Once = true
	for ctx.Err() == nil && !asker.Done(running, time.Now()) {
		if next, found := asker.Next(running, time.Now()); found {
			o.source.ask(ctx, next)
			continue
		}
		select {
		case a := <-o.source.answers:
			asker.Answered(a.Ask)
			o.source.take(o.model, a)
		case <-time.After(lookAgain):
		case <-ctx.Done():
		}
	}
}

func (o *topOptions) printRows(rows []top.Row) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(o.streams.ErrOut, o.model.Empty)
		return err
	}
	columns := o.model.Columns(o.now())
	shown := make([]ui.Column, len(columns))
	for i, c := range columns {
		shown[i] = ui.Column{Header: c.Header, Varies: i > 1}
	}
	shown[0].Short = store.ShortID
	shown[len(shown)-1].Text = true
	table := ui.NewFitted(o.streams.Out, o.style, true, shown...)
	for _, r := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = top.OneLine(c.Cell(r))
		}
		table.Highlight(o.style, r.Entry.State)
		table.Row(cells...)
	}
	return table.Flush()
}

type topItem struct {
	price.Entry
	Phase    string `json:"phase,omitempty"`
	LastLine string `json:"lastLine,omitempty"`
	// Use is what it uses, as far as that is known.
	Use api.Use `json:"use,omitzero"`
	// PerHost are the hosts that have a pod, of a job with several.
	PerHost []topHost `json:"perHost,omitempty"`
}

type topHost struct {
	api.Host
	Phase    string `json:"phase,omitempty"`
	LastLine string `json:"lastLine,omitempty"`
	// Use is what it uses, as far as that is known.
	Use api.Use `json:"use,omitzero"`
}

func (o *topOptions) printItems(rows []top.Row) error {
	meter := o.model.Meter
	meter.Now = o.now()
	items := []topItem{}
	for _, r := range rows {
		if r.Host == top.WholeJob {
			items = append(items, topItem{Entry: price.Entry{JobSummary: r.Entry, Cost: meter.OfSummary(r.Entry)}, Phase: job.PhaseOfJob(r.Entry), LastLine: r.Line, Use: r.Use})
			continue
		}
		last := &items[len(items)-1] // its job
		last.PerHost = append(last.PerHost, topHost{r.Pod, job.PhaseOf(r.Pod), r.Line, r.Use})
	}
	return cli.Write(o.streams.Out, cli.JSON, map[string]any{"items": items})
}
