package kube

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// drainTime is how long nothing may come of what hosts have printed, when the job
// has ended.
const drainTime = 10 * time.Second

// draining makes two contexts of one: live is over once the board is finished, and
// drained when nothing has come since for a while. A reader who lets us wait has
// all the time.
func (b *board) draining(ctx context.Context, out *outlet) (live, drained context.Context, cancel func()) {
	drained, cancelDrained := context.WithCancel(ctx)
	live, cancelLive := context.WithCancel(drained)
	go func() {
		select {
		case <-live.Done():
			return
		case <-b.finished:
		}
		cancelLive()
		for before := int64(-1); out.waits.Load() || out.written.Load() != before; {
			before = out.written.Load()
			select {
			case <-drained.Done():
				return
			case <-time.After(drainTime):
			}
		}
		cancelDrained()
	}()
	return live, drained, func() { cancelLive(); cancelDrained() }
}

// outlet stands before the writers of all logs. It knows whether somebody takes them.
type outlet struct {
	waits   atomic.Bool // for the reader
	written atomic.Int64
}

// before are writers that write to w.
func (o *outlet) before(w screen.Streams) screen.Streams {
	return screen.Streams{Out: &outletStream{o, w.Out}, Err: &outletStream{o, w.Err}}
}

// outletStream is the outlet of one stream.
type outletStream struct {
	*outlet
	w io.Writer
}

// Write implements io.Writer. Lanes and Decoders write one thing at a time.
func (o *outletStream) Write(p []byte) (int, error) {
	o.waits.Store(true)
	defer o.waits.Store(false)
	n, err := o.w.Write(p)
	o.written.Add(int64(n))
	return n, err
}
