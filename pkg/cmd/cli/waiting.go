package cli

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// Teller says how one job stands while somebody waits for it. A job goes through many
// states that read alike, so what was just said is not said again.
type Teller struct {
	ui      *ui.UI
	said    string
	attempt int // the last that was told to run
}

// NewTeller tells on u.
func NewTeller(u *ui.UI) *Teller { return &Teller{ui: u} }

// Waiting says what the job waits for, and what mends it. Of any other job, and of one
// that ends, it says nothing.
func (t *Teller) Waiting(s api.Status) {
	if s.State == api.Pending && s.Message != "" && !s.Ending {
		t.state(s, job.Outcome(s))
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
		t.attempt, t.said = attempt, ""
		t.ui.Phase("running", fmt.Sprintf("attempt %d", attempt))
	}
}

func (t *Teller) state(s api.Status, detail string) {
	said := string(s.State) + detail + s.Next
	if said == t.said {
		return
	}
	t.said = said
	t.ui.State(s.State, detail)
	if s.Next != "" && s.State == api.Pending {
		t.ui.Note("  " + s.Next)
	}
}
