package podconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// Container is a container of a pod.
type Container struct{ Namespace, Pod, Name string }

// Streams are those of the program. With a terminal, ErrOut gets nothing: a terminal has one stream.
type Streams struct {
	In          io.Reader
	Out, ErrOut io.Writer
	// Sizes are those of the terminal, now and when they change; nil for none.
	Sizes remotecommand.TerminalSizeQueue
}

// Exec runs a program in a container until it ends, the connection breaks or ctx is done, and returns its exit code. It
// asks for a WebSocket, which proxies let through, and for SPDY if the server refuses that. A refusal of the API server
// is a StatusError.
func Exec(ctx context.Context, config *rest.Config, c Container, argv []string, s Streams) (int, error) {
	kept := &apiserver.Refusal{}
	executor, err := executorFor(config, address{c, argv, s.Sizes != nil}, kept)
	if err != nil {
		return 0, fmt.Errorf("preparing to run a program in pod %s: %w", c.Pod, err)
	}
	options := remotecommand.StreamOptions{Stdin: s.In, Stdout: s.Out, Stderr: s.ErrOut, Tty: s.Sizes != nil, TerminalSizeQueue: s.Sizes}
	if options.Tty {
		options.Stderr = nil
	}
	err = executor.StreamWithContext(ctx, options)
	var exit utilexec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitStatus(), nil
	case err != nil && kept.Status != nil:
		return 0, kept.Status
	case err != nil && ctx.Err() != nil: // client-go's own error does not wrap it while it dials
		return 0, ctx.Err()
	}
	return 0, err
}

type address struct {
	container Container
	argv      []string
	terminal  bool
}

func (a address) url(server *url.URL) *url.URL {
	at := server.JoinPath("api", "v1", "namespaces", a.container.Namespace, "pods", a.container.Pod, "exec")
	at.RawQuery = url.Values{
		"container": {a.container.Name}, "command": a.argv, "stdin": {"true"}, "stdout": {"true"},
		"stderr": {strconv.FormatBool(!a.terminal)}, "tty": {strconv.FormatBool(a.terminal)},
	}.Encode()
	return at
}

func executorFor(config *rest.Config, a address, kept *apiserver.Refusal) (remotecommand.Executor, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	at := a.url(server)
	socket, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, at.String())
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	kept.RoundTripper = transport
	plain, err := remotecommand.NewSPDYExecutorForTransports(kept, upgrader, http.MethodPost, at)
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(socket, plain, noSocket)
}
