package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/pack"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// A file that changes while it is read is no mistake of the user; one that can't be read is.
func TestWhatAPlanFailsWith(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		code int
	}{
		"changed":    {fmt.Errorf("reading: %w", &pack.FileError{Path: "x", Changed: true}), process.ExitFailed},
		"unreadable": {&pack.FileError{Path: "x"}, process.ExitUsage},
		"a mistake":  {errors.New("no"), process.ExitUsage},
	} {
		if code := process.CodeOf(planError(t.Context(), tt.err)); code != tt.code {
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
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		says string
	}{
		"nothing there":              {interrupted, context.Canceled, process.ExitInterrupted, "interrupted; nothing was started\n"},
		"the job may run":            {interrupted, mayRun, process.ExitInterrupted, "interrupted; " + (&submit.MayRunError{}).Advice() + "\n"},
		"there is such a job":        {interrupted, taken, process.ExitInterrupted, "interrupted; " + taken.Error() + "\n"},
		"not interrupted, may run":   {t.Context(), mayRun, process.ExitFailed, ""},
		"not interrupted, taken":     {t.Context(), taken, process.ExitUsage, ""},
		"not interrupted, unusable":  {t.Context(), &submit.StoreError{}, process.ExitUsage, ""},
		"not interrupted, a mistake": {t.Context(), &submit.InputError{}, process.ExitUsage, ""},
		"not interrupted, an outage": {t.Context(), errors.New("503"), process.ExitFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, said := genericiooptions.NewTestIOStreams()
			o := &options{streams: streams}
			if code := process.CodeOf(o.applyError(tt.ctx, tt.err)); code != tt.code || said.String() != tt.says {
				t.Errorf("exit code %d, said %q; want %d, %q", code, said, tt.code, tt.says)
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
