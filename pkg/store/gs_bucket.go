package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/storage"
)

// Bucket is a bucket that holds something else than jobs, such as what builds of images read
// and write.
type Bucket struct{ gs *gsStore }

// OpenBucket opens a bucket. It contacts nothing and reads no credentials until the first
// use. create says how to create the bucket, for the error if it doesn't exist.
// STORAGE_EMULATOR_HOST replaces Cloud Storage.
func OpenBucket(name, create string) (*Bucket, error) {
	if name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("bucket %q: expected the name of a bucket, without gs://", name)
	}
	return &Bucket{&gsStore{bucket: name, create: create, batchWithin: answerWithin, sizes: defaultSizes()}}, nil
}

// Close closes connections. The bucket must not be used afterwards.
func (b *Bucket) Close() error { return b.gs.Close() }

// Pin makes sure that an object has this content, and will have it for some weeks. It returns
// the generation, which stands for these bytes even after someone replaces the object.
func (b *Bucket) Pin(ctx context.Context, name string, data []byte) (generation int64, err error) {
	if err := checkName(name); err != nil {
		return 0, err
	}
	req, err := b.gs.begin(ctx, toRead, name)
	if err != nil {
		return 0, err
	}
	for range starts {
		req.need = toRead
		generation, replace, err := req.pinned(ctx, data)
		if err != nil || replace == nil {
			return generation, err
		}
		req.need = toCreate
		err = req.upload(ctx, req.object().If(*replace), upload{
			size: int64(len(data)),
			open: opener(data),
		})
		// Else someone was faster, and what they wrote is read next.
		if err != nil && !isStatus(err, http.StatusPreconditionFailed) {
			return 0, req.explain(ctx, err)
		}
	}
	return 0, fmt.Errorf("writing %s: too many concurrent writers; try again", b.gs.full(name))
}

// pinned returns the generation of an object that has this content and stays for long enough,
// else the condition under which to write it.
func (r *request) pinned(ctx context.Context, data []byte) (int64, *storage.Conditions, error) {
	o, err := r.object().NewReader(ctx)
	if err = r.explain(ctx, err); errors.Is(err, ErrNotFound) {
		return 0, &storage.Conditions{DoesNotExist: true}, nil
	}
	if err != nil {
		return 0, nil, err
	}
	got, err := io.ReadAll(io.LimitReader(o, int64(len(data))+1))
	if err = errors.Join(err, o.Close()); err != nil {
		return 0, nil, r.explain(ctx, err)
	}
	age := r.client.transport.ServerTime(time.Now()).Sub(o.Attrs.LastModified)
	if !bytes.Equal(got, data) || age >= renewAfter() {
		return 0, &storage.Conditions{GenerationMatch: o.Attrs.Generation}, nil
	}
	return o.Attrs.Generation, nil, nil
}

// OpenAt streams an object from an offset on. The error is ErrNotFound if the object doesn't
// exist or has no byte there, which may change while it is written.
func (b *Bucket) OpenAt(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	req, err := b.gs.begin(ctx, toRead, name)
	if err != nil {
		return nil, err
	}
	r, err := req.object().NewRangeReader(ctx, offset, -1)
	if isStatus(err, http.StatusRequestedRangeNotSatisfiable) {
		return nil, fmt.Errorf("%s from byte %d on %w", b.gs.full(name), offset, ErrNotFound)
	}
	return req.reading(ctx, r, err)
}
