package prune

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// hash is the SHA-256 that names a blob.
type hash [sha256.Size]byte

// parseHash returns false for what is not the name of a blob.
func parseHash(text string) (h hash, ok bool) {
	if len(text) != hex.EncodedLen(len(h)) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(text))
	return h, err == nil
}

func (h hash) String() string { return hex.EncodeToString(h[:]) }

// blob is a content-addressed object. A store has many of them, so it is small.
type blob struct {
	hash                      hash
	size, updated, generation int64 // updated is in Unix nanoseconds
	named                     bool
}

// tree is a directory below store.Data(), with the record of it.
type tree struct {
	objects int
	bytes   int64
	newest  time.Time
	named   bool
}

// listing is what the jobs of a store share.
type listing struct {
	blobs []blob // sorted by hash
	trees map[string]*tree
}

// add adds an object, in the order of names. It leaves out objects with names of other forms, which
// therefore stay.
func (l *listing) add(o store.Object) {
	if h, ok := parseHash(store.BlobOf(o.Name)); ok {
		l.blobs = append(l.blobs, blob{hash: h, size: o.Size, updated: o.Updated.UnixNano(), generation: o.Generation})
		return
	}
	name, _ := store.DataOf(o.Name)
	if name == "" {
		return
	}
	t := l.trees[name]
	if t == nil {
		t = &tree{}
		l.trees[name] = t
	}
	t.objects++
	t.bytes += o.Size
	if o.Updated.After(t.newest) {
		t.newest = o.Updated
	}
}

// name marks what a job needs: a blob, or a directory.
func (l *listing) name(word string) {
	if t := l.trees[word]; t != nil {
		t.named = true
	}
	h, ok := parseHash(word)
	if !ok {
		return
	}
	if i, found := slices.BinarySearchFunc(l.blobs, h, func(b blob, h hash) int { return slices.Compare(b.hash[:], h[:]) }); found {
		l.blobs[i].named = true
	}
}

// reduce drops what nothing may be done to: what has a name, and what is not older than a time.
// A directory is as old as its newest object, since its record stands for all of them.
func (l *listing) reduce(before time.Time) {
	limit := before.UnixNano()
	l.blobs = slices.DeleteFunc(l.blobs, func(b blob) bool { return b.named || b.updated >= limit })
	maps.DeleteFunc(l.trees, func(_ string, t *tree) bool { return t.named || !t.newest.Before(before) })
}

// Item is an object, or a directory with many, that is deleted as a whole.
type Item struct {
	// Name is relative to the store's URL; that of a directory ends in a slash.
	Name    string    `json:"name"`
	Objects int       `json:"objects"`
	Bytes   int64     `json:"bytes"`
	Updated time.Time `json:"updated"`

	generation int64
	tree       string // the name of a directory
}

// items yields what is left, sorted by name.
func (l *listing) items() iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for _, b := range l.blobs {
			if !yield(Item{Name: store.Blob(b.hash.String()), Objects: 1, Bytes: b.size, Updated: time.Unix(0, b.updated).UTC(), generation: b.generation}) {
				return
			}
		}
		for _, name := range slices.SortedFunc(maps.Keys(l.trees), cmp.Compare) {
			t := l.trees[name]
			if !yield(Item{Name: store.Data() + name + "/", Objects: t.objects, Bytes: t.bytes, Updated: t.newest.UTC(), tree: name}) {
				return
			}
		}
	}
}
