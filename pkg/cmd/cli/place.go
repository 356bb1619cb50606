package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/local"
	"github.com/kubectl-kinetic/kinetic/pkg/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// LogWriter is where a log goes: a terminal gets colours and nothing else that
// controls it, anything else the bytes as they are.
func LogWriter(w io.Writer) io.WriteCloser {
	if isTerminal(w) {
		screen := &screen{w: w}
		screen.WriteCloser = logs.NewTerminal(screen.tee())
		return screen
	}
	return logs.NewPlain(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isSameFile tells of two streams whether what is written to one stands in the other,
// as after 2>&1.
func isSameFile(a, b io.Writer) bool {
	one, ok := a.(*os.File)
	other, both := b.(*os.File)
	if !ok || !both {
		return false
	}
	first, err := one.Stat()
	second, otherErr := other.Stat()
	return err == nil && otherErr == nil && os.SameFile(first, second)
}

// screen ends the last line of a log when it is closed, so that what we say
// next does not stand in it.
type screen struct {
	io.WriteCloser
	w    io.Writer
	last byte
}

// tee is the way to the terminal, which remembers the last byte.
func (s *screen) tee() io.Writer { return writerFunc(s.remember) }

func (s *screen) remember(p []byte) (int, error) {
	if len(p) > 0 {
		s.last = p[len(p)-1]
	}
	return s.w.Write(p)
}

// Close implements io.Closer.
func (s *screen) Close() error {
	err := s.WriteCloser.Close()
	if s.last != 0 && s.last != '\n' {
		_, newline := s.w.Write([]byte{'\n'})
		err = errors.Join(err, newline)
	}
	return err
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// LocalPlace is the jobs of this machine. storeURL is the store of new jobs, and
// of those that have no workload any more. python, when set, takes the place of
// the first python3 on PATH.
func LocalPlace(storeURL, python string) (job.Place, error) {
	s, err := store.OpenFile(storeURL)
	if err != nil {
		return job.Place{}, Usage(fmt.Errorf("--store: %w", err))
	}
	dir, err := local.StateDir()
	if err != nil {
		return job.Place{}, err
	}
	workload := local.New(local.Config{StateDir: dir, Python: python, Runner: runner.Zip, OpenStore: store.OpenFile})
	return job.Place{Workload: workload, Backend: api.BackendLocal, Store: s, OpenStore: store.OpenFile,
		List: listLocal(workload), Watch: watchLocal(workload)}, nil
}
