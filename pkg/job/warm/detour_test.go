package warm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/storetest"
)

const inbox = `
import sys; sys.path.insert(0, sys.argv[1])
from kinetic_runner.store import open_store
from kinetic_runner.warm.holder import Holder
from kinetic_runner.warm.inbox import Inbox
holder = Holder(b"secret", "uid-1", sys.argv[2], 0, 1000.0, 1000.0)
inbox = Inbox(open_store(sys.argv[3], sys.argv[4]), sys.argv[5], holder.port)
print(holder.port, flush=True)
holder.serve()
inbox.close()
`

// hostWithInbox starts the real holder with the real inbox. It returns the process, the bucket, and a function that connects through that.
func hostWithInbox(t *testing.T) (*os.Process, *storetest.Bucket, func() *warm.Conn) {
	t.Helper()
	bucket := storetest.NewBucket(t)
	process, _ := start(t, inbox, storetest.URL, os.Getenv("STORAGE_EMULATOR_HOST"), store.WarmInbox(hostID, 0))
	return process, bucket, func() *warm.Conn {
		t.Helper()
		s, err := store.Open(storetest.URL)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := warm.ConnectThroughStore(t.Context(), s, hostID, 0, []byte(secret), podUID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

// A connection through the store does all that one to the port does, and leaves nothing there.
func TestThroughTheStore(t *testing.T) {
	_, bucket, dial := hostWithInbox(t)
	conn := dial()
	if s, err := conn.State(t.Context()); err != nil || s.Current != "" || !conn.Slow {
		t.Fatalf("got %+v, %v", s, err)
	}
	const lines = 600_000 // more than may wait for a client
	call := command(t, t.TempDir(), "seq", fmt.Sprint(lines))
	if err := conn.Call(call, nil); err != nil {
		t.Fatal(err)
	}
	var out, want strings.Builder
	for i := range lines {
		fmt.Fprintln(&want, i+1)
	}
	if _, err := conn.Follow(call.ID, -1, logs.NewDecoder(display.Streams{Out: &out, Err: &out}, logs.Options{})); err != nil {
		t.Fatal(err)
	}
	if out.String() != want.String() {
		t.Errorf("%d bytes of %d: %.100q", out.Len(), want.Len(), out.String())
	}
	other := dial()
	if last, err := other.LastLine(call.ID); err != nil || last != fmt.Sprint(lines) {
		t.Errorf("the last line is %q, %v", last, err)
	}
	_, _ = conn.Close(), other.Close()
	for tick := time.NewTicker(10 * time.Millisecond); len(bucket.Objects(t, storetest.Prefix+"warm/")) > 0; { // or until the test takes too long
		<-tick.C
	}
}

// A call that sleeps is cancelled through the store, and its end is told.
func TestCancelThroughTheStore(t *testing.T) {
	_, _, dial := hostWithInbox(t)
	conn, other := dial(), dial()
	call := command(t, t.TempDir(), "sleep", "600")
	if err := conn.Call(call, nil); err != nil {
		t.Fatal(err)
	}
	var busy *warm.BusyError
	second := call
	second.ID = "call-2"
	if err := other.Call(second, nil); !errors.As(err, &busy) || busy.ID != call.ID {
		t.Errorf("got %v", err)
	}
	if err := other.Cancel(call.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Follow(call.ID, -1, io.Discard); err != nil {
		t.Error(err)
	}
}

// A host that is told to end passes on what its call has printed up to then. It reports no end: another pod may run the call again.
func TestLastWordsThroughTheStore(t *testing.T) {
	process, _, dial := hostWithInbox(t)
	conn := dial()
	call := command(t, t.TempDir(), "sh", "-c", "echo begun; sleep 600")
	if err := conn.Call(call, nil); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	begun := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "begun") {
			_ = process.Signal(syscall.SIGTERM)
		}
		return printed.Write(p)
	})
	if _, err := conn.Follow(call.ID, -1, begun); !errors.Is(err, io.EOF) || !strings.Contains(printed.String(), "was terminated") {
		t.Errorf("got %v after %q", err, printed.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A client does not wait for a host that is gone.
func TestNobodyReadsTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.OpenFile("file://" + t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := warm.ConnectThroughStore(context.Background(), s, hostID, 0, []byte(secret), podUID); err == nil || time.Since(began) > time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		var names []string
		for o, err := range s.List(t.Context(), "warm/", "") {
			if err != nil {
				t.Fatal(err)
			}
			_, end, _ := strings.Cut(o.Name[strings.LastIndex(o.Name, "/"):], ".")
			names = append(names, end)
		}
		if want := []string{"0.in", "end"}; !slices.Equal(names, want) {
			t.Errorf("the store has %q, want %q", names, want)
		}
	})
}
