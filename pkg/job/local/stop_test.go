//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
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
			watched := make(chan api.WorkloadStatus, 1)
			running := make(chan struct{}, 1)
			go func() {
				last, err := New(f.config).Watch(t.Context(), aHandle, func(api.WorkloadStatus) {
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
			if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{Grace: tt.grace}); err != nil {
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

func TestStopOfARunnerThatIsTooYoungToRecordIt(t *testing.T) {
	f := newFixture(t)
	f.start(t, "young", "line:ready", "pause")
	f.until(t, "ready")
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{Grace: patience}); err != nil {
		t.Fatal(err)
	}
	if end := f.end(t); end == nil || end.Reason != api.Cancelled || end.By != "cancel" {
		t.Errorf("recorded %+v, want that it was cancelled", end)
	}
}

// With o.Ending, that decides what is recorded, whatever the runner records.
func TestStopWithAnEnding(t *testing.T) {
	tests := map[string]struct {
		words []string
		grace time.Duration
	}{
		"gracefully":                  {[]string{"line:ready", "pause"}, patience},
		"a runner that is too young":  {[]string{"young", "line:ready", "pause"}, patience},
		"at once":                     {[]string{"line:ready", "pause"}, 0},
		"a runner that does not obey": {[]string{"stubborn", "line:ready", "pause"}, time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.start(t, tt.words...)
			f.until(t, "ready")
			ending := func() error {
				own, theirs := filepath.Join(f.storeDir, "end.json"), filepath.Join(f.storeDir, store.End(jobID))
				end := `{"version":1,"state":"FAILED","reason":"Cancelled","message":"by its owner","by":"cancel"}`
				return errors.Join(os.MkdirAll(filepath.Dir(theirs), 0o700), os.WriteFile(own, []byte(end), 0o600), os.Rename(own, theirs))
			}
			if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{Grace: tt.grace, Ending: ending}); err != nil {
				t.Fatal(err)
			}
			f.noTraces(t)
			if end := f.end(t); end == nil || end.Message != "by its owner" {
				t.Errorf("recorded %+v, want that of the ending", end)
			}
		})
	}
}

// What the runner had no time to store of the log is stored before its directory is removed.
func TestAKilledJobKeepsItsLog(t *testing.T) {
	for name, stored := range map[string]int{"nothing stored": 0, "a line stored": 1, "all stored": 3} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.start(t, "lines:2", "line:ready", "pause")
			f.until(t, "ready")
			log, err := os.ReadFile(filepath.Join(f.dir(jobID), logFile))
			if err != nil {
				t.Fatal(err)
			}
			s, err := store.OpenFile("file://" + f.storeDir)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(log), "\n")
			if stored > 0 {
				if err := s.Create(t.Context(), store.LogPart(jobID, 0, 1, 1), strings.NewReader(strings.Join(lines[:stored], "")), nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{KeepLog: true}); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := logs.Stored(t.Context(), s, jobID, logs.Options{Hosts: 1, Tail: -1}, display.Streams{Out: &out, Err: &out}); err != nil {
				t.Fatal(err)
			}
			if want := "line 1\nline 2\nready\n"; out.String() != want {
				t.Errorf("the store has the log\n%s\nwant\n%s", out.String(), want)
			}
		})
	}
}

// tardy is a store in which a part of the log appears just before another is written, as when the runner's last upload was under way.
type tardy struct {
	store.Store
	part string
	came *bool
}

// Create implements store.Store.
func (s tardy) Create(ctx context.Context, name string, r io.Reader, metadata map[string]string) error {
	if name == store.LogPart(jobID, 0, 1, 1) && !*s.came {
		*s.came = true
		return errors.Join(store.ErrExists, s.Store.Create(ctx, name, strings.NewReader(s.part), nil))
	}
	return s.Store.Create(ctx, name, r, metadata)
}

func TestAKilledJobWhoseRunnerHadBegunToStore(t *testing.T) {
	f := newFixture(t)
	f.start(t, "lines:2", "line:ready", "pause")
	f.until(t, "ready")
	log, err := os.ReadFile(filepath.Join(f.dir(jobID), logFile))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenFile("file://" + f.storeDir)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(log), "\n")
	came := false
	f.config.OpenStore = func(string) (store.Store, error) { return tardy{s, line + "\n", &came}, nil }
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{KeepLog: true}); err != nil || !came {
		t.Fatal(came, err)
	}
	var out strings.Builder
	err = logs.Stored(t.Context(), s, jobID, logs.Options{Hosts: 1, Tail: -1}, display.Streams{Out: &out, Err: &out})
	if want := "line 1\nline 2\nready\n"; err != nil || out.String() != want {
		t.Errorf("the store has the log %q, %v, want %q", out.String(), err, want)
	}
}

// A log that can't be stored stays where it is, and the job can be cleaned up.
func TestAKilledJobWhoseLogCannotBeStored(t *testing.T) {
	f := newFixture(t)
	f.start(t, "line:ready", "pause")
	f.until(t, "ready")
	parts := filepath.Join(f.storeDir, filepath.FromSlash(store.LogPart(jobID, 0, 1, 1)))
	if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Dir(parts)), 0o700), os.WriteFile(filepath.Dir(parts), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{KeepLog: true}); err == nil || !strings.Contains(err.Error(), logFile) {
		t.Errorf("error %v, want one that names the log", err)
	}
	var out strings.Builder
	if err := f.Logs(t.Context(), aHandle, nil, logs.Options{Tail: -1}, display.Streams{Out: &out, Err: &out}); err != nil || out.String() != "ready\n" {
		t.Errorf("the log is %q, %v", out.String(), err)
	}
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	f.noTraces(t)
}

func TestStopWithAnEndingThatFails(t *testing.T) {
	for name, grace := range map[string]time.Duration{"gracefully": patience, "at once": 0} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.start(t, "line:ready", "pause")
			f.until(t, "ready")
			refused := errors.New("forbidden")
			if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{Grace: grace, Ending: func() error { return refused }}); !errors.Is(err, refused) {
				t.Errorf("got %v, want %v", err, refused)
			}
			if record, err := f.read(jobID); err != nil || record.Process.life() == alive {
				t.Errorf("it goes on, or is lost: %v", err)
			}
		})
	}
}

func TestStopOfAnEndedJobRemovesIt(t *testing.T) {
	f := newFixture(t)
	f.start(t, "exit:3")
	f.watch(t)
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{Grace: patience}); err != nil {
		t.Fatal(err)
	}
	f.noTraces(t)
	if end := f.end(t); end == nil || end.Reason != api.ExitCode {
		t.Errorf("recorded %+v, want the job's own end", end)
	}
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
		t.Errorf("the second time: got %v, want nothing to do", err)
	}
}

// A job that has ended since the caller looked has the end that its caller records.
func TestStopOfAnEndedJobRecordsItsEnding(t *testing.T) {
	f := newFixture(t)
	f.start(t, "exit:3")
	f.watch(t)
	called := 0
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{Grace: patience, Ending: func() error { called++; return nil }}); err != nil || called != 1 {
		t.Errorf("the end was recorded %d times, want once; %v", called, err)
	}
	f.noTraces(t)
}

// A job on another machine continues, so its end is not recorded.
func TestStopOfAJobElsewhereRecordsNothing(t *testing.T) {
	f := newFixture(t)
	f.plant(t, Process{PID: os.Getpid(), Start: "1", Boot: "another", Machine: "login2"})
	ending := func() error { t.Error("its end was recorded"); return nil }
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{Grace: patience, Ending: ending}); err == nil {
		t.Error("it was removed")
	}
}

func TestStopEndsWithItsContext(t *testing.T) {
	f := newFixture(t)
	f.start(t, "stubborn", "line:ready", "pause")
	f.until(t, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Delete(ctx, aHandle, api.DeleteOptions{Grace: patience}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, err := f.get(t.Context(), jobID); err != nil {
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
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.noTraces(t)
}
