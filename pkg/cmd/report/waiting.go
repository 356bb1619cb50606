package report

import (
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

// StatusPrinter shows the state of one job while someone waits for it. Many states of a job read
// alike, so it doesn't repeat what it just said.
type StatusPrinter struct {
	ui      *ui.UI
	id      string
	said    reason
	attempt int // the last one shown as running

	hold time.Duration // before a pull is told
	mu   sync.Mutex    // for what follows, and while something is told
	held *time.Timer   // tells of a pull later, nil if nothing is held back
}

// NewStatusPrinter returns a StatusPrinter for a job that writes to u. It tells of an image that is pulled once that takes longer
// than hold: short pulls are usual, and there is nothing to do.
func NewStatusPrinter(u *ui.UI, id string, hold time.Duration) *StatusPrinter {
	return &StatusPrinter{ui: u, id: id, hold: hold}
}

// reason is what was said about a state of an attempt.
type reason struct {
	text    string
	attempt int
}

// isOf reports whether two reasons are the same. Within one attempt, numbers don't matter:
// they count nodes, which come and go.
func (r reason) isOf(other reason) bool {
	return r.text == other.text || r.attempt == other.attempt && withoutDigits(r.text) == withoutDigits(other.text)
}

func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// Waiting says what a pending job waits for, and what fixes that. It says nothing about
// other jobs.
func (t *StatusPrinter) Waiting(s api.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waits := s.State == api.Pending && s.Message != ""
	if waits && t.hold > 0 && strings.Contains(s.Message, api.PullingImage) {
		t.later(s)
		return
	}
	if t.held != nil {
		t.held.Stop()
		t.held = nil
	}
	if waits {
		t.state(s, s.Outcome())
	}
}

// later tells of a pull, unless something else is told before. The caller holds the lock.
func (t *StatusPrinter) later(s api.Status) {
	if t.held != nil {
		return // of this pull
	}
	var mine *time.Timer
	mine = time.AfterFunc(t.hold, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.held == mine {
			t.held = nil
			t.state(s, s.Outcome())
		}
	})
	t.held = mine
}

// Running says once for each attempt that the job runs, or what some of its pods are
// waiting for. It says nothing about jobs in other states.
func (t *StatusPrinter) Running(s api.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	attempt := max(s.Attempt, 1)
	switch {
	case s.State != api.Running:
	case s.Message != "":
		t.state(s, s.Message)
	case attempt != t.attempt:
		t.attempt, t.said = attempt, reason{}
		t.ui.Running(t.id, attempt)
	}
}

func (t *StatusPrinter) state(s api.Status, detail string) {
	said := reason{string(s.State) + detail + s.Next, s.Attempt}
	if said.isOf(t.said) {
		return
	}
	t.said = said
	t.ui.State(t.id, s, detail)
	if s.Next != "" && s.State == api.Pending {
		t.ui.Note("  " + s.Next)
	}
}
