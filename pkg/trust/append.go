package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// Append writes the pickle of an input to the end of a file, whose size is offset. Bytes that are
// not those that they must be are removed again, and are an Error. It returns nil if the input has
// no pickle.
func (i *Inputs) Append(ctx context.Context, file *os.File, offset int64, input int, r api.Result) (*Appended, error) {
	if r.Pickle == nil && len(r.Pickled) == 0 {
		return nil, nil
	}
	want, source, err := i.Hash(input, r.PickleSHA256)
	if err != nil {
		return nil, err
	}
	pickle, err := i.open(ctx, r)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, hash), pickle)
	err = errors.Join(err, pickle.Close())
	if got := hex.EncodeToString(hash.Sum(nil)); err == nil && got != want {
		err = untrusted("%s/%s is not the result of job %s: the SHA-256 of its pickle is %s, and %s %s; it was changed since, and is not delivered",
			i.job.Store.URL(), store.ResultOf(i.job.ID(), input), i.job.ID(), got, source.said(), want)
	}
	if err != nil {
		_, seekErr := file.Seek(offset, io.SeekStart)
		return nil, errors.Join(err, file.Truncate(offset), seekErr)
	}
	return &Appended{Offset: offset, Size: size, SHA256: want, Trust: source}, nil
}

// open opens the pickle of a result.
func (i *Inputs) open(ctx context.Context, r api.Result) (io.ReadCloser, error) {
	if r.Pickle == nil {
		return io.NopCloser(bytes.NewReader(r.Pickled)), nil
	}
	return i.job.Store.Open(ctx, store.Pickle(i.job.ID(), *r.Pickle))
}
