package run

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
)

// fakeHost is a host's end of a connection.
type fakeHost struct {
	net.Conn
	key     []byte
	written uint64
}

// The kinds of frames that a call needs.
const (
	frameCall   byte = 1
	frameCancel byte = 5
	frameState  byte = 8
)

// connectTo returns a connection to a host that answers on it.
func connectTo(t *testing.T, answer func(*fakeHost)) *warm.Conn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	go func() {
		if _, err := io.WriteString(far, greeting); err != nil {
			return
		}
		nonce := make([]byte, len(greeting))
		if _, err := io.ReadFull(far, nonce); err != nil {
			return
		}
		root := hmacOf([]byte("key"), "kinetic warm 1\x00uid"+greeting[4:]+string(nonce[4:]))
		answer(&fakeHost{Conn: far, key: hmacOf(root, "holder")})
	}()
	conn, err := warm.Connect(near, []byte("key"), "uid")
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func hmacOf(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// receive returns the kind of the next frame, 0 if the client has hung up.
func (h *fakeHost) receive() byte {
	head := make([]byte, 13)
	if _, err := io.ReadFull(h, head); err != nil {
		return 0
	}
	_, _ = io.CopyN(io.Discard, h, int64(binary.BigEndian.Uint32(head))+sha256.Size)
	return head[4]
}

func (h *fakeHost) say(state string) {
	payload := `{"state":"` + state + `"}`
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	frame = binary.BigEndian.AppendUint64(append(frame, frameState), h.written)
	frame = append(frame, payload...)
	h.written++
	_, _ = h.Write(append(frame, hmacOf(h.key, string(frame))...))
}

// queueAndBreak lets a call wait, and loses the connection.
func queueAndBreak(h *fakeHost) {
	h.receive()
	h.say("queued")
	_ = h.Close()
}

// A call that waits for a host is cancelled on the connection that took the place of a broken one.
func TestInterruptedAfterAReconnect(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var got []byte
	dial := func() (*warm.Conn, error) {
		return connectTo(t, func(h *fakeHost) {
			got = append(got, h.receive())
			h.say("queued")
			got = append(got, h.receive())
			h.say("unknown")
		}), nil
	}
	waited := 0
	queued := func() {
		if waited++; waited == 2 {
			interrupt()
		}
	}
	err := giveOn(ctx, connectTo(t, queueAndBreak), dial, api.WarmCall{ID: "call-1"}, queued)
	if !errors.Is(err, warm.ErrUnknown) || string(got) != string([]byte{frameCall, frameCancel}) {
		t.Errorf("%v after frames of the kinds %v, want a call and its cancellation", err, got)
	}
}

// An interrupt while the second connection is made keeps the call from being given again.
func TestInterruptedWhileReconnecting(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	got := make(chan byte, 1)
	dial := func() (*warm.Conn, error) {
		conn := connectTo(t, func(h *fakeHost) { got <- h.receive(); _ = h.Close() })
		interrupt()
		return conn, nil
	}
	err := giveOn(ctx, connectTo(t, queueAndBreak), dial, api.WarmCall{ID: "call-1"}, func() {})
	if err == nil {
		t.Error("the call counts as given")
	}
	select {
	case kind := <-got:
		t.Errorf("the host got a frame of the kind %d", kind)
	default: // its greeting is still awaited: nothing was sent
	}
}

// What else ends a call that is given: its beginning, or what no further connection changes.
func TestGivenOnAnotherConnection(t *testing.T) {
	lost := errors.New("there is no pod")
	for name, tt := range map[string]struct {
		answer string
		dial   error
		want   string
	}{
		"it begins":         {answer: "running", want: ""},
		"it is refused":     {answer: "refused", want: "takes no further call"},
		"the pod has ended": {dial: lost, want: "EOF"},
	} {
		dial := func() (*warm.Conn, error) {
			if tt.dial != nil {
				return nil, tt.dial
			}
			return connectTo(t, func(h *fakeHost) { h.receive(); h.say(tt.answer) }), nil
		}
		err := giveOn(t.Context(), connectTo(t, queueAndBreak), dial, api.WarmCall{ID: "call-1"}, func() {})
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// A call that another process has cancelled while it waited is not given again.
func TestCancelledWhileWaiting(t *testing.T) {
	conn := connectTo(t, func(h *fakeHost) {
		h.receive()
		h.say("queued")
		h.say("unknown")
	})
	dial := func() (*warm.Conn, error) {
		t.Error("another connection is made")
		return nil, io.EOF
	}
	if err := giveOn(t.Context(), conn, dial, api.WarmCall{ID: "call-1"}, func() {}); !errors.Is(err, warm.ErrUnknown) {
		t.Errorf("got %v, want %v", err, warm.ErrUnknown)
	}
}

// A call that no frame can hold is refused before anything of it is stored or sent.
func TestCallTooLargeForAHost(t *testing.T) {
	r := warmRun{options: &options{}}
	r.planned.Spec.Env = []api.EnvVar{{Name: "TABLE", Value: strings.Repeat("é", warm.CallLimit/2)}}
	conn := connectTo(t, func(h *fakeHost) {
		if kind := h.receive(); kind != 0 {
			t.Errorf("the host got a frame of the kind %d", kind)
		}
	})
	err := r.ring(t.Context(), candidate{connection: connection{conn: conn}})
	if cli.CodeOf(err) != cli.ExitUsage || !strings.Contains(err.Error(), "a warm host takes 1048576 at most") || errors.Is(err, api.ErrMayRun) {
		t.Errorf("got %v", err)
	}
}
