package outputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	// largeFrom is the size above which a file is copied in pieces.
	largeFrom  = 64 << 20
	pieceBytes = 32 << 20
	// pieces is how many pieces of one file are copied at a time.
	pieces = 4
)

// large is the copy of a large file. Its pieces are written to the transfer's part. A second file has one
// byte for each piece, which is set when the piece is there. Both stay after an interrupt, and the next
// copy continues with them.
type large struct {
	dir      *Dir
	transfer Transfer
	folder   *os.Root
	piece    int64
	progress func(int64)
}

// doneSuffix ends the name of the file that says which pieces are there.
const doneSuffix = ".done"

// copy copies to the part, which is open and locked, and renames it.
func (l large) copy(ctx context.Context, file *os.File) (err error) {
	name := l.transfer.part()
	done, err := l.folder.OpenFile(name+doneSuffix, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done.Close()) }()
	if err := l.copyPieces(ctx, file, done); errors.Is(err, store.ErrNotFound) {
		return errors.Join(l.replaced(), l.remove(name), l.remove(name+doneSuffix))
	} else if err != nil {
		return fmt.Errorf("%w; rerun the command to continue the copy", err)
	}
	if err := l.check(file); err != nil {
		return errors.Join(err, l.remove(name), l.remove(name+doneSuffix))
	}
	if err := l.folder.Rename(name, l.transfer.to); err != nil {
		return err
	}
	return l.remove(name + doneSuffix)
}

func (l large) replaced() error {
	return fmt.Errorf("job %s: output %s was replaced meanwhile: try again", l.dir.job.ID(), l.transfer.Name)
}

func (l large) copyPieces(ctx context.Context, file, done *os.File) error {
	count := (l.transfer.Size + l.piece - 1) / l.piece
	there := make([]byte, count)
	if _, err := io.ReadFull(done, there); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var marking sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(pieces)
	for i := range count {
		from := i * l.piece
		length := min(l.piece, l.transfer.Size-from)
		if there[i] == 1 && info.Size() >= from+length {
			l.progress(length)
			continue
		}
		g.Go(func() error {
			if err := l.copyPiece(ctx, file, from, length); err != nil {
				return err
			}
			marking.Lock()
			defer marking.Unlock()
			_, err := done.WriteAt([]byte{1}, i)
			return err
		})
	}
	return g.Wait()
}

func (l large) copyPiece(ctx context.Context, file *os.File, from, length int64) (err error) {
	r, err := l.transfer.from.OpenRange(ctx, l.transfer.object, from, length)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	n, err := io.Copy(counted{io.NewOffsetWriter(file, from), l.progress}, r)
	if err == nil && n != length {
		err = fmt.Errorf("got %d of %d bytes", n, length)
	}
	if err != nil {
		l.progress(-n)
		return fmt.Errorf("job %s: copying output %s from byte %d on: %w", l.dir.job.ID(), l.transfer.Name, from, err)
	}
	return nil
}

// check reads the whole file again: after a power cut, a piece may be marked and not be there.
func (l large) check(file *os.File) error {
	sum := newChecksum()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, l.transfer.Size+1)); err != nil {
		return err
	}
	if !sum.fits(l.transfer.File) {
		return fmt.Errorf("job %s: the copy of output %s has another checksum than the original: try again", l.dir.job.ID(), l.transfer.Name)
	}
	return nil
}

func (l large) remove(name string) error {
	err := l.folder.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
