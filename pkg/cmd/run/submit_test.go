package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// A file that changes while it is read is no mistake of the user; one that can't be read is.
func TestWhatAPlanFailsWith(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		code int
	}{
		"changed":    {fmt.Errorf("reading: %w", &pack.FileError{Path: "x", Changed: true}), cli.ExitFailed},
		"unreadable": {&pack.FileError{Path: "x"}, cli.ExitUsage},
		"a mistake":  {errors.New("no"), cli.ExitUsage},
	} {
		if code := cli.CodeOf(planError(t.Context(), tt.err)); code != tt.code {
			t.Errorf("%s: exit code %d, want %d", name, code, tt.code)
		}
	}
}

// A user who interrupts a submit hears what there may be of the job.
func TestInterruptedSubmit(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	mayRun := fmt.Errorf("no answer: %w", &submit.MayRunError{})
	taken := &submit.ExistsError{ID: "a1", Where: "namespace ml", Same: true}
	started := func(cause error) error { return fmt.Errorf("%w, after %w", mayRun, cause) }
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		says string
	}{
		"nothing there":              {interrupted, context.Canceled, cli.ExitInterrupted, "interrupted; nothing was started\n"},
		"the job may run":            {interrupted, mayRun, cli.ExitInterrupted, "interrupted; " + (&submit.MayRunError{}).Advice() + "\n"},
		"there is such a job":        {interrupted, taken, cli.ExitInterrupted, "interrupted; " + taken.Error() + "\n"},
		"started, then taken":        {interrupted, started(taken), cli.ExitInterrupted, "interrupted; " + (&submit.MayRunError{}).Advice() + "\n"},
		"not interrupted, may run":   {t.Context(), mayRun, cli.ExitFailed, ""},
		"may run, then taken":        {t.Context(), started(taken), cli.ExitFailed, ""},
		"may run, then unusable":     {t.Context(), started(&submit.StoreError{}), cli.ExitFailed, ""},
		"not interrupted, taken":     {t.Context(), taken, cli.ExitUsage, ""},
		"not interrupted, unusable":  {t.Context(), &submit.StoreError{}, cli.ExitUsage, ""},
		"not interrupted, a mistake": {t.Context(), &submit.InputError{}, cli.ExitUsage, ""},
		"not interrupted, an outage": {t.Context(), errors.New("503"), cli.ExitFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, said := genericiooptions.NewTestIOStreams()
			o := &options{streams: streams}
			if code := cli.CodeOf(o.applyError(tt.ctx, tt.err)); code != tt.code || said.String() != tt.says {
				t.Errorf("exit code %d, said %q; want %d, %q", code, said, tt.code, tt.says)
			}
		})
	}
}

// Another Ctrl-C ends the wait for a cancelled job, which its pod's grace period makes long.
func TestInterruptedAgain(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // never stopped: the last one may come after this test
	kept, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	enough, pressing := make(chan struct{}), sync.WaitGroup{}
	press := func(api.Handle) error {
		pressing.Go(func() {
			for again := time.Tick(10 * time.Millisecond); ; { // somebody keeps pressing it
				select {
				case <-enough:
					return
				case <-again:
					_ = self.Signal(os.Interrupt)
				}
			}
		})
		return nil
	}
	defer pressing.Wait()
	defer close(enough)
	j := &job.Job{Handle: api.Handle{JobID: "a1", Backend: api.BackendGKE}, Store: kept, Backend: jobtest.Backend{State: api.Running, Deleted: press}}
	streams, _, _, said := genericiooptions.NewTestIOStreams()
	o := &options{streams: streams, clock: clock.RealClock{}}
	ended := make(chan error, 1)
	go func() { ended <- o.interrupted(t.Context(), j, make(chan outcome)) }()
	select {
	case err := <-ended:
		if code := cli.CodeOf(err); code != cli.ExitInterrupted || !strings.Contains(said.String(), "interrupted again; check whether job a1 ended") {
			t.Errorf("exit code %d, said %q", code, said)
		}
	case <-time.After(20 * time.Second):
		t.Error("still waiting")
	}
}

// The job may end by itself in the moment of a Ctrl-C, before the cluster reports that.
func TestInterruptedAtItsEnd(t *testing.T) {
	for name, tt := range map[string]struct{ end, want string }{
		"ended":     {`{"version":1,"state":"SUCCEEDED","reason":"Completed","by":"runner"}`, "interrupted; job a1 had just ended: SUCCEEDED; its result: kubectl kinetic jobs result a1"},
		"cancelled": {"", "job a1 was cancelled; its log: "},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := store.OpenFile("file://" + t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if tt.end != "" {
				if err := kept.Create(t.Context(), store.End("a1"), strings.NewReader(tt.end), nil); err != nil {
					t.Fatal(err)
				}
			}
			j := &job.Job{Handle: api.Handle{JobID: "a1", Backend: api.BackendGKE, CallKind: api.CallFunction}, Store: kept, Backend: jobtest.Backend{State: api.Running}}
			streams, _, _, said := genericiooptions.NewTestIOStreams()
			o, done := &options{streams: streams, clock: clock.RealClock{}}, make(chan outcome)
			close(done)
			if code := cli.CodeOf(o.interrupted(t.Context(), j, done)); code != cli.ExitInterrupted || !strings.Contains(said.String(), tt.want) {
				t.Errorf("exit code %d, said %q, want %q in it", code, said, tt.want)
			}
		})
	}
}

// An image of ours that the registry has lost is made again by the next run.
func TestGiveUpWithoutAnImage(t *testing.T) {
	for name, tt := range map[string]struct {
		tag        string
		lost       bool
		remembered int
	}{
		"lost":               {"r-1", true, 1},
		"an image of others": {"", true, 0},
		"another reason":     {"r-1", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := store.OpenFile("file://" + t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			j := &job.Job{Handle: api.Handle{JobID: "a1", Backend: api.BackendGKE, ImageURI: "repo/env:r-1"}, Store: kept, Backend: jobtest.Backend{State: api.Pending}}
			o := &options{clock: clock.RealClock{}, machine: submit.Machine{CacheDir: t.TempDir()}}
			o.planned.Environment.Tag = tt.tag
			err = o.giveUp(t.Context(), j, api.Status{Message: "no image", ImageLost: tt.lost})
			if said := strings.HasSuffix(err.Error(), "; the next run makes the image again"); said != (tt.remembered > 0) || !strings.HasPrefix(err.Error(), "job a1 can't start: no image") {
				t.Errorf("got %v", err)
			}
			files, err := filepath.Glob(filepath.Join(o.machine.CacheDir, "images", "*"))
			if err != nil || len(files) != tt.remembered {
				t.Errorf("remembered %q, %v", files, err)
			}
		})
	}
}
