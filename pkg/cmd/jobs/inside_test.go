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

func TestACommandInsideNeedsARunningJob(t *testing.T) {
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[api.State]string{
		api.Running:   "",
		api.Pending:   "job a1 has not started, so there is no call yet; wait for it with kubectl kinetic jobs logs -f a1 -n ml",
		api.Succeeded: "job a1 ended SUCCEEDED, so there is no call; its log: kubectl kinetic jobs logs a1 -n ml",
		api.Failed:    "job a1 ended FAILED, so there is no call; its log: ",
		api.NotFound:  "job a1 has no workload any more, so there is no call; its log: ",
	} {
		j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml"}, Store: s, Backend: jobtest.Backend{State: state}}
		err := mustRun(t.Context(), j, "call")
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), want) || cli.CodeOf(err) != cli.ExitFailed) {
			t.Errorf("%s: got %v, want %s", state, err, want)
		}
	}
}

func TestHostOfACommandInside(t *testing.T) {
	aMap := &api.Map{Inputs: 10, Chunk: 4}
	for name, tt := range map[string]struct {
		handle      api.Handle
		host, index int
		want        int
		err         string // "" for none
	}{
		"one host":         {api.Handle{}, 0, noIndex, 0, ""},
		"the last of four": {api.Handle{Hosts: 4}, 3, noIndex, 3, ""},
		"a fifth of four":  {api.Handle{Hosts: 4}, 4, noIndex, 0, "--host 4: job a1 has 4 hosts, numbered from 0"},
		"no map":           {api.Handle{}, 0, 2, 0, "--index 2: job a1 is not a map"},
		"an input":         {api.Handle{Map: aMap}, 0, 5, 1, ""},
		"no input":         {api.Handle{Map: aMap}, 0, 10, 0, "--index 10: job a1 has 10 inputs"},
		"a map":            {api.Handle{Map: aMap}, 0, noIndex, 0, "job a1 is a map: name an input with --index"},
		"a host of a map":  {api.Handle{Map: aMap}, 1, noIndex, 0, "--host 1: job a1 is a map, whose pods have no numbers"},
		"a map here":       {api.Handle{Map: aMap, Backend: api.BackendLocal}, 0, noIndex, 0, ""},
		"a TPU host":       {api.Handle{Hosts: 4, Pathways: &api.Pathways{}}, 1, noIndex, 0, "--host 1: with the Pathways runtime, job a1 runs its call on host 0 alone"},
		"keras-kinetic's":  {api.Handle{BucketName: "b"}, 0, noIndex, 0, "job a1 was submitted by keras-kinetic: use kubectl with its pod"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.handle.JobID = "a1"
			got, err := hostFlags{tt.host, tt.index}.of(&job.Job{Handle: tt.handle})
			if tt.err == "" && (got != tt.want || err != nil) {
				t.Errorf("got %d, %v, want %d", got, err, tt.want)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || cli.CodeOf(err) != cli.ExitUsage) {
				t.Errorf("got %v, want %s", err, tt.err)
			}
		})
	}
}
