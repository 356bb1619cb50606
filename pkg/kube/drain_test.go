package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

// stopped is a terminal that takes nothing until it is let.
type stopped struct {
	let <-chan struct{}
	strings.Builder
}

// Write implements io.Writer.
func (s *stopped) Write(p []byte) (int, error) {
	<-s.let
	return s.Builder.Write(p)
}

// While a terminal is stopped, the hosts are held back: what they have printed stays
// where it is, and comes afterwards.
func TestAStoppedTerminalHoldsTheHostsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const number, size = 16, 2 << 20
		text := strings.Repeat(line(1, 0, strings.Repeat("x", 1000)), size/1000)
		var sent atomic.Int64
		client := overPipes(t, func(w http.ResponseWriter, r *http.Request) {
			log := text
			if strings.Contains(r.URL.Path, "h0-1") {
				log += line(2, 0, logs.EndLine("cpu-f"))
			}
			for len(log) > 0 && r.URL.Query().Get("follow") == "" {
				n, err := io.WriteString(w, log[:min(len(log), blockSize)])
				if err != nil {
					return
				}
				sent.Add(int64(n))
				log = log[n:]
			}
		})
		o := logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: number, Ended: func(context.Context) bool { return true }}
		r := &reader{workload: New(client), id: "cpu-f", options: o, board: newBoard(nil, false)}
		var pods []corev1.Pod
		for host := range number {
			pods = append(pods, member(host, 1, running(2)))
		}
		r.board.post(stands(pods...))
		let := make(chan struct{})
		out := &stopped{let: let}
		done := make(chan error, 1)
		go func() { done <- r.all(t.Context(), screen.Both(out), r.follow) }()
		synctest.Wait() // until all of them wait for the terminal
		if n := sent.Load(); n == 0 || n > number*2*transport.MaxUnread {
			t.Errorf("the hosts have sent %d bytes to a terminal that is stopped, want at most %d", n, number*2*transport.MaxUnread)
		}
		close(let)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(out.String(), "\n"), number*strings.Count(text, "\n"); got != want {
			t.Errorf("%d lines, want %d", got, want)
		}
	})
}

// overPipes is a client whose requests a handler answers over HTTP/2, as the API
// server does, but with no network between.
func overPipes(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	closed := make(chan struct{})
	pipes := pipes{made: make(chan net.Conn), closed: closed, end: sync.OnceFunc(func() { close(closed) })}
	server := httptest.NewUnstartedServer(handler)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener, server.EnableHTTP2 = pipes, true
	server.StartTLS()
	t.Cleanup(server.Close)
	config := &rest.Config{Host: "https://api.example", QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, Dial: pipes.dial}
	client, err := NewClient(config, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// pipes is a listener whose connections are pipes.
type pipes struct {
	made   chan net.Conn
	closed <-chan struct{}
	end    func()
}

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.made <- there
	return here, nil
}

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p pipes) Close() error {
	p.end()
	return nil
}

// Addr implements net.Listener.
func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// A reader may take his time after the end of a job as well.
func TestAReaderWhoIsSlowAtTheEndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat(line(1, 0, "a line"), 5*blockSize/len(line(1, 0, "a line")))
		c := clientOf(t, "ml", hosts{map[string]string{"h0-1": text}}.ServeHTTP)
		r := &reader{workload: New(c), id: "cpu-f", options: logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: 1}, board: newBoard(nil, false)}
		r.board.post(stands(member(0, 1, running(2))))
		lines := 0
		err := r.all(t.Context(), screen.Both(writerFunc(func(p []byte) (int, error) {
			r.board.finish()
			<-time.After(3 * drainTime) // of the bubble
			lines += bytes.Count(p, []byte{'\n'})
			return len(p), nil
		})), r.follow)
		if want := strings.Count(text, "\n"); err != nil || lines != want {
			t.Errorf("%d lines, %v; want %d", lines, err, want)
		}
	})
}

// A node that says nothing any more is not waited for for ever.
func TestAHostThatIsSilentAtTheEndIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, "ml", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		r := &reader{workload: New(c), id: "cpu-f", options: logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: 1}, board: newBoard(nil, false)}
		r.board.post(stands(member(0, 1, running(2))))
		r.board.finish()
		if err := r.all(t.Context(), screen.Both(io.Discard), r.follow); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// The pods of other hosts change all the time, and this host's part of the store does
// not.
func TestTheStoreIsAskedNowAndThenAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asks atomic.Int32
		o := logs.Options{Tail: -1, Rest: func(_ context.Context, p logs.Point, _ io.Writer) (logs.Point, error) {
			asks.Add(1)
			return p, nil
		}}
		hold := func(want int32, when string) {
			t.Helper()
			if synctest.Wait(); asks.Load() != want {
				t.Errorf("%s it was asked %d times, want %d", when, asks.Load(), want)
			}
		}
		b := newBoard(nil, false)
		b.post(stands(member(0, 1, running(2))))
		done := make(chan error, 1)
		go func() { done <- followStored(t.Context(), t.Context(), b, &stream{uid: "h0-1", options: o}) }()
		hold(1, "at first")
		for made := range 10 {
			b.post(stands(member(0, 1, running(2)), member(1, made, waiting(""))))
			hold(1, "when another pod has changed")
		}
		<-time.After(storedAgain)
		hold(2, "a while later")
		b.post(stands(member(0, 1, terminated(0, "", ""))))
		hold(3, "when the container has ended")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// writerFunc is a function that is a writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
