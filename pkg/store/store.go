package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Errors that callers distinguish with errors.Is. They are wrapped with the object's full
// name.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("already exists")
	// ErrMismatch is returned by PutBlob and CreateLarge if the bytes are not the promised ones.
	ErrMismatch = errors.New("the content doesn't match the hash")
	// ErrUnusable means that the store doesn't exist, or that this account may not use
	// it: trying again later doesn't help.
	ErrUnusable = errors.New("the store can't be used")
)

// Object describes one stored object.
type Object struct {
	// Name is relative to the store's URL.
	Name    string
	Size    int64
	Updated time.Time
	// Generation is another one after every change of the object.
	Generation int64
	// CRC32C is the checksum of the bytes (Castagnoli), which a bucket knows; nil for a
	// directory.
	CRC32C *uint32
	// Metadata is what was passed to Create, in a bucket; a directory keeps none.
	Metadata map[string]string
	// Link is the target of a symbolic link in a directory, else "".
	Link string
	// Special means that it is something else in a directory, such as a named pipe, which can't be opened.
	Special bool
}

// Store is what a bucket and a directory have in common.
type Store interface {
	// URL returns the store's URL, without a trailing slash.
	URL() string
	// Create writes an object that must not exist yet; if it does, the error is
	// ErrExists. metadata, which may be nil, is shown in listings: a few short words,
	// dropped by a store that keeps none.
	Create(ctx context.Context, name string, r io.Reader, metadata map[string]string) error
	// Replace is Create for an object that List yielded; if it was replaced or deleted since, the error is ErrExists.
	Replace(ctx context.Context, o Object, r io.Reader, metadata map[string]string) error
	// CreateLarge is Create for bytes that are not held in memory. open may be called more
	// than once. The bytes are hashed on the way, as by PutBlob.
	CreateLarge(ctx context.Context, name, sha256 string, size int64, open func() (io.ReadCloser, error)) error
	// PutBlob makes sure that the content-addressed object with this SHA-256 (lower-case
	// hex) and size exists, and reports whether it had to be written. It renews an old one,
	// which otherwise would be deleted as unused: see package prune. open is called only
	// then. The bytes are hashed on the way; if they are not the promised ones, PutBlob
	// returns ErrMismatch and leaves nothing behind. Errors of open and of its reader are
	// wrapped.
	PutBlob(ctx context.Context, sha256 string, size int64, open func() (io.ReadCloser, error)) (written bool, err error)
	// HasBlobs returns the SHA-256 of those blobs for which PutBlob would do nothing. It
	// may omit some of them, or all if it can't find out quickly.
	HasBlobs(ctx context.Context, blobs []api.IndexBlob) map[string]bool
	// HasBlob reports whether PutBlob would do nothing, in one request. It is false if that
	// can't be found out, and for a store without ages, where a blob may be older than what
	// it refers to.
	HasBlob(ctx context.Context, blob api.IndexBlob) bool
	// Open reads an object; ErrNotFound if it doesn't exist.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// OpenRange reads length bytes of an object that List yielded, from an offset on;
	// ErrNotFound if the object was replaced since. It checks no checksum.
	OpenRange(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error)
	// List yields the objects whose names begin with prefix, sorted by name; start,
	// unless it is "", skips those whose names sort before it. An error ends the
	// sequence. A bucket's objects are read a page at a time.
	List(ctx context.Context, prefix, start string) iter.Seq2[Object, error]
	// Dirs returns the first path elements under the store's root that begin with prefix,
	// sorted: one for each job, and the reserved ones.
	Dirs(ctx context.Context, prefix string) ([]string, error)
	// Delete deletes an object; it is not an error if the object doesn't exist.
	Delete(ctx context.Context, name string) error
	// DeleteListed deletes an object that List yielded, unless it was replaced or renewed
	// since. It reports whether it deleted the object.
	DeleteListed(ctx context.Context, o Object) (deleted bool, err error)
	// Now returns the time by the clock that Updated is from, which is known from the first
	// answer of the store on.
	Now() time.Time
	// Close closes connections. The store must not be used afterwards.
	Close() error
}

// Open opens the store at a URL like file:///home/me/store, gs://bucket or
// gs://bucket/prefix. It contacts nothing and reads no credentials until the first use.
// STORAGE_EMULATOR_HOST replaces Cloud Storage.
func Open(rawURL string) (Store, error) {
	if strings.HasPrefix(rawURL, BucketScheme) {
		return openBucket(rawURL)
	}
	if !strings.HasPrefix(rawURL, FileScheme) {
		return nil, fmt.Errorf("store %q: expected gs://BUCKET, gs://BUCKET/PREFIX or file:///DIR", rawURL)
	}
	return OpenFile(rawURL)
}

// Copy creates an object, which must not exist yet, with the bytes of another, which may
// be in another store. Between buckets, the bytes don't pass through this machine. It
// returns ErrExists and ErrNotFound like Create and Open.
func Copy(ctx context.Context, to Store, name string, from Store, old string, metadata map[string]string) error {
	if to, ok := to.(*gsStore); ok {
		if from, ok := from.(*gsStore); ok {
			return to.copyFrom(ctx, name, from, old, metadata)
		}
	}
	r, err := from.Open(ctx, old)
	if err != nil {
		return err
	}
	return errors.Join(to.Create(ctx, name, r, metadata), r.Close())
}

// Parallel is how many small objects are read, copied or deleted at a time. Each takes a round
// trip and hardly any memory.
const Parallel = 64

// Each calls do for every item, with its index, Parallel at a time. Their context ends with the first error, which Each returns.
func Each[T any](ctx context.Context, items []T, do func(ctx context.Context, i int, item T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Parallel)
	for i, item := range items {
		g.Go(func() error { return do(ctx, i, item) })
	}
	return g.Wait()
}

// DeleteAll deletes objects, several at a time. It calls seen after each of them.
func DeleteAll(ctx context.Context, s Store, names []string, seen func(done, total int)) error {
	var mu sync.Mutex
	done := 0
	return Each(ctx, names, func(ctx context.Context, _ int, name string) error {
		if err := s.Delete(ctx, name); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		seen(done, len(names))
		return nil
	})
}

// IDs returns the directories of a store that may be those of jobs and begin with prefix, sorted. With an error it returns those
// that it could list, in any order.
func IDs(ctx context.Context, s Store, prefix string) ([]string, error) {
	dirs, err := s.Dirs(ctx, prefix)
	return slices.DeleteFunc(dirs, func(id string) bool { return CheckID(id) != nil }), err
}

// HasAny reports whether there is an object whose name begins with prefix.
func HasAny(ctx context.Context, s Store, prefix string) (bool, error) {
	for _, err := range s.List(ctx, prefix, "") {
		return err == nil, err
	}
	return false, nil
}
