package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"cloud.google.com/go/storage"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// linkKey is the metadata key by which gcsfuse recognizes a symbolic link. Its value is the
// target.
const linkKey = "gcsfuse_symlink_target"

// maxNameBytes is how long the name of an object may be, in a bucket.
const maxNameBytes = 1024

// Tree is a directory of a bucket that pods mount: its files are objects under their own names.
// The hash of a data set names it, so that its files never change.
type Tree struct {
	store  *gsStore
	sha256 string
}

// TreeFile is a file, a link or an empty directory of a Tree.
type TreeFile struct {
	// Path is relative to the directory. That of an empty directory ends in a slash.
	Path string
	Size int64
	// Link is the target of a symbolic link, "" for anything else.
	Link string
	// Open opens the content, if there is any. The reader returns an error instead of io.EOF
	// if its bytes aren't those of the data set.
	Open func() (io.ReadCloser, error)
}

// TreeObject is what the bucket has of a TreeFile. The zero value is nothing.
type TreeObject struct {
	Path  string
	attrs *storage.ObjectAttrs
}

// Size returns the object's size in bytes.
func (o TreeObject) Size() int64 { return o.attrs.Size }

// OpenTree returns the directory of a data set. Only buckets have them: nothing else can be
// mounted.
func OpenTree(s Store, sha256 string) (*Tree, error) {
	gs, ok := s.(*gsStore)
	if !ok {
		return nil, fmt.Errorf("storing files under their own names in %s: only a bucket can be mounted: use gs://BUCKET", s.URL())
	}
	if !lazyregexp.Of(sha256Pattern).MatchString(sha256) {
		return nil, fmt.Errorf("data set %q: expected 64 lower-case hexadecimal digits", sha256)
	}
	return &Tree{gs, sha256}, nil
}

// CheckTreePath rejects a path that no object in the tree of a data set can have. storeURL is
// that of a bucket.
func CheckTreePath(storeURL, sha256, path string) error {
	_, prefix, _ := strings.Cut(strings.TrimPrefix(storeURL, BucketScheme)+"/", "/") // with a slash at its end, or ""
	size := len(prefix) + len(DataTree(sha256)) + len(path)
	switch {
	case !utf8.ValidString(path):
		return errors.New("object names in a bucket must be UTF-8")
	case strings.ContainsAny(path, "\r\n"):
		return errors.New("object names in a bucket can't contain line breaks")
	case size > maxNameBytes:
		return fmt.Errorf("its name in a bucket would have %d bytes, but at most %d are allowed", size, maxNameBytes)
	}
	return nil
}

// URL returns the URL of the directory, with a slash at its end.
func (t *Tree) URL() string { return t.store.full(DataTree(t.sha256)) }

// Complete reports, in one request, whether everything was in the directory and stays for long
// enough: its record, which is written last, is young.
func (t *Tree) Complete(ctx context.Context) (bool, error) {
	req, err := t.store.begin(ctx, toRead, DataRecord(t.sha256))
	if err != nil {
		return false, err
	}
	found, err := req.look(ctx)
	if found == nil {
		return false, err
	}
	return req.age(found) < renewAfter(), nil
}

// List yields what is in the directory, sorted by path. An error ends the sequence.
func (t *Tree) List(ctx context.Context) iter.Seq2[TreeObject, error] {
	prefix := DataTree(t.sha256)
	return func(yield func(TreeObject, error) bool) {
		for a, err := range t.store.list(ctx, prefix, storage.Query{Prefix: t.store.prefix + prefix}, "Name", "Size", "Created", "Generation") {
			if err != nil {
				yield(TreeObject{}, err)
				return
			}
			if !yield(TreeObject{strings.TrimPrefix(a.Name, t.store.prefix+prefix), a}, nil) {
				return
			}
		}
	}
}

// Put makes sure that a file is there for long enough, and reports whether it had to be written.
// found is what List yielded of the file. An object of the right size is the right one.
func (t *Tree) Put(ctx context.Context, f TreeFile, found TreeObject) (written bool, err error) {
	if err := checkName(strings.TrimSuffix(f.Path, "/")); err != nil {
		return false, err
	}
	req, err := t.store.begin(ctx, toRead, DataTree(t.sha256)+f.Path)
	if err != nil {
		return false, err
	}
	u := upload{size: f.Size, open: f.Open, renewAfter: renewMountedAfter()}
	if f.Link != "" {
		u.metadata = map[string]string{linkKey: f.Link}
	}
	if f.Size == 0 {
		u.open = opener(nil)
	}
	return req.put(ctx, found.attrs, u)
}

// Seal writes the record of the directory, once everything is in it.
func (t *Tree) Seal(ctx context.Context, record []byte) (written bool, err error) {
	req, err := t.store.begin(ctx, toRead, DataRecord(t.sha256))
	if err != nil {
		return false, err
	}
	found, err := req.look(ctx)
	if err != nil {
		return false, err
	}
	return req.put(ctx, found, upload{size: int64(len(record)), open: opener(record), renewAfter: renewAfter()})
}

func opener(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}
