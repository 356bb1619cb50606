package cli

import (
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// TellWaiting says what a job waits for, and what mends it. Of any other job, and of
// one that ends, it says nothing.
func TellWaiting(u *ui.UI, s api.Status) {
	if s.State != api.Pending || s.Message == "" || s.Ending {
		return
	}
	u.State(s.State, job.Outcome(s))
	if s.Next != "" {
		u.Note("  " + s.Next)
	}
}
