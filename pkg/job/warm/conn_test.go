package warm_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	secret, podUID = "secret", "uid-1"
	program        = `
import sys; sys.path.insert(0, sys.argv[1])
from kinetic_runner.warm.holder import Holder
holder = Holder(b"secret", "uid-1", sys.argv[2], 0, 1000.0, 1000.0)
print(holder.port, flush=True)
holder.serve()
`
)

// host starts the real holder, and returns a function that connects to it.
func host(t *testing.T) func(secret string) (*warm.Conn, error) {
	t.Helper()
	address := holder(t)
	return func(secret string) (*warm.Conn, error) {
		way, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return warm.Connect(way, []byte(secret), podUID)
	}
}

// holder starts the real holder, and returns its address.
func holder(t *testing.T) string {
	t.Helper()
	_, address := start(t, program)
	return address
}

// start starts a Python program that prints the port of a holder. It returns the process and the address.
func start(t *testing.T, program string, args ...string) (*os.Process, string) {
	t.Helper()
	runner, err := filepath.Abs("../../../runner")
	if err != nil {
		t.Fatal(err)
	}
	work, err := os.MkdirTemp("", "warm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(work) }) // the runner that waits for the next call may still write there
	cmd := exec.CommandContext(t.Context(), "python3", append([]string{"-c", program, runner, work}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Process, net.JoinHostPort("127.0.0.1", strings.TrimSpace(port))
}

// putFile stores an object in a directory, and returns its hash.
func putFile(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	path := filepath.Join(dir, strings.ReplaceAll(name, "HASH", sum[:2]+"/"+sum))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return sum
}

// command stores a call that runs a command, and returns it.
func command(t *testing.T, dir string, args ...string) api.WarmCall {
	t.Helper()
	var index bytes.Buffer
	zipped := gzip.NewWriter(&index)
	fmt.Fprint(zipped, `{"version":2,"files":[],"dirs":[],"blobs":[]}`)
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return api.WarmCall{ID: "call-1", Environ: map[string]string{}, Argv: []string{"--store", "file://" + dir, "--work", t.TempDir(),
		"--call", putFile(t, dir, "call-1/call.json", fmt.Appendf(nil, `{"version":1,"kind":"command","args":%s,"cwd":""}`, text)),
		"--bundle", putFile(t, dir, "blobs/sha256/HASH", index.Bytes())}}
}

func TestCall(t *testing.T) {
	connect := host(t)
	call := command(t, t.TempDir(), "printf", "one\\ntwo\\n")
	conn, err := connect(secret)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := conn.State(t.Context()); err != nil || s.Calls != 0 || s.Current != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := conn.Call(call, func() { t.Error("it waits") }); err != nil {
		t.Fatal(err)
	}
	again, err := connect(secret)
	if err != nil {
		t.Fatal(err)
	}
	var out, tail, whole, rest bytes.Buffer
	if _, err := conn.Follow(call.ID, -1, &whole); err != nil || int(conn.Next()) != whole.Len() {
		t.Errorf("on the connection of the call: %v, %d of %q", err, conn.Next(), whole.String())
	}
	if _, err := conn.Resume(call.ID, 10, &rest); err != nil || rest.String() != whole.String()[10:] {
		t.Errorf("from the tenth byte: %v, %q of %q", err, rest.String(), whole.String())
	}
	lines := display.Streams{Out: &out, Err: &out}
	if pickle, err := again.Follow(call.ID, -1, logs.NewDecoder(lines, logs.Options{})); err != nil || pickle != nil || out.String() != "one\ntwo\n" {
		t.Errorf("%v, %v, %q", pickle, err, out.String())
	}
	if err := again.Output(call.ID, 1, &tail); err != nil || !strings.HasSuffix(tail.String(), " two\n") || strings.Contains(tail.String(), "one") {
		t.Errorf("%v, the last line: %q", err, tail.String())
	}
	if line, err := again.LastLine(call.ID); err != nil || line != "two" {
		t.Errorf("%v, the last line: %q", err, line)
	}
	if _, err := again.Follow("call-9", -1, &out); !errors.Is(err, warm.ErrUnknown) {
		t.Errorf("another call: %v", err)
	}
}

// A connection that is cut is made again, and the output goes on where it was. A cut connection brings one whole frame at least.
func TestCutConnections(t *testing.T) {
	address := holder(t)
	const lines = 20_000
	call := command(t, t.TempDir(), "seq", fmt.Sprint(lines))
	b, s, h := backend(t, jobtest.Backend{State: api.Running})
	h.JobID, h.BundleSHA256 = call.ID, call.Argv[slices.Index(call.Argv, "--bundle")+1]
	dials := 0
	b.Dial = func(context.Context, api.Handle, int) (*warm.Conn, error) {
		dials++
		way, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		return warm.Connect(&cut{ReadWriteCloser: way, left: 100_000}, []byte(secret), podUID)
	}
	first, err := b.Dial(t.Context(), h, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Call(call, nil); err != nil {
		t.Fatal(err)
	}
	b.Rung = &warm.Rung{ID: call.ID, Conn: first}
	var out, want bytes.Buffer
	for i := range lines {
		fmt.Fprintln(&want, i+1)
	}
	archive := &logs.Archive{Store: s, JobID: call.ID}
	if err := b.Logs(t.Context(), h, archive, logs.Options{Follow: true, Tail: -1, Host: -1}, display.Streams{Out: &out, Err: &out}); err != nil || out.String() != want.String() {
		t.Errorf("%v, %d bytes of %d: %.100q", err, out.Len(), want.Len(), out.String())
	}
	if dials < 3 {
		t.Errorf("%d connections, so none was cut", dials)
	}
	dials = 0
	closed := writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
	err = b.Logs(t.Context(), h, archive, logs.Options{Follow: true, Tail: -1, Host: -1}, display.Both(closed))
	if !errors.Is(err, syscall.EPIPE) || dials != 1 {
		t.Errorf("if nobody reads it: %v after %d connections", err, dials)
	}
	h.BundleSHA256 = "another"
	err = b.Logs(t.Context(), h, archive, logs.Options{Follow: true, Tail: -1, Host: -1}, display.Both(io.Discard))
	if !errors.Is(err, warm.ErrOtherCode) || !strings.Contains(err.Error(), hostID+" ran other code than was sent: "+call.Argv[slices.Index(call.Argv, "--bundle")+1]) {
		t.Errorf("with another bundle: got %v", err)
	}
}

// The lines of all pods are shown with their numbers. What one of them can't be asked for is in the store.
func TestSeveralPods(t *testing.T) {
	addresses := []string{holder(t), holder(t)}
	b, s, h := backend(t, jobtest.Backend{State: api.Running})
	var warned []string
	var others sync.WaitGroup // one whose log is read, and one that can't be reached
	others.Add(2)
	b.Warn = func(text string) {
		warned = append(warned, text)
		others.Done()
	}
	dial := func(number int, closed func()) (*warm.Conn, error) {
		if number == len(addresses) {
			return nil, errors.New("no route")
		}
		way, err := net.Dial("tcp", addresses[number])
		if err != nil {
			return nil, err
		}
		return warm.Connect(closing{way, closed}, []byte(secret), podUID)
	}
	for number := range addresses {
		conn, err := dial(number, func() {})
		if err != nil {
			t.Fatal(err)
		}
		call := command(t, t.TempDir(), "echo", "line of", fmt.Sprint(number))
		h.JobID, h.Hosts = call.ID, len(addresses)+1
		if err := conn.Call(call, nil); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	b.Dial = func(_ context.Context, _ api.Handle, number int) (*warm.Conn, error) {
		if number == 0 { // once its log has ended, Logs waits for the others for two seconds only
			others.Wait()
			return dial(number, func() {})
		}
		return dial(number, sync.OnceFunc(others.Done))
	}
	var out bytes.Buffer
	archive := &logs.Archive{Store: s, JobID: h.JobID}
	o := logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: h.Hosts}
	if err := b.Logs(t.Context(), h, archive, o, display.Streams{Out: &out, Err: &out}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(lines)
	if want := []string{"host-0 │ line of 0", "host-1 │ line of 1"}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	if want := []string{"the rest of the log of host 2 of job call-1 is in the store: no route"}; !slices.Equal(warned, want) {
		t.Errorf("warned %q, want %q", warned, want)
	}
}

// closing is a connection that tells when it is closed.
type closing struct {
	net.Conn
	closed func()
}

func (c closing) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// cut is a connection that ends after some bytes.
type cut struct {
	io.ReadWriteCloser
	left int
}

func (c *cut) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadWriteCloser.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// drained starts a holder with a call, and a backend for it. The holder is told to end when the call has begun.
func drained(t *testing.T, state api.State) (b warm.Backend, h api.Handle, end func()) {
	t.Helper()
	process, address := start(t, program)
	dir := t.TempDir()
	call := command(t, dir, "sh", "-c", "echo begun; sleep 600")
	b, _, h = backend(t, jobtest.Backend{State: state})
	h.JobID, b.Warn = call.ID, func(string) {} // that a host which is ending refuses a connection
	s, err := store.OpenFile("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	h.Store, b.OpenStore = s.URL(), func(string) (store.Store, error) { return s, nil }
	b.Dial = func(context.Context, api.Handle, int) (*warm.Conn, error) {
		way, err := net.Dial("tcp", address)
		if err != nil {
			return nil, warm.ErrNoHost
		}
		return warm.Connect(way, []byte(secret), podUID)
	}
	conn, err := b.Dial(t.Context(), h, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Call(call, nil); err != nil {
		t.Fatal(err)
	}
	return b, h, func() { _ = process.Signal(syscall.SIGTERM) }
}

// The log of a call whose host ends is shown once, as text and as events.
func TestLogOfADrainedHost(t *testing.T) {
	for name, sinks := range map[string]bool{"text": false, "events": true} {
		t.Run(name, func(t *testing.T) { testLogOfADrainedHost(t, sinks) })
	}
}

func testLogOfADrainedHost(t *testing.T, sinks bool) {
	b, h, end := drained(t, api.NotFound)
	s, err := b.OpenStore("")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "begun") {
			end()
		}
		return out.Write(p)
	})
	o, to := logs.Options{Tail: -1, Host: -1, Follow: true}, display.Both(w)
	if sinks {
		o.Sink = func(int) logs.Sink { return logs.Sink{Streams: display.Both(w), Attempt: func(int) {}} }
		to = display.Both(io.Discard)
	}
	if err := b.Logs(t.Context(), h, &logs.Archive{Store: s, JobID: h.JobID}, o, to); err != nil {
		t.Fatal(err)
	}
	if want := "begun\nkinetic: sh was terminated\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// A call can be cancelled while its host ends.
func TestCancelOnADrainedHost(t *testing.T) {
	b, h, end := drained(t, api.Running)
	cancelled := false
	if err := b.Delete(t.Context(), h, api.DeleteOptions{Ending: func() error { end(); cancelled = true; return nil }}); err != nil || !cancelled {
		t.Errorf("cancelled: %v, %v", cancelled, err)
	}
}

func TestStrangers(t *testing.T) {
	conn, err := host(t)("a guess")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := conn.State(t.Context()); err == nil {
		t.Errorf("a stranger was answered: %+v", s)
	}
}

// A host that hangs delays nobody who has no time.
func TestAskingAHostThatHangs(t *testing.T) {
	for name, ask := range map[string]func(*warm.Conn, context.Context) (warm.State, error){"state": (*warm.Conn).State, "reserve": (*warm.Conn).Reserve} {
		way, host := net.Pipe()
		go func() {
			_, _ = host.Write(append([]byte("KWH1"), make([]byte, 32)...))
		}()
		go func() { _, _ = io.Copy(io.Discard, host) }()
		conn, err := warm.Connect(way, []byte(secret), podUID)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if s, err := ask(conn, ctx); err == nil || time.Since(begin) > 10*time.Second {
			t.Errorf("%s: after %s: %+v, %v", name, time.Since(begin), s, err)
		}
	}
}
