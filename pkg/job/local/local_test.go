//go:build linux || darwin

package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const jobID = "cpu-train-20261120-082019-abc1234"

var aHandle = api.Handle{JobID: jobID}

// patience is how long a test waits for something that must happen: only a failing test
// takes that long.
const patience = 30 * time.Second

// fixture is a machine of its own with a store.
type fixture struct {
	*Machine
	stateDir, storeDir string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	runner, err := os.ReadFile(filepath.Join("testdata", "runner.py"))
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{stateDir: filepath.Join(t.TempDir(), "state"), storeDir: t.TempDir()}
	f.Machine = New(Config{StateDir: f.stateDir, Runner: fstest.MapFS{"__main__.py": {Data: runner}}, OpenStore: store.OpenFile})
	return f
}

// spec returns a job that does what the words say; see testdata/runner.py.
func (f fixture) spec(words ...string) api.Spec {
	return api.Spec{
		ID:           jobID,
		Name:         "train",
		Store:        "file://" + f.storeDir,
		CallSHA256:   strings.Repeat("c", 64),
		BundleSHA256: strings.Repeat("b", 64),
		Created:      time.Date(2026, 11, 20, 8, 20, 19, 0, time.UTC),
		Placement:    api.Placement{Backend: api.BackendLocal, Hosts: 1, Slices: 1, AcceleratorText: "cpu"},
		Execution:    api.Execution{Env: []api.EnvVar{{Name: "FAKE", Value: strings.Join(words, " ")}}},
	}
}

// start starts a job, and ends it with the test.
func (f fixture) start(t *testing.T, words ...string) {
	t.Helper()
	if err := f.Start(t.Context(), f.spec(words...), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Delete(context.Background(), aHandle, api.DeleteOptions{}) })
}

// watch waits for the job's end.
func (f fixture) watch(t *testing.T) (seen []api.State, last api.WorkloadStatus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	last, err := f.Watch(ctx, aHandle, func(s api.WorkloadStatus) { seen = append(seen, s.State) })
	if err != nil {
		t.Fatal(err)
	}
	return seen, last
}

// log reads the job's whole log.
func (f fixture) log(t *testing.T, o logs.Options) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out bytes.Buffer
	if err := f.Logs(ctx, aHandle, nil, o, display.Both(&out)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var wholeLog = logs.Options{Follow: true, Tail: -1, Host: -1}

// waiter is a writer that closes reached when text was written.
type waiter struct {
	text    string
	reached chan struct{}
	got     strings.Builder
}

func (w *waiter) Write(p []byte) (int, error) {
	before := strings.Contains(w.got.String(), w.text)
	w.got.Write(p)
	if !before && strings.Contains(w.got.String(), w.text) {
		close(w.reached)
	}
	return len(p), nil
}

// until waits until the job has printed text.
func (f fixture) until(t *testing.T, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := &waiter{text: text, reached: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- f.Logs(ctx, aHandle, nil, wholeLog, display.Both(w)) }()
	select {
	case <-w.reached:
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	case err := <-done:
		t.Fatalf("the job did not print %q but %q; %v", text, w.got.String(), err)
	}
}

// end returns the end in the store, nil if there is none.
func (f fixture) end(t *testing.T) *api.End {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.storeDir, jobID, "end.json"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var end api.End
	if err := json.Unmarshal(data, &end); err != nil {
		t.Fatal(err)
	}
	return &end
}

// fifo makes a pipe with a name, for a job to wait at.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open lets a job continue that waits at a pipe.
func open(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

// endOf returns when no process has the pipe open for writing any more.
func endOf(t *testing.T, f *os.File) {
	t.Helper()
	if err := f.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Read(make([]byte, 1)); n > 0 || err == nil || os.IsTimeout(err) {
		t.Fatalf("a process of the job lives on: read %d bytes, %v", n, err)
	}
}

// reader opens a pipe for reading, without waiting for a writer.
func reader(t *testing.T, path string) *os.File {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), path)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// noTraces fails if the state directory has more than the runner.
func (f fixture) noTraces(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(f.stateDir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), runnerPrefix) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// TestMain lets the test binary be the program that starts a job and ends.
func TestMain(m *testing.M) {
	if dirs := os.Getenv("KINETIC_TEST_START"); dirs != "" {
		stateDir, storeDir, _ := strings.Cut(dirs, string(os.PathListSeparator))
		if err := startAndLeave(fixture{stateDir: stateDir, storeDir: storeDir}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func startAndLeave(f fixture) error {
	runner, err := os.ReadFile(filepath.Join("testdata", "runner.py"))
	if err != nil {
		return err
	}
	f.Machine = New(Config{StateDir: f.stateDir, Runner: fstest.MapFS{"__main__.py": {Data: runner}}, OpenStore: store.OpenFile})
	return f.Start(context.Background(), f.spec(strings.Fields(os.Getenv("KINETIC_TEST_WORDS"))...), nil)
}
