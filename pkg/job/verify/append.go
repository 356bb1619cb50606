package verify

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Appended is a pickle in a file with several.
type Appended struct {
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Trust  Source `json:"trust"`
}

// Append writes the pickle of an input to the end of a file, whose size is offset, once its bytes
// are known to be those that they must be. Others are an Error, and never get into the file. It
// returns nil if the input has no pickle.
func (i *Inputs) Append(ctx context.Context, file *os.File, offset int64, input int, r api.Result) (*Appended, error) {
	if r.Pickle == nil && len(r.Pickled) == 0 {
		return nil, nil
	}
	want, source, err := i.Hash(input, r.PickleSHA256)
	if err != nil {
		return nil, err
	}
	pickle, size, got, err := i.fetch(ctx, file.Name(), r)
	if err != nil {
		return nil, err
	}
	defer pickle.Close()
	if got != want || size != r.PickleSize {
		return nil, untrusted("%s/%s is not the result of job %s: the SHA-256 of its pickle is %s, and %s %s; it was changed since, and is not delivered",
			i.job.Store.URL(), store.ResultOf(i.job.ID(), input), i.job.ID(), got, source.describe(), want)
	}
	if _, err = io.Copy(file, pickle); err != nil {
		_, seekErr := file.Seek(offset, io.SeekStart)
		return nil, errors.Join(written(err), file.Truncate(offset), seekErr)
	}
	return &Appended{Offset: offset, Size: size, SHA256: want, Trust: source}, nil
}

// fetch returns the pickle of a result, which is in memory or in a temporary file beside file, with
// its size and hash. It reads no more than a byte beyond the size that the result has.
func (i *Inputs) fetch(ctx context.Context, file string, r api.Result) (pickle io.ReadCloser, size int64, sha string, err error) {
	if r.Pickle == nil {
		sum := sha256.Sum256(r.Pickled)
		return io.NopCloser(bytes.NewReader(r.Pickled)), int64(len(r.Pickled)), hex.EncodeToString(sum[:]), nil
	}
	stored, err := i.job.Store.Open(ctx, store.Pickle(i.job.ID(), *r.Pickle))
	if err != nil {
		return nil, 0, "", err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	temp, err := newTemporary(file)
	if err != nil {
		return nil, 0, "", written(err)
	}
	hash := sha256.New()
	if size, err = io.Copy(io.MultiWriter(temp, hash), io.LimitReader(stored, r.PickleSize+1)); err == nil {
		_, err = temp.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, "", errors.Join(err, temp.Close())
	}
	return temp, size, hex.EncodeToString(hash.Sum(nil)), nil
}

// temporary is a file that is removed when it is closed.
type temporary struct{ *os.File }

func newTemporary(beside string) (temporary, error) {
	f, err := os.OpenFile(beside+"."+rand.Text()[:8]+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return temporary{f}, err
}

func (t temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }

// Output is the file for Append. Its readers see it grow, so the file that it replaces, which may
// be the only copy of earlier results, is kept beside it meanwhile.
type Output struct {
	*os.File
	// Earlier is the name of the replaced file, "" for none.
	Earlier string
}

// Create creates the file for Append. It replaces a regular file; it writes to nothing else that
// has this name, such as the target of a link.
func Create(name string) (o Output, err error) {
	if info, err := os.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return o, fmt.Errorf("--output-file %s: not a regular file, so it can't be replaced as a whole", name)
		}
		if info.Size() > 0 {
			o.Earlier = name + ".kinetic-earlier-" + rand.Text()[:8]
			err = os.Rename(name, o.Earlier)
		} else {
			err = os.Remove(name)
		}
		if err != nil {
			return o, fmt.Errorf("writing the results: %w", err)
		}
	}
	if o.File, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return o, errors.Join(fmt.Errorf("writing the results: %w", err), o.restore(name))
	}
	return o, nil
}

// Close closes the file. If it is whole, it deletes the file that it replaces. If it is empty, that
// file gets its name back. Otherwise both stay.
func (o *Output) Close(whole bool) error {
	info, err := o.Stat()
	if err = errors.Join(err, o.File.Close()); err != nil || o.Earlier == "" {
		return err
	}
	earlier := o.Earlier
	switch {
	case whole:
		o.Earlier = ""
		return os.Remove(earlier)
	case info.Size() == 0:
		return o.restore(o.Name())
	}
	return nil
}

// restore gives the replaced file its name back.
func (o *Output) restore(name string) error {
	if o.Earlier == "" {
		return nil
	}
	earlier := o.Earlier
	o.Earlier = ""
	return os.Rename(earlier, name)
}
