package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// pollInterval is how often a followed file is read again. A read that finds nothing takes a
// microsecond, and works on every file system; notifications do not.
const pollInterval = 50 * time.Millisecond

// File writes the log in the file at path to w. It ignores Host and Attempt of o, because a
// file has the log of one host in one attempt. With Follow it returns once ended is closed and
// everything that the file had then was read. A file that does not exist is an empty log, but
// its directory must exist.
func File(ctx context.Context, path string, ended <-chan struct{}, o Options, w display.Streams) error {
	f := &file{path: path, decoder: o.decoder(w, 0), tail: o.Tail}
	defer f.close()
	var err error
	if o.Follow {
		err = f.follow(ctx, ended)
	} else if o.Tail != 0 {
		err = f.copy(ctx)
	}
	if err != nil {
		return fmt.Errorf("reading the log %s: %w", path, err)
	}
	return nil
}

// file is a log file that is read as it grows.
type file struct {
	path    string
	decoder *Decoder
	tail    int // applies to what the file has when it is first looked for
	f       *os.File
	buf     []byte
}

func (l *file) close() {
	if l.f != nil {
		_ = l.f.Close() // it was only read
	}
}

// follow copies until ended is closed, and once more then.
func (l *file) follow(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		over := false
		select { // before the read, which then has everything
		case <-ended:
			over = true
		default:
		}
		if err := l.copy(ctx); err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
		case <-tick.C:
		}
	}
}

// copy decodes what the file has beyond the last read.
func (l *file) copy(ctx context.Context) error {
	if ok, err := l.open(); !ok {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := l.f.Read(l.buf)
		if n > 0 {
			if _, err := l.decoder.Write(l.buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// open opens the file at the place where reading begins, and reports whether it is open.
func (l *file) open() (bool, error) {
	if l.f != nil {
		return true, nil
	}
	tail := l.tail
	l.tail = -1 // if the file is created later, all of it is new
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.f, l.buf = f, make([]byte, bufferSize)
	if tail < 0 {
		return true, nil
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	offset, before, err := tailOffset(f, info.Size(), tail)
	if err != nil {
		return false, err
	}
	if _, err := l.decoder.Write(before); err != nil {
		return false, err
	}
	_, err = f.Seek(offset, io.SeekStart)
	return err == nil, err
}
