package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
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
	const (
		number, size = 16, 2 << 20
		// A server sends before it is read: what we allow, and what is on the way.
		most = number*unread + 8<<20
	)
	text := strings.Repeat(line(1, 0, strings.Repeat("x", 1000)), size/1000)
	var sent atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	client, err := NewClient(&rest.Config{Host: server.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: number, Ended: func(context.Context) bool { return true }}
	r := &reader{workload: New(client, nil), id: "cpu-f", options: o, board: newBoard(nil, false)}
	var pods []corev1.Pod
	for host := range number {
		pods = append(pods, member(host, 1, running(2)))
	}
	r.board.post(stands(pods...))
	let := make(chan struct{})
	out := &stopped{let: let}
	done := make(chan error, 1)
	go func() { done <- r.all(t.Context(), out, r.follow) }()
	for before := int64(-1); sent.Load() == 0 || sent.Load() != before; {
		before = sent.Load()
		time.Sleep(200 * time.Millisecond)
	}
	if n := sent.Load(); n > most {
		t.Errorf("the hosts have sent %d bytes to a terminal that is stopped, want at most %d", n, most)
	}
	close(let)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out.String(), "\n"), number*strings.Count(text, "\n"); got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
}

// A reader may take his time after the end of a job as well.
func TestAReaderWhoIsSlowAtTheEndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat(line(1, 0, "a line"), 5*blockSize/len(line(1, 0, "a line")))
		c := clientOf(t, "ml", hosts{map[string]string{"h0-1": text}}.ServeHTTP)
		r := &reader{workload: New(c, nil), id: "cpu-f", options: logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: 1}, board: newBoard(nil, false)}
		r.board.post(stands(member(0, 1, running(2))))
		lines := 0
		err := r.all(t.Context(), writerFunc(func(p []byte) (int, error) {
			r.board.finish()
			time.Sleep(3 * drainTime) // of the bubble
			lines += bytes.Count(p, []byte{'\n'})
			return len(p), nil
		}), r.follow)
		if want := strings.Count(text, "\n"); err != nil || lines != want {
			t.Errorf("%d lines, %v; want %d", lines, err, want)
		}
	})
}

// A node that says nothing any more is not waited for for ever.
func TestAHostThatIsSilentAtTheEndIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, "ml", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		r := &reader{workload: New(c, nil), id: "cpu-f", options: logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: 1}, board: newBoard(nil, false)}
		r.board.post(stands(member(0, 1, running(2))))
		r.board.finish()
		if err := r.all(t.Context(), io.Discard, r.follow); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// writerFunc is a function that is a writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
