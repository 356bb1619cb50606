package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Teller says how one job stands while someone waits for it. A job goes through many
// states that read alike, so what was just said is not said again.
type Teller struct {
	ui      *ui.UI
	said    reason
	attempt int // the last that was told to run
}

// reason is what was said of a state of an attempt.
type reason struct {
	text    string
	attempt int
}

// isOf reports whether two reasons are the same. Numbers alone make no other one of an
// attempt: nodes come and go, and are counted.
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

// NewTeller says on u.
func NewTeller(u *ui.UI) *Teller { return &Teller{ui: u} }

// Waiting says what the job waits for, and what fixes it. Of any other job it says nothing.
func (t *Teller) Waiting(s api.Status) {
	if s.State == api.Pending && s.Message != "" {
		t.state(s, s.Outcome())
	}
}

// Running says that the job runs, once for each attempt, or what the part of it lacks
// that doesn't. Of any other job it says nothing.
func (t *Teller) Running(s api.Status) {
	attempt := max(s.Attempt, 1)
	switch {
	case s.State != api.Running:
	case s.Message != "":
		t.state(s, s.Message)
	case attempt != t.attempt:
		t.attempt, t.said = attempt, reason{}
		t.ui.Phase("running", fmt.Sprintf("attempt %d", attempt))
	}
}

func (t *Teller) state(s api.Status, detail string) {
	said := reason{string(s.State) + detail + s.Next, s.Attempt}
	if said.isOf(t.said) {
		return
	}
	t.said = said
	t.ui.State(s.State, detail)
	if s.Next != "" && s.State == api.Pending {
		t.ui.Note("  " + s.Next)
	}
}
