package podconn

import (
	"context"
	"errors"
	"io"
	"net"
)

type dialer func(context.Context) (*Conn, error)

// Answers waits until the program that listens on a port sends something, as a debugger
// does after a connect. The error is a RefusedError if nothing listens.
func Answers(ctx context.Context, dial dialer) error {
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); err != nil && ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// Serve accepts connections on this machine and connects each to the port, until ctx is
// done. It reports a connection that fails, and closes it.
func Serve(ctx context.Context, l net.Listener, dial dialer, report func(error)) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		near, err := l.Accept()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		go func() {
			if err := relay(ctx, near, dial); err != nil && ctx.Err() == nil {
				report(err)
			}
		}()
	}
}

// relay copies both ways until the far end has sent everything.
func relay(ctx context.Context, near net.Conn, dial dialer) error {
	defer near.Close()
	far, err := dial(ctx)
	if err != nil {
		return err
	}
	defer far.Close()
	defer context.AfterFunc(ctx, func() { _, _ = far.Close(), near.Close() })()
	go func() {
		_, _ = io.Copy(far, near)
		_ = far.CloseWrite()
	}()
	_, err = io.Copy(near, far)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused
	}
	_ = near.Close()
	return far.lost(ctx) // nil if either side has hung up
}
