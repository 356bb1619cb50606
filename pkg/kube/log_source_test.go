package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

func TestTheRequestForALog(t *testing.T) {
	tests := map[string]struct {
		o    logs.OpenOptions
		want url.Values
	}{
		"all":           {logs.OpenOptions{}, url.Values{}},
		"followed":      {logs.OpenOptions{Follow: true, Since: at(3).Time}, url.Values{"follow": {"true"}, "sinceTime": {"2026-01-01T00:00:03Z"}}},
		"its end":       {logs.OpenOptions{Tail: 7}, url.Values{"tailLines": {"7"}}},
		"its beginning": {logs.OpenOptions{Limit: 99}, url.Values{"limitBytes": {"99"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got url.Values
			c := clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
				got = r.URL.Query()
				_, _ = io.WriteString(w, r.URL.Path)
			})
			body, err := logSource{New(c), handleOf("a1")}.Open(t.Context(), logs.Pod{Name: "p"}, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(body)
			if want := "/api/v1/namespaces/ml/pods/p/log"; string(text) != want || err != nil {
				t.Errorf("got %q, %v; want %q", text, err, want)
			}
			tt.want.Set("container", api.ContainerName)
			tt.want.Set("timestamps", "true")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// roundTrip is a function that answers requests.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWhyALogCannotBeOpened(t *testing.T) {
	refuses := func(code int, reason metav1.StatusReason) roundTrip {
		return func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			fail(w, code, reason)
			return w.Result(), nil
		}
	}
	away := func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	breaks := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	tests := map[string]struct {
		answer  roundTrip
		reached bool // before
		want    logs.Reason
	}{
		"the pod is gone":                       {refuses(http.StatusNotFound, metav1.StatusReasonNotFound), true, logs.Gone},
		"the node has lost the container":       {refuses(http.StatusBadRequest, metav1.StatusReasonBadRequest), true, logs.Unready},
		"it is forbidden":                       {refuses(http.StatusForbidden, metav1.StatusReasonForbidden), true, logs.Refused},
		"the login has expired":                 {refuses(http.StatusUnauthorized, metav1.StatusReasonUnauthorized), true, logs.Refused},
		"the node does not answer":              {refuses(http.StatusInternalServerError, metav1.StatusReasonInternalError), true, logs.Temporary},
		"there are too many requests":           {refuses(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests), true, logs.Temporary},
		"the API server is restarted":           {away, true, logs.Unanswered},
		"the connection breaks":                 {breaks, true, logs.Unanswered},
		"the API server never could be reached": {away, false, logs.Refused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // client-go repeats some requests
				answer := roundTrip(func(*http.Request) (*http.Response, error) { return httptest.NewRecorder().Result(), nil })
				c, err := NewClient(&rest.Config{Host: "http://api.example", QPS: -1, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					return answer(r)
				})}, "ml", nil)
				if err != nil {
					t.Fatal(err)
				}
				source := logSource{New(c), handleOf("a1")}
				if tt.reached {
					if _, err := source.Open(t.Context(), logs.Pod{Name: "p"}, logs.OpenOptions{}); err != nil {
						t.Fatal(err)
					}
				}
				answer = tt.answer
				_, err = source.Open(t.Context(), logs.Pod{Name: "p"}, logs.OpenOptions{})
				var failure *logs.SourceError
				if !errors.As(err, &failure) || failure.Reason != tt.want || !strings.HasPrefix(err.Error(), "reading the log of pods p in namespace ml: ") {
					t.Errorf("got %#v, %v; want reason %d", failure, err, tt.want)
				}
			})
		})
	}
}

func TestThePodsOfALogSource(t *testing.T) {
	lost := terminated(137, "ContainerStatusUnknown", "")
	lost.Terminated.StartedAt, lost.Terminated.FinishedAt = metav1.Time{}, metav1.Time{}
	leaving := member(1, 3, waiting("ContainerCreating"))
	leaving.DeletionTimestamp, leaving.Spec.TerminationGracePeriodSeconds = new(at(9)), new(int64(30))
	pods := map[types.UID]*corev1.Pod{}
	for _, p := range []corev1.Pod{member(0, 1, lost), leaving, member(0, 4, terminated(0, "Completed", "")), member(1, 5, running(6))} {
		pods[p.UID] = &p
	}
	got := logPods(snapshot{Workload: asWorkload(lws()), pods: pods})
	second := func(n int) time.Time { return at(n).Time }
	want := logs.Pods{Grace: 30*time.Second + noticeTime, List: []logs.Pod{
		{Name: "h0-1", UID: "h0-1", Created: second(1), Ended: true, Lost: true},
		{Name: "h1-3", UID: "h1-3", Host: 1, Created: second(3), Deleted: true},
		{Name: "h0-4", UID: "h0-4", Created: second(4), Started: second(2), Finished: second(5), Ended: true},
		{Name: "h1-5", UID: "h1-5", Host: 1, Created: second(5), Started: second(6), Running: true},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if ended := logPods(snapshot{Workload: asWorkload(job(failedCondition("Complete", "", "")))}); !ended.JobEnded {
		t.Error("a job that is complete has not ended")
	}
}

// fixedPods is a logSource whose pods don't change.
type fixedPods struct {
	logSource
	pods logs.Pods
}

func (f fixedPods) WatchPods(ctx context.Context, seen func(logs.Pods) bool) error {
	if !seen(f.pods) {
		<-ctx.Done()
	}
	return ctx.Err()
}

// stopped is a terminal that accepts no output until it is released.
type stopped struct {
	let <-chan struct{}
	strings.Builder
}

// Write implements io.Writer.
func (s *stopped) Write(p []byte) (int, error) {
	<-s.let
	return s.Builder.Write(p)
}

// While a terminal is stopped, nothing more is read from the hosts. The rest comes afterwards.
func TestAStoppedTerminalHoldsTheHostsBack(t *testing.T) {
	a := &logs.Archive{JobID: "cpu-f", Store: storeOfAnEnd(t), WithoutLog: true}
	synctest.Test(t, func(t *testing.T) {
		const number, size, piece = 16, 2 << 20, 16 << 10
		line := func(second int, text string) string {
			return fmt.Sprintf("2026-01-01T00:00:%02d.000000000Z %s\n", second, text)
		}
		text := strings.Repeat(line(1, strings.Repeat("x", 1000)), size/1000)
		var sent atomic.Int64
		client := overPipes(t, func(w http.ResponseWriter, r *http.Request) {
			log := text
			if strings.Contains(r.URL.Path, "h0-1") {
				log += line(2, records.EndLine("cpu-f"))
			}
			for len(log) > 0 && r.URL.Query().Get("follow") == "" {
				n, err := io.WriteString(w, log[:min(len(log), piece)])
				if err != nil {
					return
				}
				sent.Add(int64(n))
				log = log[n:]
			}
		})
		source := fixedPods{logSource: logSource{New(client), handleOf("cpu-f")}}
		for host := range number {
			name := fmt.Sprintf("h%d-1", host)
			source.pods.List = append(source.pods.List, logs.Pod{Name: name, UID: name, Host: host, Created: at(1).Time, Started: at(2).Time, Running: true})
		}
		let := make(chan struct{})
		out := &stopped{let: let}
		done := make(chan error, 1)
		go func() {
			done <- logs.Read(t.Context(), source, a, logs.Options{Follow: true, Tail: -1, Host: -1, Hosts: number}, display.Both(out))
		}()
		synctest.Wait() // until all of them wait for the terminal
		if n := sent.Load(); n == 0 || n > number*2*apiserver.MaxUnread {
			t.Errorf("the hosts have sent %d bytes to a terminal that is stopped, want at most %d", n, number*2*apiserver.MaxUnread)
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

// storeOfAnEnd returns a store that has the end of the job cpu-f.
func storeOfAnEnd(t *testing.T) store.Store {
	t.Helper()
	s, err := store.OpenFile("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	end := strings.NewReader(`{"version":1,"state":"SUCCEEDED","reason":"Completed"}`)
	if err := s.Create(t.Context(), store.End("cpu-f"), end, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// overPipes returns a client whose requests a handler answers over HTTP/2, as the API
// server does, but without a network.
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
