package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// Progress shows how far several resources are.
type Progress struct {
	ui    *ui.UI
	now   func() time.Time
	doing string
	Words map[infra.ID]string // instead of that of doing
	Parts map[infra.ID]int    // how many resources one counts for, if not as one
	Quiet bool                // the caller reports what is done
	total int
	bar   *ui.Progress // nil until something is under way

	mu    sync.Mutex
	done  int
	state map[infra.ID]string
	begun map[infra.ID]time.Time
	order []infra.ID // of those that are under way
}

// NewProgress returns the progress of total resources. doing is creating or deleting.
func NewProgress(u *ui.UI, now func() time.Time, doing string, total int) *Progress {
	return &Progress{ui: u, now: now, doing: doing, total: total,
		state: map[infra.ID]string{}, begun: map[infra.ID]time.Time{}}
}

// Update is told what happens to the resources.
func (b *Progress) Update(e infra.Event) {
	// pastTense is what is said of a resource when its change is done.
	pastTense := map[string]string{"creating": "created", "deleting": "deleted"}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !e.Done {
		b.order, b.state[e.ID], b.begun[e.ID] = append(b.order, e.ID), "", b.now()
		b.draw()
		return
	}
	delete(b.state, e.ID)
	if e.Err == nil {
		b.done += max(1, b.Parts[e.ID])
		if !b.Quiet {
			b.ui.PhaseFrom(b.begun[e.ID], cmp.Or(b.Words[e.ID], pastTense[b.doing]), e.ID.String())
		}
	}
	b.draw()
}

// Show shows how far an operation is.
func (b *Progress) Show(id infra.ID, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state[id] = text
	b.draw()
}

// draw names what is under way. The caller holds the lock.
func (b *Progress) draw() {
	var parts []string
	for _, id := range b.order {
		if text, under := b.state[id]; under {
			parts = append(parts, strings.TrimSuffix(id.String()+" ("+text+")", " ()"))
		}
	}
	text := strings.TrimSuffix(fmt.Sprintf("%d of %d done: %s", b.done, b.total, strings.Join(parts, ", ")), ": ")
	if b.bar == nil {
		b.bar = b.ui.ProgressCount(b.doing, b.done, b.total, text)
		return
	}
	b.bar.Count(b.done, b.total, text)
}

// End removes what is shown.
func (b *Progress) End() {
	if b.bar != nil {
		b.bar.Done()
	}
}

// Interrupted returns the error for a command that was interrupted, err itself for other errors. how says how to
// go on, and next is the command for that, "" for the same one.
func Interrupted(ctx context.Context, err error, how, next string) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	text := "interrupted: operations already started in Google Cloud continue; " + how
	if unfinished, ok := errors.AsType[*gcp.UnfinishedError](err); ok {
		next = cmp.Or(next, unfinished.Operation.Command)
		text += ", or look with: " + unfinished.Operation.Command
	}
	return &cli.Error{Code: cli.ExitInterrupted, Kind: api.KindInterrupted, Next: next, Err: errors.New(text)}
}
