package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// place is how far a container's log has been read. The API takes a log up again
// at a whole second: the lines from there to the place come again.
type place struct {
	stamp time.Time // of the line read last; zero where none was
	lines int       // whole ones with this very stamp
	bytes int       // of the text of the line after them, which has no end yet
}

// wholeLine is the text of a line, however long, and of any number of them.
const wholeLine = math.MaxInt

// take tells how many bytes of the text of the next line were read before, and
// counts what is left of such lines down.
func (p *place) take(stamp time.Time) int {
	switch {
	case stamp.Before(p.stamp):
		return wholeLine
	case stamp.After(p.stamp):
		return 0
	case p.lines > 0:
		p.lines--
		return wholeLine
	}
	n := p.bytes
	p.bytes = 0
	return n
}

// stream reads the log of one container, and can go on where it ended.
type stream struct {
	client *Client
	pod    string
	uid    types.UID // of the pod
	// attempt is the UID of the pod of host 0 when this one, of host, was made.
	attempt types.UID
	host    int
	// of the options, Tail and Since choose where to begin in a log not read so
	// far, Ended and Rest ask the store.
	options logs.Options
	endLine []byte        // what the runner says last, without its mark
	idle    time.Duration // how long a log that is followed may be silent
	out     io.Writer     // takes the log in stored form

	at     place
	placed bool   // Tail has chosen at
	found  bool   // the line of that stamp has come again
	count  int    // whole lines that were passed on
	block  []byte // to be written

	// The line that is being read:
	inside  bool // it has begun
	stamped bool
	skip    int // so much of its text was passed on before
}

// stream makes the stream of one pod of a job.
func (w *Cluster) stream(id string, pod corev1.Pod, o logs.Options, out io.Writer) *stream {
	return &stream{client: w.client, pod: pod.Name, uid: pod.UID, options: o, endLine: []byte(logs.EndLine(id) + "\n"), idle: idleLimit, out: out}
}

// errEnded says that the log itself has told that the job has ended.
var errEnded = errors.New("the job has ended")

// errRotated says that the node no longer has the lines that come next: of a log
// that grows fast it shows the newest file alone.
var errRotated = errors.New("the node has dropped lines of the log")

// idleLimit is when a log that is followed and silent is asked for again:
// connections die without a word, and old nodes lose a log that they rotate.
const idleLimit = 5 * time.Minute

// copy reads from where the stream is to the end of what is there; with follow
// until the server ends the connection. A clean end means nothing: servers close
// connections that are idle, or old. The error is errEnded where the job's end
// was told.
func (s *stream) copy(ctx context.Context, follow bool) error {
	o, err := s.from(ctx)
	if err != nil {
		return err
	}
	o.Follow = follow
	connection, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := s.open(connection, o)
	if err != nil {
		return err
	}
	defer body.Close()
	timer := time.AfterFunc(s.idle, cancel)
	defer timer.Stop()
	return s.read(ctx, bufio.NewReaderSize(&watched{body, timer, s.idle}, screen.MaxLine))
}

// finish stands behind a copy that has read all that there will be.
func (s *stream) finish() error {
	if s.lost() {
		return errRotated
	}
	return s.write()
}

// watched is a reader that winds a timer up with every piece.
type watched struct {
	io.Reader
	timer *time.Timer
	idle  time.Duration
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.timer.Reset(w.idle)
	return n, err
}

// from says from where on the log is wanted.
func (s *stream) from(ctx context.Context) (*corev1.PodLogOptions, error) {
	if s.options.Tail >= 0 && !s.placed {
		if err := s.findTail(ctx); err != nil {
			return nil, err
		}
		s.placed = true
	}
	if !s.at.stamp.IsZero() {
		return &corev1.PodLogOptions{SinceTime: &metav1.Time{Time: s.at.stamp}}, nil
	}
	if !s.options.Since.IsZero() {
		return &corev1.PodLogOptions{SinceTime: &metav1.Time{Time: s.options.Since.Add(-sinceMargin)}}, nil
	}
	return &corev1.PodLogOptions{}, nil
}

// sinceMargin is how long before the first line that is wanted the log is read, to see
// whether it is the rest of a line.
const sinceMargin = time.Minute

func (s *stream) open(ctx context.Context, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	o.Container, o.Timestamps = api.ContainerName, true
	body, err := s.client.core.Get().Namespace(s.client.namespace).Resource("pods").Name(s.pod).SubResource("log").
		VersionedParams(o, s.client.codec).Stream(ctx)
	if err != nil {
		return nil, s.client.explain(readLog, s.client.pods(), s.pod, err)
	}
	return body, nil
}

// read passes a log on line by line, long ones in pieces. What a connection that
// broke has torn is read again.
func (s *stream) read(ctx context.Context, r *bufio.Reader) error {
	before := s.at
	s.inside, s.found = false, s.at.stamp.IsZero()
	for {
		piece, err := r.ReadSlice('\n')
		more := err == nil || errors.Is(err, bufio.ErrBufferFull)
		if more || errors.Is(err, io.EOF) {
			if takeErr := s.take(ctx, piece, err == nil, &before); takeErr != nil {
				return takeErr
			}
		}
		if !more || r.Buffered() == 0 || len(s.block) > blockSize {
			if writeErr := s.write(); writeErr != nil {
				return writeErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case !more:
			return s.broken(err)
		}
	}
}

func (s *stream) broken(err error) error {
	return fmt.Errorf("reading the log of pod %s: %w", s.pod, err)
}

// blockSize is how much is gathered for a write. Each host has a few of these.
const blockSize = 16 << 10

// take is given a line, or a piece of one that is longer than the buffer or was
// left without an end.
func (s *stream) take(ctx context.Context, piece []byte, ended bool, before *place) error {
	if s.inside {
		s.text(piece, ended)
		return nil
	}
	stamp, text, stamped := split(piece)
	if !ended && (!stamped || len(text) == 0) {
		return nil
	}
	skip := 0
	if stamped {
		s.found = s.found || stamp.Equal(before.stamp)
		if skip = before.take(stamp); skip != wholeLine {
			if s.lost() {
				return errRotated
			}
			*before = place{} // from here on all is new, should the clock be set back
		}
	}
	if skip == 0 && s.isEnd(text) {
		if err := s.write(); err != nil {
			return err
		}
		if s.options.Ended != nil && s.options.Ended(ctx) {
			return errEnded
		}
	}
	s.stamped, s.skip = stamped, skip
	if stamped && skip != wholeLine {
		s.beginLine(stamp)
	}
	s.text(text, ended)
	return nil
}

// isEnd reports whether a line says that the job has ended. Older runners do not mark it.
func (s *stream) isEnd(text []byte) bool { return bytes.Equal(logs.Unmarked(text), s.endLine) }

// lost tells that the log, which is read again, lacks the line where we were, and
// that there is another place to read on.
func (s *stream) lost() bool { return !s.found && s.options.Rest != nil }

func (s *stream) beginLine(stamp time.Time) {
	if !stamp.Equal(s.at.stamp) {
		s.at = place{stamp: stamp}
	}
	if s.skip == 0 {
		s.block = logs.AppendStamp(s.block, stamp)
	}
}

// text passes on what is new of a piece of the line's text.
func (s *stream) text(text []byte, ended bool) {
	s.inside = !ended
	if s.skip == wholeLine {
		return
	}
	n := min(s.skip, len(text))
	s.skip -= n
	text = text[n:]
	s.block = append(s.block, text...)
	switch {
	case !s.stamped:
	case ended:
		s.at.lines++
		s.at.bytes = 0
		s.count++
	default:
		s.at.bytes += len(text)
	}
}

// point is where the stream is, for the store.
func (s *stream) point() logs.Point {
	p := logs.Point{Pod: string(s.attempt), Host: s.host, Lines: s.count, Bytes: s.at.bytes}
	switch {
	case s.options.Tail >= 0 && !s.placed:
		p.Tail = s.options.Tail
	case s.options.Tail >= 0 || !s.options.Since.IsZero():
		p.After = s.at.stamp
	}
	return p
}

func (s *stream) write() error {
	if len(s.block) == 0 {
		return nil
	}
	_, err := s.out.Write(s.block)
	s.block = s.block[:0]
	if err != nil {
		return &writeError{err}
	}
	return nil
}

// writeError is a reader of ours that went away: no reason to try again.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// split takes the time off a line that the API server has put in front of it.
func split(line []byte) (stamp time.Time, text []byte, ok bool) {
	before, text, found := bytes.Cut(line, []byte{' '})
	if !found {
		return time.Time{}, line, false
	}
	stamp, err := time.Parse(time.RFC3339Nano, string(before))
	if err != nil {
		return time.Time{}, line, false
	}
	return stamp, text, true
}
