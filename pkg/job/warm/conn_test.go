package warm_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
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
	runner, err := filepath.Abs("../../../runner")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", program, runner, t.TempDir())
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
	return func(secret string) (*warm.Conn, error) {
		way, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strings.TrimSpace(port)))
		if err != nil {
			t.Fatal(err)
		}
		return warm.Connect(way, []byte(secret), podUID)
	}
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

func TestCall(t *testing.T) {
	connect, dir := host(t), t.TempDir()
	var index bytes.Buffer
	zipped := gzip.NewWriter(&index)
	fmt.Fprint(zipped, `{"version":2,"files":[],"dirs":[],"blobs":[]}`)
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	call := api.WarmCall{ID: "call-1", Environ: map[string]string{}, Argv: []string{"--store", "file://" + dir, "--work", t.TempDir(),
		"--call", putFile(t, dir, "call-1/call.json", []byte(`{"version":1,"kind":"command","args":["printf","one\\ntwo\\n"],"cwd":""}`)),
		"--bundle", putFile(t, dir, "blobs/sha256/HASH", index.Bytes())}}
	conn, err := connect(secret)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := conn.State(); err != nil || s.Calls != 0 || s.Current != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := conn.Call(call, func() { t.Error("it waits") }); err != nil {
		t.Fatal(err)
	}
	again, err := connect(secret)
	if err != nil {
		t.Fatal(err)
	}
	var out, tail bytes.Buffer
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

func TestStrangers(t *testing.T) {
	conn, err := host(t)("a guess")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := conn.State(); err == nil {
		t.Errorf("a stranger was answered: %+v", s)
	}
}

func TestKeys(t *testing.T) {
	keys := warm.Keys{Dir: filepath.Join(t.TempDir(), "warm")}
	if got := keys.Recall("cpu-warm-1"); got != nil {
		t.Errorf("got %x", got)
	}
	if err := keys.Remember("cpu-warm-1", []byte(secret)); err != nil {
		t.Fatal(err)
	}
	if got := keys.Recall("cpu-warm-1"); string(got) != secret {
		t.Errorf("got %q", got)
	}
}
