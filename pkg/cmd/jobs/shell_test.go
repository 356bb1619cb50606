package jobs

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// The end of a shell says what has become of its job.
func TestAShellEndsWithItsContainer(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		now  api.Status
		want string
	}{
		"the job has ended":    {api.Status{State: api.Succeeded}, "the shell has ended with job a1, which ended SUCCEEDED"},
		"it is cancelled":      {api.Status{State: api.Running, Message: "ending: saving outputs and logs"}, "the shell has ended with its container; job a1 is RUNNING, ending: saving outputs and logs"},
		"another attempt runs": {api.Status{State: api.Running}, "the shell has ended with its container; if job a1 starts again, open a new one with kubectl kinetic jobs shell a1 -n ml"},
		"it starts again":      {api.Status{State: api.Pending, Message: "retry 1 of 1 follows"}, "the shell has ended with its container; if job a1 starts again, "},
	} {
		j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml"}, Store: s, Backend: jobtest.Backend{State: tt.now.State, Message: tt.now.Message}}
		err := (&remoteShell{job: j}).endedWith(t.Context(), 137)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || cli.CodeOf(err) != 137 {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}
