package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/podconn"
)

// Ports are a port of this machine, 0 for any free one, and the port of a job to which it leads.
type Ports struct{ Local, Remote int }

// ParsePorts reads LOCAL[:REMOTE]. Without REMOTE it is the same as LOCAL; without LOCAL that is any free port.
func ParsePorts(text string) (Ports, error) {
	before, after, two := strings.Cut(text, ":")
	if !two {
		after = before
	}
	if before == "" {
		before = "0"
	}
	const most = 1<<16 - 1
	local, err1 := strconv.Atoi(before)
	remote, err2 := strconv.Atoi(after)
	switch {
	case err1 != nil || err2 != nil || local < 0 || local > most || remote < 0 || remote > most:
		return Ports{}, fmt.Errorf("%q: expected LOCAL[:REMOTE], such as 6006, 8080:80, or 0:6006 for any free port", text)
	case remote == 0 && !two:
		return Ports{}, fmt.Errorf("%q: which port of the job? For any free port here, write 0:REMOTE, such as 0:6006", text)
	case remote == 0:
		return Ports{}, fmt.Errorf("%q: a job has no port 0", text)
	}
	return Ports{local, remote}, nil
}

// Tunnel leads from a port of this machine to a port of a job.
type Tunnel struct {
	// Local is the port of this machine, Remote that of the job.
	Local, Remote int

	listener net.Listener
	pod      *parallel.Value[kube.Pod] // in which the host is running
	mu       sync.Mutex
	last     string // what was said last
}

// Listen opens the port of this machine, on the loopback address.
func Listen(p Ports) (*Tunnel, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Local)))
	if platform.IsInUse(err) {
		return nil, fmt.Errorf("port %d: already in use on this machine: choose another, as in %d:%d, or any free one with 0:%[3]d", p.Local, p.Local+1, p.Remote)
	}
	if err != nil {
		return nil, fmt.Errorf("port %d: %w", p.Local, err)
	}
	return &Tunnel{Local: l.Addr().(*net.TCPAddr).Port, Remote: p.Remote, listener: l, pod: parallel.NewValue(kube.Pod{})}, nil
}

// Address returns the address on this machine.
func (t *Tunnel) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(t.Local)) }

// Close closes the port of this machine.
func (t *Tunnel) Close() { _ = t.listener.Close() }

// Serve forwards connections to a host of a job until ctx is done, whatever pod it is running in. A connection waits
// while there is none. Serve calls say with a line when the pod has changed, and when a connection has failed. It returns
// an error at once without the right to forward ports.
func (t *Tunnel) Serve(ctx context.Context, host *Host, say func(string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		var before kube.Pod
		err := host.cluster.WatchPod(ctx, host.handle, host.number, func(now kube.Pod) bool {
			if text := changed(before, now); text != "" {
				say(text)
			}
			if now != (kube.Pod{}) {
				before = now
			}
			t.pod.Set(now)
			return false
		})
		cancel(err)
	}()
	dial := func(ctx context.Context) (*podconn.Conn, error) { return t.dial(ctx, host) }
	first, err := dial(ctx)
	if err == nil {
		_ = first.Close()
	}
	if apierrors.IsForbidden(err) {
		return err
	}
	err = podconn.Serve(ctx, t.listener, dial, func(err error) { t.failed(err, say) })
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// changed says that a host is running in another pod; "" for the first one.
func changed(before, now kube.Pod) string {
	switch {
	case before == (kube.Pod{}) || now == before:
		return ""
	case now == (kube.Pod{}):
		return fmt.Sprintf("pod %s is no longer running: connections wait for the next one", before.Name)
	default:
		return fmt.Sprintf("forwarding to pod %s now", now.Name)
	}
}

// dial connects to the port in the pod in which the host is running, or will be.
func (t *Tunnel) dial(ctx context.Context, host *Host) (*podconn.Conn, error) {
	for {
		now, changed := t.pod.Get()
		if now.Value != (kube.Pod{}) {
			return host.dialPod(ctx, now.Value, t.Remote)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// failed says why a connection has failed, once if it is the same for many.
func (t *Tunnel) failed(err error, say func(string)) {
	text := err.Error()
	if refused, ok := errors.AsType[*podconn.RefusedError](err); ok { // what its node adds is long and says no more
		text = fmt.Sprintf("nothing listens on port %d of pod %s yet", refused.Port.Number, refused.Port.Pod)
	}
	t.mu.Lock()
	repeated := text == t.last
	t.last = text
	t.mu.Unlock()
	if !repeated {
		say(text)
	}
}
