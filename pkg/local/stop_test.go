//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestStop(t *testing.T) {
	tests := map[string]struct {
		words  []string
		grace  time.Duration
		reason api.Reason
		by     string
	}{
		"gracefully":                  {[]string{"line:ready", "pause"}, patience, api.Terminated, "runner"},
		"at once":                     {[]string{"line:ready", "pause"}, 0, api.Cancelled, "cancel"},
		"a runner that does not obey": {[]string{"stubborn", "line:ready", "pause"}, time.Millisecond, api.Cancelled, "cancel"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			pipe := fifo(t)
			r := reader(t, pipe)
			f.start(t, append([]string{"child:" + pipe}, tt.words...)...)
			f.until(t, "ready")
			watched := make(chan api.Status, 1)
			running := make(chan struct{}, 1)
			go func() {
				last, err := New(f.config).Watch(t.Context(), jobID, func(api.Status) {
					select {
					case running <- struct{}{}:
					default:
					}
				})
				if err != nil {
					t.Error(err)
				}
				watched <- last
			}()
			<-running
			if err := f.Stop(t.Context(), jobID, tt.grace, nil); err != nil {
				t.Fatal(err)
			}
			endOf(t, r)
			f.noTraces(t)
			if end := f.end(t); end == nil || end.Reason != tt.reason || end.By != tt.by || end.State != api.Failed {
				t.Errorf("recorded %+v, want %s by %s", end, tt.reason, tt.by)
			}
			if last := <-watched; last.Reason != tt.reason {
				t.Errorf("a watcher saw %+v, want %s", last, tt.reason)
			}
		})
	}
}

func TestStopOfAnEndedJobRemovesIt(t *testing.T) {
	f := newFixture(t)
	f.start(t, "exit:3")
	f.watch(t)
	if err := f.Stop(t.Context(), jobID, patience, nil); err != nil {
		t.Fatal(err)
	}
	f.noTraces(t)
	if end := f.end(t); end == nil || end.Reason != api.ExitCode {
		t.Errorf("recorded %+v, want the job's own end", end)
	}
	if err := f.Stop(t.Context(), jobID, 0, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second time: got %v, want an error that is fs.ErrNotExist", err)
	}
}

func TestStopEndsWithItsContext(t *testing.T) {
	f := newFixture(t)
	f.start(t, "stubborn", "line:ready", "pause")
	f.until(t, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Stop(ctx, jobID, patience, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, err := f.Get(t.Context(), jobID); err != nil {
		t.Errorf("the job is lost: %v", err)
	}
}

func TestStopWhenTheStoreIsGone(t *testing.T) {
	f := newFixture(t)
	f.start(t, "line:ready", "pause")
	f.until(t, "ready")
	if err := os.RemoveAll(f.storeDir); err != nil {
		t.Fatal(err)
	}
	if err := f.Stop(t.Context(), jobID, 0, nil); err != nil {
		t.Fatal(err)
	}
	f.noTraces(t)
}
