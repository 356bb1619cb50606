package logs

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// drainTime is how long nothing may come of what hosts have printed, when the job has
// ended.
const drainTime = 10 * time.Second

// drain makes two contexts of one: live is done once the tracker is finished, and drained
// when nothing was written since for a while. A reader who lets us wait has all the time.
func (r *reader) drain(ctx context.Context) (live, drained context.Context, cancel func()) {
	drained, cancelDrained := context.WithCancel(ctx)
	live, cancelLive := context.WithCancel(drained)
	go func() {
		select {
		case <-live.Done():
			return
		case <-r.tracker.finished:
		}
		cancelLive()
		for before := int64(-1); r.written.waits.Load() || r.written.bytes.Load() != before; {
			before = r.written.bytes.Load()
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

// writeCounter knows how much the writers of all logs have taken, and whether one is busy.
type writeCounter struct {
	waits atomic.Bool // for the reader
	bytes atomic.Int64
}

// count returns writers that write to w and are counted.
func (c *writeCounter) count(w screen.Streams) screen.Streams {
	return screen.Streams{Out: &countingWriter{c, w.Out}, Err: &countingWriter{c, w.Err}}
}

// countingWriter is one stream of a writeCounter.
type countingWriter struct {
	*writeCounter
	w io.Writer
}

// Write implements io.Writer. Multiplexers and Decoders write one thing at a time.
func (w *countingWriter) Write(p []byte) (int, error) {
	w.waits.Store(true)
	defer w.waits.Store(false)
	n, err := w.w.Write(p)
	w.bytes.Add(int64(n))
	return n, err
}
