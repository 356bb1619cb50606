package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
)

// place is how far a container's log has been read: the API takes a log up
// again at a whole second, so that the lines seen in it are counted.
type place struct {
	second time.Time
	lines  int
}

// stream reads the log of one container, whole lines at a time, and can go on
// where it ended.
type stream struct {
	client *Client
	pod    string
	at     place
	// tail and since choose where to begin, of a log not read so far.
	tail  int
	since time.Time
	out   io.Writer // takes stamped lines
}

// copy reads from where the stream is to the end of the log; with follow until
// the server ends the connection. A clean end means nothing: servers close
// connections that are idle, or old.
func (s *stream) copy(ctx context.Context, follow bool) error {
	o := &corev1.PodLogOptions{Container: api.ContainerName, Follow: follow, Timestamps: true}
	skip := 0
	switch {
	case !s.at.second.IsZero():
		o.SinceTime = &metav1.Time{Time: s.at.second}
		skip = s.at.lines
	default:
		if s.tail >= 0 {
			lines := int64(s.tail)
			o.TailLines = &lines
		}
		if !s.since.IsZero() {
			o.SinceTime = &metav1.Time{Time: s.since}
		}
	}
	body, err := s.client.core.Get().Namespace(s.client.namespace).Resource("pods").Name(s.pod).SubResource("log").
		VersionedParams(o, s.client.codec).Stream(ctx)
	if err != nil {
		return s.client.explain(readLog, s.client.pods(), s.pod, err)
	}
	defer body.Close()
	return s.lines(bufio.NewReaderSize(body, logs.MaxLine), skip)
}

// lines passes whole lines on but for the first skip of them. Of a line that is
// longer than anybody shows, the rest is dropped.
func (s *stream) lines(r *bufio.Reader, skip int) error {
	resumed := s.at
	seen := 0
	var block []byte
	for {
		line, err := r.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if cut {
			line = append(bytes.Clone(line), '\n')
			err = skipLine(r)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(s.write(block), fmt.Errorf("reading the log of pod %s: %w", s.pod, err))
		}
		if err == nil { // a line without its end is read again, whole
			stamp, text, ok := split(line)
			fresh := true
			if ok {
				fresh = s.pass(stamp, resumed, &seen, skip)
			}
			if fresh {
				block = appendLine(block, stamp, text, ok)
			}
		}
		if err != nil || r.Buffered() == 0 || len(block) > blockSize {
			if writeErr := s.write(block); writeErr != nil {
				return writeErr
			}
			block = block[:0]
		}
		if err != nil {
			return nil
		}
	}
}

const blockSize = 64 << 10

// pass counts a line, and tells whether it is one that was not seen before.
func (s *stream) pass(stamp time.Time, resumed place, seen *int, skip int) bool {
	second := stamp.Truncate(time.Second)
	if second.Equal(resumed.second) && *seen < skip {
		*seen++
		return false
	}
	if !second.Equal(s.at.second) {
		s.at = place{second: second}
	}
	s.at.lines++
	return true
}

func (s *stream) write(block []byte) error {
	if len(block) == 0 {
		return nil
	}
	if _, err := s.out.Write(block); err != nil {
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

func appendLine(block []byte, stamp time.Time, text []byte, stamped bool) []byte {
	if stamped {
		block = logs.AppendStamp(block, stamp)
	}
	return append(block, text...)
}

// skipLine reads up to and with the next line end.
func skipLine(r *bufio.Reader) error {
	for {
		_, err := r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
