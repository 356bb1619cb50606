// Package podconn connects to pods through the API server: it forwards a port to this machine, as
// kubectl port-forward does, and runs a program in a container, as kubectl exec does.
//
// Each connection to a port goes through the API server separately, so that a broken one does not
// affect the others, and the next may lead to another pod.
package podconn

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// Port is a port of a pod.
type Port struct {
	Namespace, Pod string
	Number         int
}

// RefusedError means that the pod was reached, but nothing in it listens on the port.
type RefusedError struct {
	Port Port
	// Said is the message of the pod's node, "" for none.
	Said string
}

func (e *RefusedError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("nothing listens on port %d of pod %s: %s", e.Port.Number, e.Port.Pod, e.Said), ": ")
}

// LostError means that a connection broke which neither end has closed.
type LostError struct{ Port Port }

func (e *LostError) Error() string {
	return fmt.Sprintf("the connection to port %d of pod %s was lost; the next request opens a new one", e.Port.Number, e.Port.Pod)
}

// Conn is a connection to a port of a pod.
type Conn struct {
	port    Port
	way     httpstream.Connection
	data    httpstream.Stream
	refused chan *RefusedError
}

// Dial connects to a port. If nothing listens there, the first Read returns a RefusedError.
// Errors of Dial itself come from the API server.
func Dial(ctx context.Context, config *rest.Config, p Port) (*Conn, error) {
	way, err := open(ctx, config, p)
	if err != nil {
		return nil, err
	}
	c := &Conn{port: p, way: way, refused: make(chan *RefusedError, 1)}
	begun := make(chan error, 1)
	go func() { begun <- c.begin(p) }()
	select {
	case err = <-begun:
	case <-ctx.Done(): // a stream waits for half a minute
		err = ctx.Err()
	}
	if err != nil {
		_ = way.Close()
		return nil, fmt.Errorf("opening port %d of pod %s: %w", p.Number, p.Pod, err)
	}
	return c, nil
}

// open opens a connection for streams to a pod: a WebSocket, which proxies let through, or
// SPDY if the server refuses that. The dialer for SPDY takes no context, so open returns without
// it when ctx is done.
func open(ctx context.Context, config *rest.Config, p Port) (httpstream.Connection, error) {
	kept := &apiserver.Refusal{}
	dialer, err := dialerTo(ctx, config, p, kept)
	if err != nil {
		return nil, fmt.Errorf("preparing to forward port %d of pod %s: %w", p.Number, p.Pod, err)
	}
	type opened struct {
		way httpstream.Connection
		err error
	}
	done := make(chan opened, 1)
	go func() {
		way, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		if err != nil && kept.Status != nil {
			err = kept.Status
		}
		done <- opened{way, err}
	}()
	select {
	case o := <-done:
		return o.way, o.err
	case <-ctx.Done():
		go func() {
			if late := <-done; late.err == nil {
				_ = late.way.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

func dialerTo(ctx context.Context, config *rest.Config, p Port, kept *apiserver.Refusal) (httpstream.Dialer, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	url := server.JoinPath("api", "v1", "namespaces", p.Namespace, "pods", p.Pod, "portforward")
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	kept.RoundTripper = transport
	plain := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: kept}, http.MethodPost, url)
	return portforward.NewFallbackDialerForStreaming(socketDialer{ctx, config, url}, plain, noSocket), nil
}

// noSocket reports whether a server, or a proxy before it, refuses WebSockets.
func noSocket(err error) bool {
	return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
}

// begin creates the two streams of a connection, one for errors and one for the data. They are created at the same time, because
// each waits for an answer of the pod's node.
func (c *Conn) begin(p Port) error {
	create := func(kind string) (httpstream.Stream, error) {
		header := http.Header{}
		header.Set(corev1.PortHeader, strconv.Itoa(p.Number))
		header.Set(corev1.PortForwardRequestIDHeader, "0")
		header.Set(corev1.StreamType, kind)
		return c.way.CreateStream(header)
	}
	var complaints httpstream.Stream
	var g errgroup.Group
	g.Go(func() (err error) {
		complaints, err = create(corev1.StreamTypeError)
		return err
	})
	g.Go(func() (err error) {
		c.data, err = create(corev1.StreamTypeData)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	_ = complaints.Close() // this side sends nothing on it
	go func() {
		said, _ := io.ReadAll(complaints)
		if len(said) > 0 {
			c.refused <- &RefusedError{p, string(said)}
			_ = c.data.Reset() // the data may never end otherwise
		}
		close(c.refused)
	}()
	return nil
}

func (c *Conn) Read(data []byte) (int, error) {
	n, err := c.data.Read(data)
	if err == nil {
		return n, nil
	}
	if refused := <-c.refused; refused != nil {
		return n, refused
	}
	return n, err
}

func (c *Conn) Write(data []byte) (int, error) { return c.data.Write(data) }

// lostTime is how long it may take until a connection that was lost is known to be: its streams end first.
const lostTime = time.Second

// lost returns an error if the connection has ended, and not only its data.
func (c *Conn) lost(ctx context.Context) error {
	select {
	case <-c.way.CloseChan():
		return &LostError{c.port}
	case <-time.After(lostTime):
	case <-ctx.Done():
	}
	return nil
}

// CloseWrite ends the data that is sent to the other side.
func (c *Conn) CloseWrite() error { return c.data.Close() }

// Close implements io.Closer.
func (c *Conn) Close() error { return c.way.Close() }
