package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Upload makes sure that a store has everything in the plan. It doesn't read again what
// the store has. It checks the rest against the plan on the way; a file that has changed
// is a *FileError. The index is written last, so that whoever finds it finds the rest.
// progress, if not nil, is called by one goroutine at a time with how many more of StoredBytes
// the store has. Every call looks up every blob, so that a blob that was deleted from the
// store is there again, and an old one is renewed, before the job is started.
func (p *Plan) Upload(ctx context.Context, s store.Store, progress func(more int64)) (Stats, error) {
	u := &upload{transfer: newTransfer(p.StoredBytes, progress), plan: p, store: s}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(store.Parallel) // most blobs only take a round trip, to find that they are there
	index := api.IndexBlob{SHA256: p.SHA256, Size: int64(len(p.IndexBlob))}
	there := s.HasBlobs(ctx, append(slices.Clone(p.Index.Blobs), index))
	for i, b := range p.Index.Blobs {
		if there[b.SHA256] {
			u.advance(b.Size)
			continue
		}
		group.Go(func() error { return u.blob(groupCtx, i) })
	}
	blobs := sync.OnceValue(group.Wait)
	indexed := make(chan error, 1)
	go func() { // put can look up the index in the store meanwhile; its bytes are in memory anyway
		if there[index.SHA256] {
			u.advance(index.Size)
			indexed <- nil
			return
		}
		indexed <- u.put(ctx, index, 0, func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(p.IndexBlob)), blobs()
		})
	}()
	err, indexErr := blobs(), <-indexed
	if err != nil {
		return Stats{}, fmt.Errorf("uploading to %s: %w", s.URL(), err)
	}
	if indexErr != nil {
		return Stats{}, fmt.Errorf("uploading the index to %s: %w", s.URL(), indexErr)
	}
	return u.stats, nil
}

// Fresh returns the blobs that this plan has made, since no earlier one had, by their hashes. It reports false if they have more than
// limit bytes, or if there is a large file that no earlier plan has read: no plan holds one in memory.
func (p *Plan) Fresh(limit int64) (map[string][]byte, bool) {
	fresh := map[string][]byte{}
	for i, source := range p.sources {
		if !source.packed && !p.files[source.members[0]].known {
			return nil, false
		}
		if source.blob == nil {
			continue
		}
		if limit -= int64(len(source.blob)); limit < 0 {
			return nil, false
		}
		fresh[p.Index.Blobs[i].SHA256] = source.blob
	}
	return fresh, true
}

// upload is the state of one call of Upload.
type upload struct {
	*transfer
	plan  *Plan
	store store.Store
}

func (u *upload) blob(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	source, blob := u.plan.sources[i], u.plan.Index.Blobs[i]
	if source.packed && source.blob == nil {
		return u.put(ctx, blob, packMemory, func() (io.ReadCloser, error) { return u.pack(ctx, source) })
	}
	if source.packed {
		return u.put(ctx, blob, sendMemory, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(source.blob)), nil })
	}
	f := &u.plan.files[source.members[0]]
	err := u.put(ctx, blob, sendMemory, func() (io.ReadCloser, error) {
		if len(f.parts) > 0 {
			return openPart(f, source.part)
		}
		return openFile(f)
	})
	if errors.Is(err, store.ErrMismatch) {
		return changed(f.rel)
	}
	return err
}

// pack makes a pack again that the plan didn't keep.
func (u *upload) pack(ctx context.Context, s source) (io.ReadCloser, error) {
	content, err := s.content(ctx, u.plan.files, make([]byte, bufferSize))
	if err != nil {
		return nil, err
	}
	blob, err := s.encode(content)
	return io.NopCloser(bytes.NewReader(blob)), err
}

// put uploads one blob unless the store has it. It waits until there is that much memory.
func (u *upload) put(ctx context.Context, blob api.IndexBlob, memory int64, open func() (io.ReadCloser, error)) error {
	return u.send(ctx, blob.Size, memory, open, func(open func() (io.ReadCloser, error)) (bool, error) {
		return u.store.PutBlob(ctx, blob.SHA256, blob.Size, open)
	})
}
