package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// callerPipe is the variable by which a program says that standard input is a pipe that ends with
// it, however it ends. Jobs and other children don't inherit it.
const callerPipe = "KINETIC_CALLER_PIPE"

// callerConfirms is its value if the program also writes a byte once it has a result.
const callerConfirms = "confirm"

// confirmedKey is the key of a channel in a context. It is closed when the caller confirms.
type confirmedKey struct{}

// errHungUp is the cause of a context that has ended because of a hangup.
var errHungUp = errors.New("the terminal was closed, or the calling program has ended")

// HungUp reports whether a command's context has ended because its terminal was closed, or the
// program that called it has ended.
func HungUp(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errHungUp) }

// Confirmed waits until the calling program confirms that it has the result, if it promised to.
// The error means that it will not.
func Confirmed(ctx context.Context) error {
	if confirmed, ok := ctx.Value(confirmedKey{}).(chan struct{}); ok {
		select {
		case <-confirmed:
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	}
	return nil
}

// withHangup returns a context that ends when the terminal is closed or the caller ends, and what
// the command reads as its standard input.
func withHangup(parent context.Context) (ctx context.Context, in io.Reader) {
	ctx, hangUp := context.WithCancelCause(parent)
	hangups := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) { // as with nohup
		signal.Notify(hangups, syscall.SIGHUP)
	}
	var gone chan struct{}
	in = os.Stdin
	if how := os.Getenv(callerPipe); how != "" {
		_ = os.Unsetenv(callerPipe)
		gone, in = make(chan struct{}), strings.NewReader("")
		confirmed := make(chan struct{})
		if how == callerConfirms {
			ctx = context.WithValue(ctx, confirmedKey{}, confirmed)
		}
		go func() {
			defer close(gone)
			if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err == nil {
				close(confirmed)
				_, _ = io.Copy(io.Discard, os.Stdin)
			}
		}()
	}
	go func() {
		cause := errHungUp
		select {
		case <-hangups:
		case <-gone:
		case <-parent.Done(): // ctx may not know it yet
			cause = context.Cause(parent)
		}
		signal.Stop(hangups) // a second one has its default effect
		hangUp(cause)
	}()
	return ctx, in
}
