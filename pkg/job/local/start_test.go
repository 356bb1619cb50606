//go:build linux || darwin

package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	program "github.com/kubectl-kinetic/kinetic/runner"
)

func TestStateDir(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for xdg, want := range map[string]string{
		"/state":   "/state/kinetic/local",
		"":         "/home/me/.local/state/kinetic/local",
		"relative": "/home/me/.local/state/kinetic/local",
	} {
		t.Setenv("XDG_STATE_HOME", xdg)
		if got, err := StateDir(); got != want || err != nil {
			t.Errorf("XDG_STATE_HOME=%q: got %q, %v, want %q", xdg, got, err, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	f := newFixture(t)
	dir := filepath.Join(f.stateDir, jobID)
	base := []string{"--job", jobID, "--store", "file://" + f.storeDir, "--call", strings.Repeat("c", 64), "--bundle", strings.Repeat("b", 64),
		"--grace", "25", "--final", "--work", filepath.Join(dir, "work"), "--log-file", filepath.Join(dir, "log"), "--termination-log", ""}
	tests := map[string]struct {
		change func(*api.Spec)
		want   []string
	}{
		"plain":         {func(*api.Spec) {}, nil},
		"an output dir": {func(s *api.Spec) { s.OutputDir = "/my outputs" }, []string{"--output-dir", "/my outputs"}},
		"a bound":       {func(s *api.Spec) { s.MaxRuntime = 90 * time.Second }, []string{"--max-runtime", "90"}},
		"a function":    {func(s *api.Spec) { s.CallKind = api.CallFunction }, []string{"--function"}},
		"a map": {func(s *api.Spec) {
			s.CallKind, s.Map = api.CallFunction, &api.Map{InputsSHA256: "d", Inputs: 3, Chunk: 3, Parallelism: 1}
		}, []string{"--retries", "0", "--map", "d", "--chunk", "3", "--inputs", "3"}},
		"errors of a map": {func(s *api.Spec) {
			s.CallKind, s.Map = api.CallFunction, &api.Map{InputsSHA256: "d", Inputs: 3, Chunk: 3, Parallelism: 1}
			s.RetryOn, s.Retries = api.RetryOnError, 2
		}, []string{"--retry-on", "error", "--retries", "2", "--map", "d", "--chunk", "3", "--inputs", "3"}},
		"a narrow bound": {func(s *api.Spec) { s.MaxRuntime = 1500 * time.Millisecond }, []string{"--max-runtime", "1.5"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := f.spec("argv")
			tt.change(&spec)
			if err := f.Start(t.Context(), spec, nil); err != nil {
				t.Fatal(err)
			}
			f.watch(t)
			var got []string
			if err := json.Unmarshal([]byte(f.log(t, wholeLog)), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(base[:len(base):len(base)], tt.want...), got); diff != "" {
				t.Errorf("the runner's arguments (-want +got):\n%s", diff)
			}
			if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	f := newFixture(t)
	t.Setenv("INHERITED", "yes")
	t.Setenv("OVERRIDDEN", "no")
	t.Setenv("KINETIC_POD_UID", "of-the-pod-around-us")
	spec := f.spec("env:INHERITED", "env:OVERRIDDEN", "env:TOKEN", "env:KINETIC_POD_UID")
	spec.Env = append(spec.Env, api.EnvVar{Name: "OVERRIDDEN", Value: "yes"})
	spec.SecretEnv = []string{"TOKEN"}
	if err := f.Start(t.Context(), spec, map[string]string{"TOKEN": "very-secret"}); err != nil {
		t.Fatal(err)
	}
	f.watch(t)
	if got, want := f.log(t, wholeLog), "yes\nyes\nvery-secret\n(unset)\n"; got != want {
		t.Errorf("the job printed %q, want %q", got, want)
	}
	err := filepath.WalkDir(f.stateDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == logFile { // it contains what the job printed
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "very-secret") {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStateIsPrivate(t *testing.T) {
	f := newFixture(t)
	f.start(t, "line:a")
	f.watch(t)
	err := filepath.WalkDir(f.stateDir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if filepath.Base(path) == "__pycache__" {
			return fs.SkipDir
		}
		info, err := os.Stat(path)
		// The log and the byte code are Python's; their directories keep them private.
		if err == nil && filepath.Base(path) != logFile && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStartThatFailsLeavesNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "python3")
	tests := map[string]struct {
		change func(*testing.T, *fixture, *api.Spec)
		want   string
	}{
		"no python":        {func(t *testing.T, _ *fixture, _ *api.Spec) { t.Setenv("PATH", t.TempDir()) }, "install Python 3.9 or newer"},
		"another python":   {func(_ *testing.T, f *fixture, _ *api.Spec) { f.config.Python = missing }, missing},
		"a bad id":         {func(_ *testing.T, _ *fixture, s *api.Spec) { s.ID = "../x" }, `job ID "../x"`},
		"a missing secret": {func(_ *testing.T, _ *fixture, s *api.Spec) { s.SecretEnv = []string{"TOKEN"} }, "TOKEN"},
		"no program": {func(t *testing.T, f *fixture, _ *api.Spec) {
			f.config.Python = filepath.Join(t.TempDir(), "python3")
			if err := os.WriteFile(f.config.Python, []byte("neither ELF nor #!"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "exec format error"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			spec := f.spec("line:a")
			tt.change(t, &f, &spec)
			err := f.Start(t.Context(), spec, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "starting local job") {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
			f.noTraces(t)
		})
	}
}

func TestStartingTwice(t *testing.T) {
	f := newFixture(t)
	f.start(t, "line:first", "pause")
	if err := f.Start(t.Context(), f.spec("line:second"), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want an error that is fs.ErrExist", err)
	}
	f.until(t, "first")
}

func TestStartingTwiceAtOnce(t *testing.T) {
	f := newFixture(t)
	var wins atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			switch err := f.Start(t.Context(), f.spec("line:once"), nil); {
			case err == nil:
				wins.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("got %v, want an error that is fs.ErrExist", err)
			}
		})
	}
	group.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d starts succeeded, want 1", wins.Load())
	}
	if got := f.log(t, wholeLog); got != "once\n" {
		t.Errorf("the job printed %q, want that once", got)
	}
	f.watch(t)
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.noTraces(t)
}

func TestRunnerIsWrittenOnceAndRepaired(t *testing.T) {
	f := newFixture(t)
	install := func() (string, os.FileInfo) {
		t.Helper()
		dir, err := f.install()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, program.File, "__main__.py")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, info
	}
	path, first := install()
	if _, again := install(); !os.SameFile(first, again) {
		t.Error("it was written again")
	}
	if err := os.WriteFile(path, []byte("cut o"), 0o600); err != nil {
		t.Fatal(err)
	}
	install()
	want, _ := fs.ReadFile(f.config.Runner, "__main__.py")
	if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, want) {
		t.Errorf("a damaged runner was kept: %.20q, %v", data, err)
	}
}

func TestStartSweepsOldLeftovers(t *testing.T) {
	f := newFixture(t)
	old, young := filepath.Join(f.stateDir, scratchPrefix+"old"), filepath.Join(f.stateDir, scratchPrefix+"young")
	for _, dir := range []string{old, young} {
		if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-2 * scratchAge)
	if err := os.Chtimes(old, then, then); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	f.watch(t)
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old one was kept: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("one that may be in use was removed: %v", err)
	}
}

func TestDetachedJobSurvivesItsStarter(t *testing.T) {
	f := newFixture(t)
	gate := fifo(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KINETIC_TEST_START="+f.stateDir+string(os.PathListSeparator)+f.storeDir,
		"KINETIC_TEST_WORDS=line:ready wait:"+gate+" lines:3 exit:7")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the starter: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = f.Delete(context.Background(), aHandle, api.DeleteOptions{}) })
	if r, err := f.get(t.Context(), jobID); err != nil || r.Status.State != api.Running {
		t.Fatalf("after the starter has ended: %+v, %v", r, err)
	}
	open(t, gate)
	if got, want := f.log(t, wholeLog), "ready\nline 1\nline 2\nline 3\n"; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
	if _, last := f.watch(t); last.State != api.Failed || last.Reason != api.ExitCode || *last.ExitCode != 7 {
		t.Errorf("the end: %+v", last)
	}
}

// The process leads a session, so that it survives the terminal. It leaves no zombie if
// its starter continues.
func TestProcess(t *testing.T) {
	f := newFixture(t)
	f.start(t, "line:ready", "pause")
	r, err := f.get(t.Context(), jobID)
	if err != nil {
		t.Fatal(err)
	}
	if session, err := unix.Getsid(r.Process.PID); err != nil || session != r.Process.PID {
		t.Errorf("the session of process %d is %d, %v, want its own", r.Process.PID, session, err)
	}
	if err := f.Delete(t.Context(), aHandle, api.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); unix.Kill(r.Process.PID, 0) == nil; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("a zombie is left")
		}
	}
}

func TestStartNeedsNoStore(t *testing.T) {
	f := newFixture(t)
	f.config.OpenStore = func(string) (store.Store, error) { return nil, errors.New("out of reach") }
	f.start(t, "line:a")
	if _, err := f.Watch(t.Context(), aHandle, func(api.WorkloadStatus) {}); err == nil || !strings.Contains(err.Error(), "out of reach") {
		t.Errorf("got %v, want the store's error", err)
	}
	f.config.OpenStore = store.OpenFile
	f.watch(t)
}
