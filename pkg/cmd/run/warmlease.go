package run

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
)

// renewEvery is how often a host is told that its call will come. It waits for a minute after each time.
const renewEvery = 20 * time.Second

// lease keeps a host from ending while what its call needs is uploaded, which can take longer than the host stays without a call.
type lease struct {
	conn *warm.Conn
	at   time.Time // of the last answer, on the wall's clock: this machine may have been asleep
	err  error     // why the connection is of no use any more
	once sync.Once
	over chan struct{} // closed to end the renewals
	done chan struct{} // closed once they have ended
}

// newLease begins to renew what the host has just promised on a connection, which nobody else may use until end has returned.
func newLease(ctx context.Context, conn *warm.Conn) *lease {
	l := &lease{conn: conn, at: wallTime(), over: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for l.err == nil {
			select {
			case <-l.over:
				return
			case <-ctx.Done():
				return
			case <-time.After(renewEvery):
				l.renew(ctx)
			}
		}
	}()
	return l
}

func wallTime() time.Time { return time.Now().Round(0) }

func (l *lease) renew(ctx context.Context) {
	_, l.err = l.conn.Reserve(ctx)
	l.at = wallTime()
}

// end ends the renewals, so that the call can be given on the connection, and returns an error if that is broken.
func (l *lease) end(ctx context.Context) error {
	l.once.Do(func() { close(l.over) })
	<-l.done
	if l.err == nil && wallTime().Sub(l.at) > oldAnswer {
		l.renew(ctx)
	}
	return l.err
}
