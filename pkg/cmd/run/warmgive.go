package run

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

// cancelTime is for a host to forget a call that waits.
const cancelTime = 2 * time.Second

// give gives the call to a host, with the objects that the store may lack.
func (r warmRun) give(ctx context.Context, host kube.WarmHost, l *lease, objects map[string][]byte) error {
	call := r.planned.WarmCall()
	call.Objects = objects
	queued := func() {
		r.ui.EndProgress()
		r.ui.Note("waiting for " + host.ID)
	}
	dial := func() (*warm.Conn, error) {
		again, err := dialHost(ctx, r.to.cluster, host)
		return again.conn, err
	}
	conn := l.conn
	if broken := l.end(ctx); broken != nil { // before anything of the call was sent, so it can't run there
		again, err := dial()
		if err == nil {
			defer again.Close()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			refused := &warm.RefusedError{Why: "the connection broke (" + broken.Error() + "), and no other was made: " + err.Error()}
			return fmt.Errorf("warm host %s is no longer free: %w", host.ID, refused)
		}
		conn = again
	}
	waiting, stop := report.WithTimeout(ctx, r.wait.timeout)
	defer stop()
	err := giveOn(waiting, conn, dial, call, queued)
	switch {
	case errors.Is(err, warm.ErrUnknown) && ctx.Err() == nil && waiting.Err() != nil:
		return r.waitedTooLong(host.ID)
	case declined(err):
		return fmt.Errorf("warm host %s is no longer free: %w", host.ID, err)
	case errors.Is(err, warm.ErrUnknown):
		return ctx.Err() // it was cancelled while it waited: by this process, or by another one, which has recorded that
	case err != nil:
		return errors.Join(fmt.Errorf("giving the call to warm host %s: %w", host.ID, err), api.ErrMayRun)
	}
	return nil
}

func (r warmRun) waitedTooLong(host string) error {
	return &cli.Error{Code: cli.ExitTimeout, Err: fmt.Errorf("--timeout %s expired while the call waited for warm host %s: it was not started", r.wait.timeout, host)}
}

// giveOn gives a call to a host on a connection, or, if that breaks, on another one. When ctx is done, a call that waits is cancelled,
// on the connection that it is given on by then.
func giveOn(ctx context.Context, conn *warm.Conn, dial func() (*warm.Conn, error), call api.WarmCall, queued func()) error {
	var waits atomic.Bool
	var current atomic.Pointer[warm.Conn]
	current.Store(conn)
	defer context.AfterFunc(ctx, func() {
		conn, patience := current.Load(), time.Duration(0)
		if waits.Load() && conn.Cancel(call.ID) == nil {
			patience = cancelTime
		}
		time.AfterFunc(patience, func() { _ = conn.Close() })
	})()
	note := func() {
		waits.Store(true)
		queued()
	}
	err := conn.Call(call, note)
	if err == nil || declined(err) || errors.Is(err, warm.ErrUnknown) || ctx.Err() != nil {
		return err
	}
	again, dialErr := dial() // it may only be the connection; a call that is given twice runs once
	if dialErr != nil {
		return err
	}
	defer again.Close()
	waits.Store(false) // nothing else is sent while the call is
	current.Store(again)
	if ctx.Err() != nil { // then perhaps only the first connection was closed
		return err
	}
	return again.Call(call, note)
}
