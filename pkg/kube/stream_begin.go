package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/logs"
)

// findTail looks at the last line. The runner's end line is one more to read; any
// other, where nothing is wanted that is there already, is where we begin.
func (s *stream) findTail(ctx context.Context) (more int, err error) {
	body, err := s.open(ctx, &corev1.PodLogOptions{TailLines: new(int64(1))})
	if err != nil {
		return 0, err
	}
	defer body.Close()
	line, err := bufio.NewReaderSize(body, logs.MaxLine).ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return 0, s.broken(err)
	}
	stamp, text, stamped := split(line)
	switch {
	case bytes.Equal(text, s.endLine):
		return 1, nil
	case stamped && s.options.Tail == 0:
		s.at = place{stamp: stamp, lines: wholeLine}
	}
	return 0, nil
}

// lacksBeginning tells whether all of the log is wanted and its node has dropped
// the first lines: then the store's first line is another one. Where there is a
// doubt it is not.
func (s *stream) lacksBeginning(ctx context.Context) bool {
	if s.options.Rest == nil || s.options.Tail >= 0 || !s.options.Since.IsZero() {
		return false
	}
	stored := &firstLine{}
	if _, err := s.options.Rest(ctx, s.point(), stored); err != nil && !stored.whole {
		return false
	}
	body, err := s.open(ctx, &corev1.PodLogOptions{LimitBytes: new(int64(logs.MaxLine))})
	if err != nil {
		return false
	}
	defer body.Close()
	here := &firstLine{}
	if _, err := io.Copy(here, body); err != nil && !here.whole {
		return false
	}
	return stored.whole && here.whole && !bytes.Equal(stored.words(), here.words())
}

// firstLine takes the first line of a log, and no more.
type firstLine struct {
	line  []byte
	whole bool
}

// errEnough ends what writes to a firstLine that is whole.
var errEnough = errors.New("one line is enough")

// Write implements io.Writer.
func (f *firstLine) Write(p []byte) (int, error) {
	if f.whole {
		return 0, errEnough
	}
	line, _, ended := bytes.Cut(p, []byte{'\n'})
	f.line, f.whole = append(f.line, line...), ended
	if ended {
		return len(line), errEnough
	}
	return len(p), nil
}

// words is the line without its stamp.
func (f *firstLine) words() []byte {
	_, text, _ := split(f.line)
	return text
}
