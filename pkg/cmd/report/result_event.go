package report

import (
	"context"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// SendEnd sends how a job has ended, if w takes events. head is what the store has of the result, zero
// for a job without one; pickle is where the result was written, nil if it wasn't.
func SendEnd(w io.Writer, j *job.Job, s api.Status, head api.Result, pickle *event.Pickle) {
	events := event.Of(w)
	if events == nil {
		return
	}
	e := event.Result{Job: j.ID(), State: s.State, Reason: s.Reason, OK: head.OK, Error: head.Error,
		Host: head.Host, Attempt: max(head.Attempt, s.Attempt, 1), Warnings: append([]string{}, head.Warnings...), Pickle: pickle}
	_ = events.Send(e) // the command ends anyway
}

// sendEnd is SendEnd for a result that was not read yet.
func sendEnd(ctx context.Context, w io.Writer, j *job.Job, s api.Status, pickle *event.Pickle) {
	if event.Of(w) == nil {
		return
	}
	head, err := j.ResultHead(ctx)
	if err != nil { // a map has none, nor has a job that never got that far
		p, err := j.Progress(ctx)
		head = api.Result{OK: s.State == api.Succeeded && (err != nil || p == nil || p.Failed == 0)}
	}
	SendEnd(w, j, s, head, pickle)
}
