package outputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// copiers is how many files are copied at a time.
const copiers = 8

// Transfer is a file to be copied to this machine.
type Transfer struct {
	File
	to string // relative to the target folder
}

// incompleteSuffix ends the names of copies of incomplete files.
const incompleteSuffix = ".incomplete"

// Below plans to copy files into a folder, under their names relative to the path at, incomplete ones with
// another ending. It rejects names that lead out of the folder.
func Below(files []File, at string) ([]Transfer, error) {
	folder := ""
	if at != "" {
		folder = strings.TrimSuffix(at, "/") + "/"
	}
	plan := make([]Transfer, len(files))
	for i, f := range files {
		to, err := localName(strings.TrimPrefix(f.Name, folder))
		if err != nil {
			return nil, err
		}
		if f.Incomplete {
			to += incompleteSuffix // nobody should take it for a finished one
		}
		plan[i] = Transfer{f, to}
		if f.object.Name != "" && !plan[i].staysInside() {
			plan[i].Link = "" // the file itself
		}
	}
	return plan, nil
}

// As plans to copy one file, or the one that a link leads to, to a name in a folder.
func As(f File, name string) Transfer {
	f.Link = ""
	return Transfer{f, name}
}

// Copied counts what a copy has done.
type Copied struct {
	Files int
	Bytes int64
	// Same is how many of the files were already there.
	Same int
}

// Copy copies files into a folder, several at a time, then links. Each appears whole or not at all. A
// file that is already there with the same bytes is kept, and a large one that was partly
// copied is continued, so that an interrupted copy continues where it stopped. A file that is written to at that moment
// ends the copy only when the others are there. progress is called from several goroutines with the number
// of bytes that arrived or were already there.
func (d *Dir) Copy(ctx context.Context, plan []Transfer, folder *os.Root, progress func(int64)) (Copied, error) {
	removeOlderParts(plan, folder)
	same, changed := make([]bool, len(plan)), make([]error, len(plan))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(copiers)
	for i, t := range plan {
		if t.Link == "" {
			g.Go(func() (err error) {
				same[i], err = d.copy(ctx, t, folder, progress)
				if written, ok := errors.AsType[*changedError](err); ok {
					changed[i], err = written, nil
				}
				return t.explain(folder, err)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return Copied{}, err
	}
	var links error
	for i, t := range plan { // after the files, so that none is written through them
		if t.Link != "" {
			var err error
			same[i], err = t.link(folder)
			links = errors.Join(links, t.explain(folder, err))
			progress(t.Size)
		}
	}
	if links != nil {
		return Copied{}, links
	}
	var done Copied
	for i, t := range plan {
		switch {
		case changed[i] != nil:
			continue
		case same[i]:
			done.Same++
		default:
			done.Bytes += t.Size
		}
		done.Files++
	}
	return done, errors.Join(changed...)
}

func (t Transfer) explain(folder *os.Root, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("copying output %s to %s: %w", t.Name, filepath.Join(folder.Name(), t.to), err)
}

// copy copies one file, unless it is already there.
func (d *Dir) copy(ctx context.Context, t Transfer, folder *os.Root, progress func(int64)) (same bool, err error) {
	if same, err = d.isThere(ctx, t, folder); err != nil || same {
		progress(t.Size)
		return same, err
	}
	dir := filepath.Dir(t.to)
	if err := folder.MkdirAll(dir, 0o777); err != nil {
		return false, err
	}
	part, err := platform.OpenPart(ctx, folder, t.part())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	if same, err = d.isThere(ctx, t, folder); err != nil || same { // another process has copied it meanwhile
		progress(t.Size)
		return same, errors.Join(err, folder.Remove(t.part()))
	}
	if t.Size > largeFrom {
		return false, large{dir: d, transfer: t, folder: folder, piece: pieceBytes, progress: progress}.copy(ctx, part)
	}
	err = part.Truncate(0)
	if err == nil {
		err = d.Write(ctx, t.File, counted{part, progress})
	}
	if err == nil {
		err = folder.Rename(t.part(), t.to)
	}
	if err != nil {
		err = errors.Join(err, folder.Remove(t.part()))
	}
	return false, err
}

// isThere reports whether the folder already has the file with the same bytes. It fails
// if something other than a file has the name.
func (d *Dir) isThere(ctx context.Context, t Transfer, folder *os.Root) (bool, error) {
	info, err := folder.Lstat(t.to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink {
		return false, errors.New("not a file: choose another path, or - for standard output")
	}
	if !info.Mode().IsRegular() || info.Size() != t.Size {
		return false, nil
	}
	here, err := folder.Open(t.to)
	if err != nil {
		return false, err
	}
	defer func() { _ = here.Close() }() // it was only read
	sum := newChecksum()
	if _, err := io.Copy(sum, here); err != nil {
		return false, err
	}
	if t.object.CRC32C == nil && t.sha256 == "" {
		there := newChecksum()
		if err := d.Write(ctx, t.File, there); err != nil {
			return false, err
		}
		return sum.crc.Sum32() == there.crc.Sum32(), nil
	}
	return sum.fits(t.File), nil
}

// counted calls report with the number of bytes of each write.
type counted struct {
	w      io.Writer
	report func(int64)
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.report(int64(n))
	return n, err
}

// checksum checks bytes against the size and checksums of a file.
type checksum struct {
	crc hash.Hash32
	sha hash.Hash
	n   int64
}

func newChecksum() *checksum {
	return &checksum{crc: crc32.New(crc32.MakeTable(crc32.Castagnoli)), sha: sha256.New()}
}

func (c *checksum) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	_, _ = c.sha.Write(p) // it never fails
	return c.crc.Write(p)
}

func (c *checksum) fits(f File) bool {
	return c.n == f.Size && (f.object.CRC32C == nil || *f.object.CRC32C == c.crc.Sum32()) &&
		(f.sha256 == "" || f.sha256 == hex.EncodeToString(c.sha.Sum(nil)))
}
