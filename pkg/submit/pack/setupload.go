package pack

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Upload makes sure that a store has the whole data set. The document is written last: if a
// store has had it for a short time only, it has the rest too, which one request tells.
// Otherwise each shard is uploaded like a Plan. A file that has changed is a *FileError.
func (s *Set) Upload(ctx context.Context, to store.Store, progress func(more int64)) (Stats, error) {
	document := api.IndexBlob{SHA256: s.SHA256, Size: int64(len(s.Document))}
	stats := Stats{Bytes: s.StoredBytes}
	if progress == nil {
		progress = func(int64) {}
	}
	if to.HasBlob(ctx, document) {
		progress(s.StoredBytes)
		return stats, nil
	}
	for i := range s.Shards {
		s.collect() // what the shard before has left
		p, err := s.remake(ctx, i)
		if err != nil {
			return Stats{}, err
		}
		shard, err := p.Upload(ctx, to, progress)
		if err != nil {
			return Stats{}, err
		}
		stats.NewBytes += shard.NewBytes
		stats.NewBlobs += shard.NewBlobs
	}
	written, err := to.PutBlob(ctx, s.SHA256, document.Size, func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(s.Document)), nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("uploading the data set to %s: %w", to.URL(), err)
	}
	if written {
		stats.NewBytes += document.Size
		stats.NewBlobs++
	}
	progress(document.Size)
	return stats, nil
}
