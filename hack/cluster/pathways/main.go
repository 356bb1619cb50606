// Command pathways is a stand-in for the two servers of Pathways, whose images can't be had here. It
// takes the flags that Google's take, listens where they listen, and counts workers. It computes nothing:
// what a test sees with it holds for the pods, their order, names and ends, and not for Pathways. The name of
// the program says which of them it is:
//
//	server FLAG…         a resource manager with --node_type=resource_manager, a worker otherwise
//	proxy_server FLAG…   a proxy
//
// All of them speak lines of text. A worker says to the resource manager who it is, and is there as long as
// its connection is. A client that sends watch to the resource manager, or nothing to the proxy, is told how
// many workers and chips are there, at once and whenever that changes:
//
//	1/2 workers 4/8 chips
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, filepath.Base(os.Args[0]), os.Args[1:], os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pathways stand-in: "+err.Error())
		os.Exit(1)
	}
}

// run runs a part until the context is done.
func run(ctx context.Context, part string, args []string, env func(string) string, out io.Writer) error {
	f, err := parse(part, args)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "stand-in for the Pathways %s, flags: %s\n", f.role, strings.Join(args, " "))
	port, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("", strconv.Itoa(f.port)))
	if err != nil {
		return err
	}
	switch f.role {
	case manager:
		if err := checkManager(ctx, env, net.DefaultResolver.LookupHost); err != nil {
			return err
		}
		m := newWorkers(f.instance, f.instances, out)
		return serve(ctx, port, m.answer)
	case proxy:
		if err := checkProxy(env); err != nil {
			return err
		}
		return serve(ctx, port, func(ctx context.Context, client net.Conn) { relay(ctx, f.manager, client) })
	default:
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		me, err := newWorker(name, env)
		if err != nil {
			return err
		}
		go func() { _ = serve(ctx, port, func(context.Context, net.Conn) {}) }()
		return me.report(ctx, f.manager, out)
	}
}

// resolvesWithin is how long the name of a pod that has just started may be unknown.
const resolvesWithin = time.Minute

// checkManager refuses to do without a name under which the others find the resource manager.
func checkManager(ctx context.Context, env func(string) string, lookup func(context.Context, string) ([]string, error)) error {
	const name = "HOST_ADDRESS"
	value := env(name)
	if value == "" || strings.Contains(value, "$(") {
		return fmt.Errorf("%s is %q: it must be the name of the pod", name, value)
	}
	ctx, cancel := context.WithTimeout(ctx, resolvesWithin)
	defer cancel()
	for {
		_, err := lookup(ctx, value)
		if err == nil {
			return nil
		}
		sleep(ctx, time.Second)
		if ctx.Err() != nil {
			return fmt.Errorf("%s is %q: %w", name, value, err)
		}
	}
}

// checkProxy refuses to do without what the connection in the pod needs: without it, Google's proxy asks
// the metadata server of the machine, which a pod with an identity of its own doesn't reach.
func checkProxy(env func(string) string) error {
	const name = "IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS"
	if value := env(name); value != "true" {
		return fmt.Errorf("%s is %q: it must be true, on both ends of the connection", name, value)
	}
	return nil
}

// serve calls a function for each connection, until the context is done.
func serve(ctx context.Context, port net.Listener, answer func(context.Context, net.Conn)) error {
	defer context.AfterFunc(ctx, func() { _ = port.Close() })()
	for {
		connection, err := port.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			defer connection.Close()
			answer(ctx, connection)
		}()
	}
}

// relay tells a client of the proxy what the resource manager says, until either of them leaves.
func relay(ctx context.Context, address string, client net.Conn) {
	upstream, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		fmt.Fprintf(client, "no resource manager: %v\n", err)
		return
	}
	defer upstream.Close()
	go func() {
		_, _ = io.Copy(io.Discard, client)
		_ = upstream.Close()
	}()
	fmt.Fprintln(upstream, "watch")
	_, _ = io.Copy(client, upstream)
}

// worker is what a worker knows of itself.
type worker struct {
	slice, id int
	hosts     int // of its slice
	name      string
}

// newWorker reads what LeaderWorkerSet, or GKE, has told a host of a slice.
func newWorker(name string, env func(string) string) (worker, error) {
	w := worker{name: name, hosts: len(strings.Split(env("TPU_WORKER_HOSTNAMES"), ","))}
	var err error
	if w.id, err = strconv.Atoi(env("TPU_WORKER_ID")); err != nil {
		return w, fmt.Errorf("TPU_WORKER_ID: %w", err)
	}
	if slice := env("MEGASCALE_SLICE_ID"); slice != "" {
		if w.slice, err = strconv.Atoi(slice); err != nil {
			return w, fmt.Errorf("MEGASCALE_SLICE_ID: %w", err)
		}
	}
	return w, nil
}

func (w worker) String() string {
	return fmt.Sprintf("worker %d of %d, slice %d, %s", w.id, w.hosts, w.slice, w.name)
}

// report reports to the resource manager, again whenever the connection is lost.
func (w worker) report(ctx context.Context, address string, out io.Writer) error {
	missing := false // said once, not each second
	for ; ctx.Err() == nil; sleep(ctx, time.Second) {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			if !missing {
				fmt.Fprintf(out, "no resource manager yet: %v\n", err)
			}
			missing = true
			continue
		}
		missing = false
		stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
		fmt.Fprintf(out, "%s reports to %s at %s\n", w, address, connection.RemoteAddr())
		fmt.Fprintf(connection, "worker %d %d %d %s\n", w.slice, w.id, w.hosts, w.name)
		_, _ = io.Copy(out, connection)
		stop()
		_ = connection.Close()
		fmt.Fprintln(out, "the resource manager has closed the connection")
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
