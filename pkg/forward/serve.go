package forward

import (
	"context"
	"errors"
	"io"
	"net"
)

// dialer connects to the port that is forwarded.
type dialer func(context.Context) (*Conn, error)

// Answers waits until what listens on a port says something, as a debugger does
// to who connects. The error is a RefusedError where nothing listens.
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

// Serve takes connections of this machine and connects each to the port, until
// ctx is over. A connection that can't be is told and closed.
func Serve(ctx context.Context, l net.Listener, dial dialer, tell func(error)) error {
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
				tell(err)
			}
		}()
	}
}

// relay copies both ways until the far end has nothing more to say.
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
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused
	}
	return nil // who has hung up needs no word of it
}
