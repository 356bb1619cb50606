package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	// chunkMemory is what a file needs on its way that is sent in several requests: the store
	// keeps one of them, to send it again.
	chunkMemory = 4 * sendMemory
	// smallMemory is what any other file needs, besides its content.
	smallMemory = 1 << 20
)

// CheckTree returns a *FileError if a name can't be in a bucket. storeURL is that of the bucket.
func (s *Set) CheckTree(storeURL string) error {
	const remedy = "rename it, or omit fuse"
	var path []byte
	for n := range uint32(s.list.count) {
		e := s.list.at(n)
		path = s.list.appendTreePath(path[:0], e)
		rel := string(s.list.appendRel(nil, e))
		if err := store.CheckTreePath(storeURL, s.SHA256, string(path)); err != nil {
			return &FileError{Path: rel, Problem: err.Error(), Remedy: remedy}
		}
		if e.kind == listedLink && !utf8.ValidString(s.list.targets[n]) {
			return &FileError{Path: rel, Problem: "its target isn't UTF-8, which a bucket can't store", Remedy: remedy}
		}
	}
	return nil
}

// UploadTree makes sure that a bucket has the files of the data set under their own names, for pods
// to mount. A record of that is written last: if the bucket has had it for a short time only, and
// a list has all files, or they are more than maxListed, nothing else is needed. Otherwise what is
// missing is sent, or renewed if it is old. A file that has changed is a *FileError, and doesn't
// become an object.
func (s *Set) UploadTree(ctx context.Context, to store.Store, progress func(more int64)) (Stats, error) {
	tree, err := store.OpenTree(to, s.SHA256)
	if err != nil {
		return Stats{}, err
	}
	u := &treeUpload{transfer: newTransfer(s.Bytes, progress), set: s, tree: tree}
	there, err := tree.Complete(ctx)
	if err != nil {
		return Stats{}, err
	}
	if there && s.Files <= maxListed {
		there, err = u.hasAll(ctx)
		if err != nil {
			return Stats{}, err
		}
	}
	if there {
		u.advance(s.Bytes)
		return u.stats, nil
	}
	if err := u.files(ctx); err != nil {
		return Stats{}, fmt.Errorf("uploading to %s: %w", tree.URL(), err)
	}
	record, err := json.Marshal(api.TreeRecord{Version: api.TreeVersion, Files: s.Files, Bytes: s.Bytes})
	if err != nil {
		return Stats{}, fmt.Errorf("describing the files in %s: %w", tree.URL(), err)
	}
	if _, err := tree.Seal(ctx, append(record, '\n')); err != nil {
		return Stats{}, err
	}
	return u.stats, nil
}

// treeUpload is the state of one call of UploadTree.
type treeUpload struct {
	*transfer
	set  *Set
	tree *store.Tree
}

// maxListed is how many files are looked for one by one although the record is there: ten requests.
// Somebody may have deleted some, and a mount without them looks like a smaller data set.
const maxListed = 10_000

// hasAll reports whether the bucket has all entries, in their sizes.
func (u *treeUpload) hasAll(ctx context.Context) (bool, error) {
	next, stop := iter.Pull2(u.tree.List(ctx))
	defer stop()
	for _, n := range u.set.list.inTreeOrder() {
		e := u.set.list.at(n)
		path := string(u.set.list.appendTreePath(nil, e))
		found, err, more := next()
		for more && err == nil && found.Path < path { // not ours
			found, err, more = next()
		}
		if err != nil {
			return false, fmt.Errorf("listing %s: %w", u.tree.URL(), err)
		}
		if !more || found.Path != path || found.Size() != e.size {
			return false, nil
		}
	}
	return true, nil
}

// files uploads all entries, in the order in which the bucket lists them, so that the list need
// not be in memory.
func (u *treeUpload) files(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(store.Parallel)
	next, stop := iter.Pull2(u.tree.List(ctx))
	defer stop()
	found, err, more := next()
	for _, n := range u.set.list.inTreeOrder() {
		path := string(u.set.list.appendTreePath(nil, u.set.list.at(n)))
		for more && err == nil && found.Path < path {
			found, err, more = next()
		}
		if err != nil || ctx.Err() != nil {
			break
		}
		there := store.TreeObject{}
		if more && found.Path == path {
			there = found
		}
		group.Go(func() error { return u.file(ctx, n, path, there) })
	}
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}

func (u *treeUpload) file(ctx context.Context, n uint32, path string, there store.TreeObject) error {
	e := u.set.list.at(n)
	f := store.TreeFile{Path: path, Size: e.size, Link: u.set.list.targets[n]}
	memory := min(sendMemory, smallMemory+e.size)
	if e.size > api.Contract.Limits.Part {
		memory = chunkMemory
	}
	open := func() (io.ReadCloser, error) { return openChecked(u.set.list.file(n, path)) }
	err := u.send(ctx, e.size, memory, open, func(open func() (io.ReadCloser, error)) (bool, error) {
		f.Open = open
		return u.tree.Put(ctx, f, there)
	})
	if errors.Is(err, store.ErrMismatch) {
		return changed(path)
	}
	return err
}

// appendTreePath appends the path of an entry below its tree in a bucket. That of an empty
// directory ends in a slash.
func (l *list) appendTreePath(path []byte, e *entry) []byte {
	path = l.appendRel(path, e)
	if e.kind == emptyDir {
		path = append(path, '/')
	}
	return path
}

// inTreeOrder returns the numbers of all entries, sorted by their paths in a bucket.
func (l *list) inTreeOrder() []uint32 {
	numbers := make([]uint32, l.count)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	var one, other []byte
	slices.SortFunc(numbers, func(a, b uint32) int {
		one, other = l.appendTreePath(one[:0], l.at(a)), l.appendTreePath(other[:0], l.at(b))
		return bytes.Compare(one, other)
	})
	return numbers
}

// checkedFile returns an error instead of io.EOF if its bytes aren't those that were hashed.
type checkedFile struct {
	*os.File
	file file
	hash hash.Hash
}

func openChecked(f file) (io.ReadCloser, error) {
	r, err := openFile(&f)
	if err != nil {
		return nil, err
	}
	c := &checkedFile{File: r, file: f, hash: sha256.New()}
	if len(f.parts) > 0 {
		c.hash = &partsHash{part: sha256.New(), Hash: sha256.New()}
	}
	return c, nil
}

func (c *checkedFile) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	c.hash.Write(b[:n])
	switch {
	case errors.Is(err, io.EOF) && sum(c.hash) != c.file.digest:
		err = changed(c.file.rel)
	case err != nil && !errors.Is(err, io.EOF):
		err = unreadable(c.file.rel, err)
	}
	return n, err
}

// partsHash is the digest of a file that has parts: the hash of those of the parts.
type partsHash struct {
	hash.Hash // of the digests so far
	part      hash.Hash
	n         int64 // of the part
}

func (h *partsHash) Write(b []byte) (int, error) {
	size := len(b)
	for len(b) > 0 {
		n := min(int64(len(b)), api.Contract.Limits.Part-h.n)
		h.part.Write(b[:n])
		b = b[n:]
		if h.n += n; h.n == api.Contract.Limits.Part {
			h.endPart()
		}
	}
	return size, nil
}

func (h *partsHash) endPart() {
	h.Hash.Write(h.part.Sum(nil))
	h.part.Reset()
	h.n = 0
}

// Sum ends the last part.
func (h *partsHash) Sum(b []byte) []byte {
	if h.n > 0 {
		h.endPart()
	}
	return h.Hash.Sum(b)
}
