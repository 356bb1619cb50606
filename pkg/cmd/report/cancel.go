package report

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// patience is longer than a job takes to end that has nothing to save.
const patience = 5 * time.Second

// Cancel cancels a job, and says on w if it takes long to end. It returns the status that the job had.
func Cancel(ctx context.Context, w io.Writer, now time.Time, j *job.Job) (was api.Status, err error) {
	line := fmt.Sprintf("job %s is still ending: it has %s to save its outputs", j.ID(), ui.Took(job.DefaultGrace))
	slowly(w, patience, line, func() { was, err = j.Cancel(ctx, job.DefaultGrace, now, api.CancelledMessage) })
	return was, err
}

// slowly calls do. It writes a line if that takes longer than patience.
func slowly(w io.Writer, patience time.Duration, line string, do func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(patience, func() {
		defer close(said)
		fmt.Fprintln(w, line)
	})
	do()
	if !timer.Stop() {
		<-said
	}
}
