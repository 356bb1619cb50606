package up

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

// past is what is said of a resource when its change is done.
var past = map[string]string{"creating": "created", "deleting": "deleted"}

// words returns what is said of those resources that exist when their change is done.
func words(plan infra.Plan) map[infra.ID]string {
	all := map[infra.ID]string{}
	for _, s := range plan {
		switch s.Action {
		case infra.Change:
			all[s.ID] = "changed"
		case infra.Complete:
			all[s.ID] = "completed"
		}
	}
	return all
}

// board shows how far several resources are.
type board struct {
	ui    *ui.UI
	now   func() time.Time
	doing string
	words map[infra.ID]string // instead of that of doing
	parts map[infra.ID]int    // how many resources one counts for, if not as one
	total int
	bar   *ui.Progress // nil until something is under way

	mu    sync.Mutex
	done  int
	state map[infra.ID]string
	begun map[infra.ID]time.Time
	order []infra.ID // of those that are under way
}

func newBoard(u *ui.UI, now func() time.Time, doing string, total int) *board {
	return &board{ui: u, now: now, doing: doing, total: total,
		state: map[infra.ID]string{}, begun: map[infra.ID]time.Time{}}
}

// told is told what happens to the resources.
func (b *board) told(e infra.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !e.Done {
		b.order, b.state[e.ID], b.begun[e.ID] = append(b.order, e.ID), "", b.now()
		b.draw()
		return
	}
	delete(b.state, e.ID)
	if e.Err == nil {
		b.done += max(1, b.parts[e.ID])
		b.ui.PhaseFrom(b.begun[e.ID], cmp.Or(b.words[e.ID], past[b.doing]), e.ID.String())
	}
	b.draw()
}

// show shows how far an operation is.
func (b *board) show(id infra.ID, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state[id] = text
	b.draw()
}

// draw names what is under way. The caller holds the lock.
func (b *board) draw() {
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

func (b *board) end() {
	if b.bar != nil {
		b.bar.Done()
	}
}

// interrupted returns the error for a command that was interrupted, err itself for other errors. again is
// the command that continues, "" for the same one.
func interrupted(ctx context.Context, err error, again string) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	text := "interrupted: what Google Cloud has begun continues; "
	if again == "" {
		text += "repeat the command to continue"
	} else {
		text += "continue with: " + again
	}
	var unfinished *gcp.UnfinishedError
	if errors.As(err, &unfinished) {
		again = cmp.Or(again, unfinished.Operation.Command)
		text += ", or look with: " + unfinished.Operation.Command
	}
	return &cli.Error{Code: cli.ExitInterrupted, Kind: api.KindInterrupted, Next: again, Err: errors.New(text)}
}
