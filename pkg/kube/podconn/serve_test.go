package podconn_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	clientportforward "k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

var debugger = podconn.Port{Namespace: "research", Pod: "train-x", Number: 5678}

// cluster is an API server with one pod, which speaks SPDY, and WebSockets only if it has
// sockets. What listens in the pod greets who connects, and repeats what it hears; nothing does where
// refuses says why.
type cluster struct {
	refuses string
	sockets bool
	breaks  chan struct{} // the connection, when it is closed
	silent  func()        // is called in place of an answer to a stream
	paths   []string
}

func (c *cluster) start(t *testing.T) *rest.Config {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func (c *cluster) dialer(t *testing.T) func(context.Context) (*podconn.Conn, error) {
	config := c.start(t)
	return func(ctx context.Context) (*podconn.Conn, error) { return podconn.Dial(ctx, config, debugger) }
}

// ServeHTTP implements http.Handler.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.paths = append(c.paths, r.Method+" "+r.URL.Path)
	if c.sockets && r.Method == http.MethodGet {
		upgrader := websocket.Upgrader{Subprotocols: []string{"SPDY/3.1+portforward.k8s.io"}}
		socket, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		streams := make(chan httpstream.Stream, 2)
		way, err := spdy.NewServerConnection(clientportforward.NewTunnelingConnection("server", socket), func(s httpstream.Stream, _ <-chan struct{}) error {
			if c.silent != nil {
				c.silent()
			}
			streams <- s
			return nil
		})
		if err == nil {
			c.answer(way, streams)
		}
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/api/v1/namespaces/research/pods/train-x/portforward" {
		http.Error(w, "no WebSockets here", http.StatusBadRequest)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 2)
	way := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		streams <- s
		return nil
	})
	if way != nil {
		c.answer(way, streams)
	}
}

// answer is what the pod does.
func (c *cluster) answer(way httpstream.Connection, streams <-chan httpstream.Stream) {
	defer way.Close()
	complaints, data := <-streams, <-streams
	if data.Headers().Get(corev1.StreamType) == corev1.StreamTypeError { // they come in any order
		complaints, data = data, complaints
	}
	if kinds := complaints.Headers().Get(corev1.StreamType) + data.Headers().Get(corev1.StreamType) + data.Headers().Get(corev1.PortHeader); kinds != "errordata5678" {
		c.refuses = "these are no streams of a forwarded port: " + kinds
	}
	if c.breaks != nil {
		fmt.Fprintln(data, "hello")
		<-c.breaks
		return
	}
	if c.refuses != "" {
		fmt.Fprint(complaints, c.refuses)
	} else {
		fmt.Fprintln(data, "hello")
		_, _ = io.Copy(data, data)
		_ = data.Close()
	}
	_ = complaints.Close()
	<-way.CloseChan()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A server without WebSockets, or who doesn't allow them, is asked for SPDY.
func TestAnswers(t *testing.T) {
	c := &cluster{}
	if err := podconn.Answers(t.Context(), c.dialer(t)); err != nil {
		t.Error(err)
	}
	if len(c.paths) != 2 || c.paths[0][:4] != "GET " || c.paths[1][:5] != "POST " {
		t.Errorf("the server was asked %q", c.paths)
	}
}

func TestAWebSocket(t *testing.T) {
	c := &cluster{sockets: true}
	if err := podconn.Answers(t.Context(), c.dialer(t)); err != nil {
		t.Error(err)
	}
	if len(c.paths) != 1 {
		t.Errorf("the server was asked %q", c.paths)
	}
}

func TestNothingListens(t *testing.T) {
	c := &cluster{refuses: "connection refused"}
	var refused *podconn.RefusedError
	if err := podconn.Answers(t.Context(), c.dialer(t)); !errors.As(err, &refused) || refused.Said != "connection refused" {
		t.Errorf("got %v", err)
	}
}

func TestNoAnswerAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := podconn.Answers(ctx, (&cluster{}).dialer(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A node that does not answer holds up nobody who has stopped waiting.
func TestInterruptOfASilentNode(t *testing.T) {
	asked, end := make(chan bool, 2), make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	dial := (&cluster{sockets: true, silent: func() { asked <- true; <-end }}).dialer(t)
	t.Cleanup(func() { close(end) })
	go func() {
		<-asked
		cancel()
	}()
	if _, err := dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// What the API server says of a refusal is kept for who explains it.
func TestForbidden(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"user cannot create","code":403}`)
	}))
	defer server.Close()
	if _, err := podconn.Dial(t.Context(), &rest.Config{Host: server.URL}, debugger); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := listen(t)
	ended := make(chan error, 1)
	dial := (&cluster{}).dialer(t)
	go func() { ended <- podconn.Serve(ctx, l, dial, func(err error) { t.Error(err) }) }()
	for range 2 { // one connection after the other
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(conn, "a word")
		lines := bufio.NewReader(conn)
		for _, want := range []string{"hello\n", "a word\n"} {
			if line, err := lines.ReadString('\n'); line != want {
				t.Errorf("got %q, %v, want %q", line, err, want)
			}
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Error(err)
		}
		if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
			t.Errorf("got %q, %v after the end", rest, err)
		}
		_ = conn.Close()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve ended with %v", err)
	}
}

func TestServeTellsThatAConnectionBroke(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := listen(t)
	told := make(chan error, 1)
	breaks := make(chan struct{})
	dial := (&cluster{breaks: breaks}).dialer(t)
	go func() { _ = podconn.Serve(ctx, l, dial, func(err error) { told <- err }) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	if line, err := lines.ReadString('\n'); line != "hello\n" {
		t.Errorf("got %q, %v", line, err)
	}
	close(breaks)
	if rest, _ := io.ReadAll(lines); len(rest) > 0 {
		t.Errorf("got %q after the end", rest)
	}
	if got := (<-told).Error(); got != "the connection to port 5678 of pod train-x was lost; the next request opens a new one" {
		t.Errorf("told %q", got)
	}
}

func TestServeTellsWhatFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := listen(t)
	told := make(chan error, 1)
	dial := (&cluster{refuses: "connection refused"}).dialer(t)
	go func() { _ = podconn.Serve(ctx, l, dial, func(err error) { told <- err }) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if data, _ := io.ReadAll(conn); len(data) > 0 {
		t.Errorf("got %q", data)
	}
	if got := (<-told).Error(); got != "nothing listens on port 5678 of pod train-x: connection refused" {
		t.Errorf("told %q", got)
	}
}
