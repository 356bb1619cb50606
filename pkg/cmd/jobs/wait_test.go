package jobs

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// A wait that times out also prints the errors of jobs that can't be found.
func TestWaitThatTimesOutPrintsErrors(t *testing.T) {
	useSweep(t)
	code, out, said := kinetic(t, "wait", "cpu-a-1", "cpu-c-3", "--timeout", "300ms")
	const want = "job cpu-a-1 is still running\nerror: job \"cpu-c-3\" not found"
	if code != cli.ExitTimeout || out != "" || len(said) < len(want) || said[:len(want)] != want {
		t.Errorf("exit code %d, printed %q, said %q; want %q", code, out, said, want)
	}
}

// However many jobs are running, wait reports the one that has ended, and does not report it as
// running.
func TestWaitWatchesAllJobs(t *testing.T) {
	const running = 300
	st, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*job.Job
	for i := range running + 1 {
		b := jobtest.Backend{State: api.Running}
		if i == running {
			b.State = api.Succeeded
		}
		jobs = append(jobs, &job.Job{Handle: api.Handle{JobID: fmt.Sprintf("cpu-a-%d", i)}, Store: st, Backend: b})
	}
	synctest.Test(t, func(t *testing.T) {
		streams, _, out, said := genericiooptions.NewTestIOStreams()
		waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := (&waitOptions{command: &command{streams: streams}}).waitForAll(t.Context(), waiting, jobs, nil)
		if code := cli.CodeOf(err); code != cli.ExitTimeout {
			t.Errorf("exit code %d: %v", code, err)
		}
		if got, want := out.String(), fmt.Sprintf("cpu-a-%d SUCCEEDED\n", running); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		if n := strings.Count(said.String(), "is still running\n"); n != running {
			t.Errorf("%d jobs are said to run, want %d", n, running)
		}
	})
}
