//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

func TestWatch(t *testing.T) {
	tests := map[string]struct {
		words   []string
		state   api.State
		reason  api.Reason
		code    int
		by      string
		message string
	}{
		"success":             {[]string{"line:a"}, api.Succeeded, api.Completed, 0, "runner", ""},
		"an exit code":        {[]string{"exit:3"}, api.Failed, api.ExitCode, 3, "runner", ""},
		"a runner killed":     {[]string{"kill"}, api.Failed, api.Killed, 137, "client", "the runner was killed or crashed"},
		"a crashed runner":    {[]string{"crash:MemoryError"}, api.Failed, api.Killed, 137, "client", "it said: MemoryError"},
		"a full disk":         {[]string{"own:warning:_cannot_record_how_the_job_ended:_no_space"}, api.Failed, api.Killed, 137, "client", "the runner could not record how the job ended: no space"},
		"an old runner's end": {[]string{"what"}, api.Failed, api.Killed, 137, "client", "it said: what is what"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			gate := fifo(t)
			f.start(t, append([]string{"wait:" + gate}, tt.words...)...)
			var seen []api.State
			last, err := f.Watch(t.Context(), aHandle, func(s api.WorkloadStatus) {
				if seen = append(seen, s.State); s.State == api.Running {
					open(t, gate)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]api.State{api.Running, tt.state}, seen); diff != "" {
				t.Errorf("states seen (-want +got):\n%s", diff)
			}
			if last.State != tt.state || last.Reason != tt.reason || *last.ExitCode != tt.code || !strings.Contains(last.Message, tt.message) {
				t.Errorf("last status: %+v", last)
			}
			if end := f.end(t); end == nil || end.By != tt.by || end.State != tt.state || end.Message != last.Message {
				t.Errorf("recorded: %+v", end)
			}
			if _, err := os.Stat(filepath.Join(f.dir(jobID), workDir)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the workspace is still there: %v", err)
			}
		})
	}
}

// On a full disk neither the runner nor we can record the end. It is known all the same.
func TestEndThatCannotBeRecorded(t *testing.T) {
	f := newFixture(t)
	gate := fifo(t)
	f.start(t, "wait:"+gate, "kill")
	last, err := f.Watch(t.Context(), aHandle, func(s api.WorkloadStatus) {
		if s.State == api.Running {
			temp := filepath.Join(f.storeDir, ".tmp") // where the store writes first
			if err := errors.Join(os.RemoveAll(temp), os.WriteFile(temp, nil, 0o600)); err != nil {
				t.Error(err)
			}
			open(t, gate)
		}
	})
	if err != nil || last.State != api.Failed || !strings.Contains(last.Message, "the runner was killed or crashed") {
		t.Errorf("%+v, %v", last, err)
	}
	if end := f.end(t); end != nil {
		t.Errorf("recorded: %+v", end)
	}
}

func TestWatchAfterTheEnd(t *testing.T) {
	f := newFixture(t)
	f.start(t, "exit:3")
	f.watch(t)
	seen, last := f.watch(t)
	if len(seen) != 1 || last.State != api.Failed || *last.ExitCode != 3 {
		t.Errorf("got %v, %+v, want FAILED once", seen, last)
	}
}

func TestWatchOfAJobThatIsNotHere(t *testing.T) {
	f := newFixture(t)
	if seen, last := f.watch(t); len(seen) != 1 || last.State != api.NotFound {
		t.Errorf("got %v, %+v, want NOT_FOUND once", seen, last)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	f := newFixture(t)
	f.start(t, "line:ready", "pause")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.Watch(ctx, aHandle, func(api.WorkloadStatus) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if r, err := f.get(t.Context(), jobID); err != nil || r.Status.State != api.Running {
		t.Errorf("the job did not go on: %+v, %v", r.Status, err)
	}
}

// Many watchers, each like one in another process, see the same end, which is recorded
// once.
func TestManyWatchers(t *testing.T) {
	f := newFixture(t)
	gate := fifo(t)
	f.start(t, "lines:5", "wait:"+gate, "kill")
	var group sync.WaitGroup
	ends := make([]api.WorkloadStatus, 8)
	running := make(chan struct{}, len(ends))
	for i := range ends {
		group.Go(func() {
			other := fixture{Machine: New(f.config)}
			var err error
			ends[i], err = other.Watch(t.Context(), aHandle, func(s api.WorkloadStatus) {
				if s.State == api.Running {
					running <- struct{}{}
				}
			})
			if err != nil {
				t.Error(err)
			}
			if got, want := other.log(t, wholeLog), "line 1\nline 2\nline 3\nline 4\nline 5\n"; got != want {
				t.Errorf("log: got %q, want %q", got, want)
			}
		})
	}
	for range ends {
		<-running
	}
	open(t, gate)
	group.Wait()
	for _, s := range ends {
		if diff := cmp.Diff(f.end(t).Status(), s.Status); diff != "" {
			t.Errorf("recorded and seen (-recorded +seen):\n%s", diff)
		}
	}
}

// Processes that outlive the runner are killed, however it ended.
func TestWhatOutlivesTheRunner(t *testing.T) {
	for _, how := range []string{"kill", "exit:0"} {
		t.Run(how, func(t *testing.T) {
			f := newFixture(t)
			pipe := fifo(t)
			r := reader(t, pipe)
			f.start(t, "child:"+pipe, how)
			f.watch(t)
			endOf(t, r)
		})
	}
}

// The id exists, but belongs to another process.
func TestReusedPID(t *testing.T) {
	f := newFixture(t)
	other := exec.Command("cat")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := newProcess(other.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if process.life() != alive {
		t.Fatal("the process does not count as alive")
	}
	process.Start += "1"
	f.plant(t, process)
	if _, last := f.watch(t); last.State != api.Failed || last.Reason != api.Killed {
		t.Errorf("got %+v, want FAILED", last)
	}
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err != nil {
		t.Errorf("the other process was disturbed: %v", err)
	}
}

// plant makes the job's directory, with work/, for a process.
func (f fixture) plant(t *testing.T, p Process) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(f.dir(jobID), workDir), 0o700); err != nil {
		t.Fatal(err)
	}
	r := Record{Version: recordVersion, ID: jobID, Store: "file://" + f.storeDir, Process: p}
	if err := r.write(f.dir(jobID)); err != nil {
		t.Fatal(err)
	}
}

func TestProcessesThatHaveEnded(t *testing.T) {
	mine, err := newProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if mine.life() != alive {
		t.Error("this process does not count as alive")
	}
	rebooted := mine
	rebooted.Boot = "another"
	if rebooted.life() != ended {
		t.Error("a process survives a reboot")
	}

	child := exec.Command("true")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := newProcess(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := waitExit(t.Context(), process); err != nil {
		t.Fatal(err)
	}
	if process.life() != ended { // no one has waited for it yet
		t.Error("a zombie counts as alive")
	}
	if err := pollExit(t.Context(), process); err != nil {
		t.Error(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if process.life() != ended {
		t.Error("a process that is gone counts as alive")
	}
	if _, err := newProcess(child.Process.Pid); err == nil {
		t.Error("a process that is gone can be described")
	}
}

// Several machines share a home directory. Nothing is recorded about a process on another
// machine.
func TestAnotherMachine(t *testing.T) {
	f := newFixture(t)
	f.plant(t, Process{PID: os.Getpid(), Start: "1", Boot: "another", Machine: "login2"})
	records, err := f.List(t.Context(), api.ListStates)
	if err != nil || len(records) != 1 || records[0].Status.State != api.Running || !strings.Contains(records[0].Status.Message, "login2") {
		t.Errorf("List: %+v, %v", records, err)
	}
	if _, err := f.Watch(t.Context(), aHandle, func(api.WorkloadStatus) {}); err == nil || !strings.Contains(err.Error(), "login2") {
		t.Errorf("Watch: got %v, want an error that names the machine", err)
	}
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err == nil || !strings.Contains(err.Error(), "login2") {
		t.Errorf("Stop: got %v, want an error that names the machine", err)
	}
	if end := f.end(t); end != nil {
		t.Errorf("recorded %+v", end)
	}
	s, err := f.config.OpenStore("file://" + f.storeDir)
	if err != nil {
		t.Fatal(err)
	}
	end := fmt.Sprintf(`{"version":1,"state":%q,"reason":"Completed","by":"runner"}`, api.Succeeded)
	if err := s.Create(t.Context(), jobID+"/end.json", strings.NewReader(end), nil); err != nil {
		t.Fatal(err)
	}
	if _, last := f.watch(t); last.State != api.Succeeded {
		t.Errorf("with its record in the store: %+v", last)
	}
}

func TestLogs(t *testing.T) {
	f := newFixture(t)
	f.start(t, "lines:100", "line:ready", "pause")
	f.until(t, "ready")
	tests := map[string]struct {
		o    logs.Options
		want string
	}{
		"the tail, while it runs": {logs.Options{Tail: 2, Host: -1}, "line 100\nready\n"},
		"by host and attempt":     {logs.Options{Tail: 1, Host: 0, Attempt: 1}, "ready\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := f.log(t, tt.o); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, o := range []logs.Options{{Tail: -1, Host: 1}, {Tail: -1, Host: -1, Attempt: 2}} {
		if err := f.Logs(t.Context(), aHandle, nil, o, display.Both(&strings.Builder{})); err == nil || !strings.Contains(err.Error(), "one host, 0, and one attempt, 1") {
			t.Errorf("%+v: got %v, want an error", o, err)
		}
	}
	if err := f.Logs(t.Context(), api.Handle{JobID: "cpu-other"}, nil, wholeLog, display.Both(&strings.Builder{})); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a job that is not here: got %v", err)
	}
}

// The last lines that the runner printed are read, whenever following begins.
func TestFollowedLogsAreWhole(t *testing.T) {
	for range 3 {
		f := newFixture(t)
		f.start(t, "lines:2000")
		got := f.log(t, wholeLog)
		if n := strings.Count(got, "\n"); n != 2000 || !strings.HasSuffix(got, "\nline 2000\n") {
			t.Fatalf("got %d lines, want 2000", n)
		}
	}
}
