package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/backoff"
)

// podLog reads the log of one pod, and can take it up where a connection ended.
type podLog struct {
	*reader
	decoder *Decoder
	pod     *Pod
	leader  string  // UID of the pod of host 0 of the same attempt
	options Options // whose Tail and Since choose where to begin in a log not read so far
	endLine []byte  // what the runner prints last, without its mark

	at     cursor
	placed bool // Tail has chosen at
	found  bool // the line of that stamp has come again
	lines  int  // whole ones that were passed on
	// recent is nil where reading begins with the first line.
	recent *recentLines

	// The line that is being read:
	inside  bool // it has begun
	stamped bool
	skip    int // so much of its text was passed on before
}

// podLog makes the podLog of a pod.
func (r *reader) podLog(p *Pod, o Options, d *Decoder) *podLog {
	l := &podLog{reader: r, decoder: d, pod: p, leader: r.tracker.now().attemptOf(p).leader, options: o,
		endLine: []byte(EndLine(r.archive.JobID) + "\n")}
	if o.Tail >= 0 || !o.Since.IsZero() {
		l.recent = &recentLines{}
	}
	return l
}

// errEnded says that the log itself reports the end of the job.
var errEnded = errors.New("the job has ended")

// errRotated says that the node no longer has the lines that come next: of a log that
// grows fast it shows the newest file alone.
var errRotated = errors.New("the node dropped lines of the log")

const (
	// idleLimit is when a log that is followed and silent is requested again: connections
	// die without a word, and old nodes lose a log that they rotate.
	idleLimit = 5 * time.Minute
	// retryTime is how long the log of an ended container is requested that can't be read.
	retryTime = 30 * time.Second
)

// read writes a pod's log until its container has ended and nothing is left to read or,
// once live is done, what there is. What the node can't give comes from elsewhere, also if the
// node is silent until drained is done.
func (l *podLog) read(ctx, drained, live context.Context) error {
	err := l.readNode(drained, live)
	var missing *missingError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled): // of drained
		return l.readElsewhere(ctx, live, errSilent)
	case errors.As(err, &missing):
		return l.readElsewhere(ctx, live, missing.err)
	}
	return err
}

// readNode writes what the node has. A read that began while the container ran may have
// missed its last lines: only one that began afterwards has them for sure. The error is a
// missingError if the node does not have the rest.
//
// What is there already, at the beginning or after a connection broke, is read before the
// log is followed: a node sends it in large pieces, and line by line to who follows.
func (l *podLog) readNode(ctx, live context.Context) error {
	var retry backoff.Timer
	var failing time.Time // since when the log of the ended container can't be read
	follow := false
	for {
		ended := live.Err() != nil || l.tracker.hasEnded(l.pod.UID)
		before := l.at
		var err error
		if follow && !ended {
			err = l.copy(live, true)
		} else {
			err = l.copyOnce(ctx)
		}
		if err == nil && ended {
			err = l.finish()
		}
		if l.at != before {
			retry, failing = backoff.Timer{}, time.Time{}
		}
		if ended && failing.IsZero() {
			failing = time.Now()
		}
		var write *writeError
		reason := reasonOf(err)
		switch {
		case errors.As(err, &write):
			return write.err
		case ctx.Err() != nil:
			return ctx.Err()
		case reason == Gone, errors.Is(err, errRotated), ended && reason == Unready:
			return &missingError{err}
		case reason == Refused, errors.Is(err, errEnded):
			return err
		case err == nil && ended:
			return nil
		case err == nil && !follow:
			follow = true
			continue
		case ended && time.Since(failing) >= retryTime && (reason != Unanswered || live.Err() != nil):
			return &missingError{err}
		}
		follow = err == nil
		pause := ctx
		if !ended {
			pause = live
			if l.tracker.hasEnded(l.pod.UID) {
				continue // what came last is read at once
			}
		}
		if retry.Sleep(pause) != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// finish follows a copy that has read all that there will be.
func (l *podLog) finish() error {
	if l.isLost() {
		return errRotated
	}
	return l.flush()
}

// isLost reports whether the log, which is read again, lacks the line where the cursor is,
// and the archive has it.
func (l *podLog) isLost() bool { return !l.found && l.archive.hasLog() }

// copyOnce reads from the cursor to the end of what is there, when it is its turn.
func (l *podLog) copyOnce(ctx context.Context) error {
	return l.inTurn(ctx, func() error { return l.copy(ctx, false) })
}

// copy reads from the cursor to the end of what is there; with follow until the server
// ends the connection. A clean end means nothing: servers close connections that are idle,
// or old. The error is errEnded where the log reports the end of the job.
func (l *podLog) copy(ctx context.Context, follow bool) error {
	o, err := l.from(ctx)
	if err != nil {
		return err
	}
	o.Follow = follow
	connection, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := l.source.Open(connection, *l.pod, o)
	if err != nil {
		return err
	}
	defer body.Close()
	timer := time.AfterFunc(l.idle, cancel)
	defer timer.Stop()
	return l.copyFrom(ctx, bufio.NewReaderSize(&idleReader{body, timer, l.idle}, l.buffer))
}

// idleReader is a reader that resets a timer with every piece.
type idleReader struct {
	io.Reader
	timer *time.Timer
	idle  time.Duration
}

// Read implements io.Reader.
func (r *idleReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.timer.Reset(r.idle)
	return n, err
}

// sinceMargin is how long before the first line that is wanted the log is read, to see
// whether it is the rest of a line.
const sinceMargin = time.Minute

// from returns from where on the log is wanted.
func (l *podLog) from(ctx context.Context) (OpenOptions, error) {
	if l.options.Tail >= 0 && !l.placed {
		if err := l.findTail(ctx); err != nil {
			return OpenOptions{}, err
		}
		l.placed = true
	}
	switch {
	case !l.at.stamp.IsZero():
		return OpenOptions{Since: l.at.stamp}, nil
	case !l.options.Since.IsZero():
		return OpenOptions{Since: l.options.Since.Add(-sinceMargin)}, nil
	}
	return OpenOptions{}, nil
}

// copyFrom passes a log on line by line, long ones in pieces. What a connection that broke
// has torn is read again.
func (l *podLog) copyFrom(ctx context.Context, r *bufio.Reader) error {
	before := l.at
	l.inside, l.found = false, l.at.stamp.IsZero()
	for {
		piece, err := r.ReadSlice('\n')
		more := err == nil || errors.Is(err, bufio.ErrBufferFull)
		if more || errors.Is(err, io.EOF) {
			if addErr := l.add(ctx, piece, err == nil, &before); addErr != nil {
				return addErr
			}
		}
		if !more || r.Buffered() == 0 || l.decoder.buffered() > maxUnwritten {
			if writeErr := l.flush(); writeErr != nil {
				return writeErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case !more:
			return l.broken(err)
		}
	}
}

// maxUnwritten is how much is gathered for a write.
const maxUnwritten = 16 << 10

func (l *podLog) broken(err error) error {
	return fmt.Errorf("reading the log of pod %s: %w", l.pod.Name, err)
}

// add takes a line, or a piece of one that is longer than the buffer or was left without
// an end, which ended says. before is what was read of the log at the time that it was
// opened, as far as that has not come again.
func (l *podLog) add(ctx context.Context, piece []byte, ended bool, before *cursor) error {
	if l.inside {
		l.addText(Line{Text: piece}, ended)
		return nil
	}
	stamp, text, stamped := splitStamp(piece)
	if !ended && (!stamped || len(text) == 0) {
		return nil
	}
	skip := 0
	if stamped {
		l.found = l.found || stamp.Equal(before.stamp)
		if skip = before.skip(stamp); skip != wholeLine {
			if l.isLost() {
				return errRotated
			}
			*before = cursor{} // from here on all is new, should the clock be set back
		}
	}
	if skip == 0 && l.isEnd(text) {
		if err := l.flush(); err != nil {
			return err
		}
		if l.archive.Ended(ctx) {
			return errEnded
		}
	}
	l.stamped, l.skip = stamped, skip
	line := Line{Text: text}
	if stamped && skip != wholeLine {
		if !stamp.Equal(l.at.stamp) {
			l.at = cursor{stamp: stamp}
		}
		if skip == 0 {
			line.At = stamp
		}
	}
	l.addText(line, ended)
	return nil
}

// addText passes on what is new of a line, or of a piece.
func (l *podLog) addText(line Line, ended bool) {
	l.inside = !ended
	if l.skip == wholeLine {
		return
	}
	n := min(l.skip, len(line.Text))
	l.skip -= n
	line.Text = line.Text[n:]
	l.decoder.add(line)
	if !l.stamped {
		return
	}
	l.recent.add(line.Text, ended)
	if !ended {
		l.at.bytes += len(line.Text)
		return
	}
	l.at.lines++
	l.at.bytes = 0
	l.lines++
}

// isEnd reports whether a line says that the job has ended. Older runners do not mark it.
func (l *podLog) isEnd(text []byte) bool { return bytes.Equal(unmarked(text), l.endLine) }

func (l *podLog) flush() error {
	if err := l.decoder.flush(); err != nil {
		return &writeError{err}
	}
	return nil
}

// writeError is a writer that takes nothing more: there is no reason to try again.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }
