package logs

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// drainTime is how long the logs of all hosts may bring nothing after the job has ended, until
// the rest is given up.
const drainTime = 10 * time.Second

// drain derives two contexts. live is done once the tracker is finished, and drained once
// nothing was written for drainTime after that. Time in which the user's terminal takes nothing
// does not count.
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
		for before := int64(-1); r.written.waits.Load() > 0 || r.written.bytes.Load() != before; {
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

// writeCounter counts the bytes that the writers of all logs have written.
type writeCounter struct {
	waits atomic.Int64 // how many Writes have not returned yet
	bytes atomic.Int64
}

func (c *writeCounter) count(w display.Streams) display.Streams {
	return display.Streams{Out: &countingWriter{c, w.Out}, Err: &countingWriter{c, w.Err}}
}

type countingWriter struct {
	*writeCounter
	w io.Writer
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.waits.Add(1)
	defer w.waits.Add(-1)
	n, err := w.w.Write(p)
	w.bytes.Add(int64(n))
	return n, err
}
