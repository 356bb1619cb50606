package report

import (
	"strings"
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

// NewStatusPrinter returns a StatusPrinter for a job that writes to u.
func NewStatusPrinter(u *ui.UI, id string) *StatusPrinter { return &StatusPrinter{ui: u, id: id} }

// Waiting says what a pending job waits for, and what fixes that. It says nothing about
// other jobs.
func (t *StatusPrinter) Waiting(s api.Status) {
	if s.State == api.Pending && s.Message != "" {
		t.state(s, s.Outcome())
	}
}

// Running says once for each attempt that the job runs, or what some of its pods are
// waiting for. It says nothing about jobs in other states.
func (t *StatusPrinter) Running(s api.Status) {
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
