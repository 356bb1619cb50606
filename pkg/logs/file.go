package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// pollInterval is how often a followed file is read again. Reading nothing takes a
// microsecond, and every file system can do it, which is not true of notifications.
const pollInterval = 50 * time.Millisecond

// File writes the log that grows in the file at path to w, of o all but Host and
// Attempt, which a file has one of. With Follow it returns when ended is closed
// and all was read that the file held then; the file need not exist before, but
// its directory must. A file that does not exist is an empty log.
func File(ctx context.Context, path string, ended <-chan struct{}, o Options, w screen.Streams) error {
	f := &file{path: path, decoder: NewDecoder(w, o), tail: o.Tail}
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
	tail    int // applies to what the file holds at the first look
	f       *os.File
	buf     []byte
}

func (l *file) close() {
	if l.f != nil {
		_ = l.f.Close() // nothing was written
	}
}

// follow copies until ended is closed, and once more then.
func (l *file) follow(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		over := false
		select { // before reading: what was written until then is read
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

// copy decodes what the file has beyond what was read.
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

// open opens the file, if it is not open yet and exists, where reading begins.
func (l *file) open() (bool, error) {
	if l.f != nil {
		return true, nil
	}
	tail := l.tail
	l.tail = -1 // of a file that comes later all is new
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
