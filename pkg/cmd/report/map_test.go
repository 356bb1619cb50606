package report

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// A user who leaves a map hears how to come back to its values.
func TestInterruptedMap(t *testing.T) {
	for want, m := range map[string]*api.Map{"jobs logs -f a1 -n ml\n": nil, "jobs result a1 -n ml\n": {Inputs: 2, Chunk: 1}} {
		var said bytes.Buffer
		j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Map: m}}
		if code := cli.CodeOf(Interrupted(&said, j, "", context.Canceled)); code != cli.ExitInterrupted || !strings.Contains(said.String(), want) {
			t.Errorf("exit code %d, said %q; want %q in it", code, said.String(), want)
		}
	}
}

// A program that stops waiting has no second line: its message says how to cancel the job, and how the job was.
func TestInterruptedProgram(t *testing.T) {
	j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml"}}
	const cancel = "; to cancel it: kubectl kinetic jobs cancel a1 -n ml"
	for state, want := range map[api.State]string{
		"":            "interrupted; job a1 is still running" + cancel,
		api.Running:   "interrupted; job a1 is still running" + cancel,
		api.Pending:   "interrupted; job a1 is still waiting" + cancel,
		api.Succeeded: "interrupted; job a1 has ended",
	} {
		if err := Interrupted(io.Discard, j, state, context.Canceled); err.Error() != want {
			t.Errorf("%s: got %q, want %q", state, err, want)
		}
	}
}

// What ends the watching does not end the job: the user hears how to follow and how to cancel it.
func TestStoppedWatching(t *testing.T) {
	var said bytes.Buffer
	j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml"}}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	want := "stopped watching job a1, which may still be running\nfollow: kubectl kinetic jobs logs -f a1 -n ml\ncancel: kubectl kinetic jobs cancel a1 -n ml\n"
	if err := Interrupted(&said, j, "", forbidden); !apierrors.IsForbidden(err) || said.String() != want {
		t.Errorf("%v, said %q, want %q", err, said.String(), want)
	}
}

// A timeout may pass while the values of a map that has ended are read.
func TestInterruptedMapThatHasEnded(t *testing.T) {
	var said bytes.Buffer
	j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Map: &api.Map{Inputs: 2, Chunk: 1}}}
	err := Interrupted(&said, j, api.Succeeded, context.DeadlineExceeded)
	want := "timed out waiting; job a1 has ended\nread on: kubectl kinetic jobs result a1 -n ml\n"
	if cli.CodeOf(err) != cli.ExitTimeout || said.String() != want {
		t.Errorf("%v, said %q, want %q", err, said.String(), want)
	}
}

// Where the reader of a map goes away, it stays or continues, and its values with it.
func TestUnreadMap(t *testing.T) {
	for state, want := range map[api.State]string{
		api.Running:   "output closed; job a1 is still running: kubectl kinetic jobs result a1 -n ml\n",
		api.Succeeded: "output closed; job a1 keeps its values: kubectl kinetic jobs result a1 -n ml\n",
	} {
		kept, err := store.OpenFile("file://" + t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Map: &api.Map{Inputs: 1, Chunk: 1}}, Store: kept, Backend: jobtest.Backend{State: state}}
		if err := kept.Create(t.Context(), store.ResultOf("a1", 0), strings.NewReader(`{"version":1,"ok":true,"value":1}`), nil); err != nil {
			t.Fatal(err)
		}
		streams, _, _, said := genericiooptions.NewTestIOStreams()
		streams.Out = writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
		err = CollectMap(t.Context(), t.Context(), streams, ui.New(streams.ErrOut, time.Now), j, Collection{Cleanup: RemoveWorkload})
		if !errors.Is(err, syscall.EPIPE) || said.String() != want {
			t.Errorf("%s: %v, said %q, want %q", state, err, said.String(), want)
		}
		if _, err := j.Results().Read(t.Context(), 0); err != nil {
			t.Error(err)
		}
	}
}

// Where no one can tell whether a job has ended, it isn't said to continue.
func TestUnreadOfAJobThatCannotBeSeen(t *testing.T) {
	var said bytes.Buffer
	j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml"}, Store: store.None(errors.New("none")), Backend: jobtest.Backend{Unseen: errors.New("connection refused")}}
	err := Unread(t.Context(), &said, j, syscall.EPIPE)
	const want = "output closed; job a1 may still be running: kubectl kinetic jobs logs -f a1 -n ml\n"
	if !errors.Is(err, syscall.EPIPE) || said.String() != want {
		t.Errorf("%v, said %q, want %q", err, said.String(), want)
	}
}

// interrupting is a store at which someone loses patience.
type interrupting struct {
	store.Store
	interrupt func()
}

func (s interrupting) Delete(ctx context.Context, _ string) error {
	s.interrupt()
	return ctx.Err()
}

// A user who interrupts the removal of a map that was collected hears what removes the rest.
func TestInterruptedRelease(t *testing.T) {
	kept, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Map: &api.Map{Inputs: 1, Chunk: 1}}, Store: interrupting{kept, cancel}, Backend: jobtest.Backend{}}
	streams, _, _, said := genericiooptions.NewTestIOStreams()
	err = SettleMap(ctx, streams, ui.New(streams.ErrOut, time.Now), j, MapEnd{Status: api.Status{State: api.Succeeded}}, DeleteResult)
	const want = "interrupted; job a1 was collected; delete what is left with kubectl kinetic jobs cleanup a1 -n ml\n"
	if cli.CodeOf(err) != cli.ExitInterrupted || said.String() != want {
		t.Errorf("exit code %d, said %q, want %q", cli.CodeOf(err), said.String(), want)
	}
}

func TestTellFailures(t *testing.T) {
	succeeded, cancelled := api.Status{State: api.Succeeded}, api.Status{State: api.Failed, Reason: api.Cancelled, Message: "cancelled"}
	bad := func(input int, message string) records.FailedInput {
		return records.FailedInput{Input: input, Error: api.ResultError{Type: "ValueError", Message: message}}
	}
	const resume = "next: repeat the run with --map-resume a1, which computes only what is missing\n"
	for name, tt := range map[string]struct {
		kind    api.CallKind
		status  api.Status
		outcome records.MapOutcome
		want    string
	}{
		"of a pickled call": {api.CallPickle, cancelled, records.MapOutcome{Missing: []int{20}},
			"job a1 was cancelled\n1 of 2,000 inputs have no result (first: 20); values computed so far are kept\n" +
				"next: map the inputs without a value again; kinetic.attach_batch('a1', namespace='ml').failures() returns their numbers\n"},
		"both kinds": {"", cancelled, records.MapOutcome{Failed: []records.FailedInput{bad(17, "no")}, Missing: []int{20, 21}},
			"input 17: ValueError: no\njob a1 was cancelled\n3 of 2,000 inputs have no value: 1 failed, 2 have no result (first: 20); values computed so far are kept\n" +
				"next: kubectl kinetic jobs logs a1 --index 17 -n ml\n" + resume},
		"no result": {"", cancelled, records.MapOutcome{Missing: []int{20, 21}},
			"job a1 was cancelled\n2 of 2,000 inputs have no result (first: 20); values computed so far are kept\n" + resume},
		"the same error is told once, where it came first": {"", succeeded, records.MapOutcome{Failed: []records.FailedInput{bad(1, "b"), bad(3, "b"), bad(4, "a"), bad(5, "b"), bad(6, "b"), bad(7, "b"), bad(9, "a"), bad(10, "a")}},
			"inputs 1, 3, 5-7: ValueError: b\ninputs 4, 9-10: ValueError: a\n8 of 2,000 inputs failed; values computed so far are kept\n" +
				"next: kubectl kinetic jobs logs a1 --index 1 -n ml\n" + resume},
	} {
		t.Run(name, func(t *testing.T) {
			j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", CallKind: tt.kind, Map: &api.Map{Inputs: 2000, Chunk: 1}}}
			var said bytes.Buffer
			if _ = mapFailed(&said, j, MapEnd{tt.status, tt.outcome}); said.String() != tt.want {
				t.Errorf("got\n%swant\n%s", said.String(), tt.want)
			}
		})
	}
}

// A map with a failed input is no success, whatever its pods say; one whose values
// were collected is.
func TestSettleOfAMap(t *testing.T) {
	const good, bad = `{"version":1,"ok":true,"value":1}`, `{"version":1,"ok":false}`
	for name, tt := range map[string]struct {
		results []string
		code    int
		said    string
	}{
		"all have a value": {[]string{good, good}, cli.ExitDone, ""},
		"one failed":       {[]string{good, bad}, cli.ExitFailed, "1 of 2 inputs failed; for details: kubectl kinetic jobs result a1 -n ml\n"},
		"collected":        {nil, cli.ExitDone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := store.OpenFile("file://" + t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			j := &job.Job{Handle: api.Handle{JobID: "a1", Namespace: "ml", Map: &api.Map{Inputs: 2, Chunk: 1}}, Store: kept}
			for input, text := range tt.results {
				if err := kept.Create(t.Context(), store.ResultOf("a1", input), strings.NewReader(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			var said bytes.Buffer
			err = Settle(t.Context(), &said, j, End{Status: api.Status{State: api.Succeeded}})
			if cli.CodeOf(err) != tt.code || said.String() != tt.said {
				t.Errorf("exit code %d, said %q; want %d, %q", cli.CodeOf(err), said.String(), tt.code, tt.said)
			}
		})
	}
}
