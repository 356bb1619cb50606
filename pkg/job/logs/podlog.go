package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/time/rate"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// podLog reads the log of one pod, and resumes it where a connection ended.
type podLog struct {
	*reader
	decoder *Decoder
	pod     *Pod
	leader  string  // UID of the pod of host 0 in the same attempt
	options Options // Tail and Since choose where to begin
	endLine []byte  // the last line that the runner prints, without its mark

	at     cursor
	placed bool // at is where the last lines begin
	found  bool // a line with the stamp of at has come again
	lines  int  // how many whole lines were passed on
	// asks limits how often the store is asked whether the job has ended: a call may print the line of its end.
	asks *rate.Limiter
	// recent is nil if reading begins with the first line.
	recent *recentLines
	stored lastStored // what the archive has provided

	// The line that is being read:
	inside  bool // its first piece was read
	stamped bool
	skip    int // how many bytes of its text were passed on before
}

func (r *reader) podLog(p *Pod, o Options, d *Decoder) *podLog {
	attempt := r.tracker.now().attemptOf(p)
	d.begins(attempt.number)
	l := &podLog{reader: r, decoder: d, pod: p, leader: attempt.leader, options: o,
		endLine: []byte(records.EndLine(r.archive.JobID) + "\n"), asks: rate.NewLimiter(rate.Every(time.Second), 1)}
	if o.Tail >= 0 || !o.Since.IsZero() {
		l.recent = &recentLines{}
	}
	return l
}

// errEnded says that the log itself reported the end of the job.
var errEnded = errors.New("the job has ended")

// errRotated says that the node no longer has the next lines: it shows the newest file of a log, which is rotated.
var errRotated = errors.New("the node dropped lines of the log")

const (
	// idleLimit is after how long a log that brings nothing is requested again: connections
	// can die unnoticed, and old nodes stop sending a log when they rotate it.
	idleLimit = 5 * time.Minute
	// retryTime is for how long reading the log of an ended container is tried again.
	retryTime = 30 * time.Second
)

// write writes a pod's log as read does, or from the archive on if its node has dropped its beginning.
func (l *podLog) write(ctx, drained, live context.Context) error {
	if l.mayBeRotated(l.pod) && l.lacksBeginning(drained) {
		return l.readRotated(ctx, drained, live)
	}
	return l.read(ctx, drained, live)
}

// read writes a pod's log until its container has ended and everything was read. Once live is done it only reads
// what there is; once drained is done it no longer waits for the node. What the node lacks comes from elsewhere.
func (l *podLog) read(ctx, drained, live context.Context) error {
	err := l.readNode(drained, live)
	var missing *missingError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled): // of drained
		return l.readFromStore(ctx, drained, live, errors.New("its node sends nothing"))
	case errors.As(err, &missing):
		return l.readFromStore(ctx, drained, live, missing.err)
	}
	return err
}

// readNode writes what the node has. A read that began while the container was running may miss
// the last lines, so another one is made after the container has ended. The error is a
// missingError if the node does not have the rest.
//
// At the beginning, and after a connection broke, it first reads what there is without following
// the log: a node sends that in large pieces, but a log that is followed line by line.
func (l *podLog) readNode(ctx, live context.Context) error {
	var retry backoff.Timer
	var failing time.Time // since when reading the log of the ended container has failed
	follow := false
	for {
		ended := live.Err() != nil || l.tracker.hasEnded(l.pod.UID)
		before := l.at
		var err error
		if follow && !ended {
			err = l.copy(live, true)
		} else {
			err = l.withSlot(ctx, func() error { return l.copy(ctx, false) })
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
		var write *WriteError
		reason := reasonOf(err)
		switch {
		case errors.As(err, &write):
			return write.Err
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
				continue // the last lines are read at once
			}
		}
		if retry.Sleep(pause) != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// finish is called after a copy that has read the log to its end.
func (l *podLog) finish() error {
	if l.isLost() {
		return errRotated
	}
	return l.flush()
}

// isLost reports whether a log that is read again lacks the line at the cursor, which the
// archive has.
func (l *podLog) isLost() bool { return !l.found && l.archive.hasLog() }

// copy reads from the cursor to the present end of the log or, with follow, until the connection ends, which means
// nothing: servers close connections that are idle or old. The error is errEnded if the log reports the job's end.
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

func (r *idleReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.timer.Reset(r.idle)
	return n, err
}

// sinceMargin is how much earlier than Since reading begins, to see whether the first record is
// the rest of a line.
const sinceMargin = time.Minute

// from returns where to begin to read.
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

// copyFrom passes a log on line by line, long lines in pieces. A line that a broken connection
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

// maxUnwritten is how many bytes are collected for a write.
const maxUnwritten = 16 << 10

func (l *podLog) broken(err error) error {
	return fmt.Errorf("reading the log of pod %s: %w", l.pod.Name, err)
}

// add passes on a line, or a piece of a line that is longer than the buffer or has no end yet;
// ended says that the piece ends its line. before is the place up to which the log had been read
// when it was opened, less the lines that have come again.
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
			*before = cursor{} // everything from here on is new, even if the clock is set back
		}
	}
	if ended && stamped && l.archive.Take(text) {
		return nil
	}
	if skip == 0 && l.isEnd(text) && l.asks.Allow() {
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

// addText passes on the new text of a line, or of a piece of a line.
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

// isEnd reports whether a line says that the job has ended; older runners print it unmarked.
func (l *podLog) isEnd(text []byte) bool { return bytes.Equal(unmarked(text), l.endLine) }

func (l *podLog) flush() error {
	if err := l.decoder.flush(); err != nil {
		return &WriteError{err}
	}
	return nil
}

// WriteError is an error of who gets the log, after which nothing is tried again.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }
