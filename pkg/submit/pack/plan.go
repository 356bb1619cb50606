// Package pack finds the directory with a job's code, decides which of its files are sent,
// and turns them into content-addressed objects: packs of small files,
// large files in parts, and an index that lists them. The same files give the same
// bytes on every machine, so what a store already has is never sent again.
package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Options says what to package.
type Options struct {
	// Root is the absolute path of the directory.
	Root string
	// Ignore reports whether to leave out a path, given relative to Root with forward
	// slashes. It is called for a directory before anything under it, and never for what
	// is under an ignored one. nil ignores nothing.
	Ignore func(rel string, isDir bool) bool
	// Exclude lists absolute paths that are left out with everything under them, whatever
	// name leads there. Root itself and its parents are not left out.
	Exclude []string
	// Except lists files that are left out, whatever name leads there: those that are being written.
	Except []fs.FileInfo
	// CacheDir is where hashes are kept between plans; "" means nowhere. It is never
	// packaged.
	CacheDir string
	// EditedSince is the time since which files count as edited: the last of them are packed
	// apart from others, so that plans between edits differ by little. With the zero time,
	// a plan depends on content alone.
	EditedSince time.Time
}

// Plan is a directory ready for upload.
type Plan struct {
	Index api.Index
	// IndexBlob is Index as it is stored: gzip-compressed JSON.
	IndexBlob []byte
	// SHA256 is the hash of IndexBlob in lower-case hex. It identifies the plan.
	SHA256 string
	// Bytes is the size of all files, StoredBytes their size in the store, including the
	// index.
	Bytes, StoredBytes int64
	// Warnings are sentences for the user, sorted.
	Warnings []string
	// LeftOut are the directories, relative to the root, that were left out because they have fetched
	// outputs. Only the planner of a bundle sets it.
	LeftOut []string

	files []file
	links []api.IndexLink
	dirs  []string // without files below them
	// sources are parallel to Index.Blobs.
	sources []source
}

type file struct {
	rel     string
	abs     string // to open the file: free of symlinks, or nearly
	number  uint32 // in the list of a data set
	mode    uint32 // as in the index
	stamp   stamp
	digest  digest
	parts   []digest // of a file larger than a part may be; digest is then the hash of these
	settled bool     // the digests can be cached
	known   bool     // they were
}

// digest is the SHA-256 of a file's content.
type digest = [sha256.Size]byte

// FileError is an error about one file or directory that cannot be packaged. Its message
// ends with what the user can do.
type FileError struct {
	// Path is relative to the root, with forward slashes.
	Path string
	// Problem and Remedy are the two halves of the message after the path.
	Problem, Remedy string
	// Err is the cause, or nil.
	Err error
	// Changed means that the file changed meanwhile, so that another run may succeed.
	Changed bool
}

func (e *FileError) Error() string {
	return fmt.Sprintf("cannot package %q: %s: %s", e.Path, e.Problem, e.Remedy)
}

func (e *FileError) Unwrap() error { return e.Err }

// unreadable returns the error for a file or directory that cannot be read.
func unreadable(rel string, err error) error {
	return &FileError{Path: rel, Problem: cause(err).Error(), Remedy: "make it readable", Err: err}
}

// changed returns the error for a file that changed since it was hashed.
func changed(rel string) error {
	return &FileError{Path: rel, Problem: "it changed while it was being packaged", Remedy: "run again", Changed: true}
}

// New walks a directory, hashes its files and decides which blob each goes into. It
// writes nothing but the cache. Errors about one file are a *FileError.
func New(ctx context.Context, opts Options) (*Plan, error) {
	root, err := realDir(opts.Root)
	if err != nil {
		return nil, err
	}
	// With many files, the cache takes a third of the time: it is read beside the walk, and written beside the index.
	cache := newCache(opts.CacheDir, "pack", root, math.MaxUint64)
	read := make(chan known, 1)
	go func() { read <- cache.load() }()
	tree, err := walk(ctx, root, opts)
	known := <-read
	if err != nil {
		return nil, err
	}
	p := &Plan{files: tree.files, dirs: tree.emptyDirs(), Warnings: tree.warnings}
	sources, err := p.hash(ctx, known, keptPacks, opts.EditedSince)
	written := make(chan struct{})
	go func() {
		defer close(written)
		if p.learned(known, sources) {
			cache.store(known, remember(p.files, sources))
		}
	}()
	defer func() { <-written }()
	if err != nil {
		return nil, err
	}
	p.fillIndex(sources)
	return p, p.seal()
}

// learned reports whether the cache lacks so much that it is worth writing: more than one file in a hundred,
// packs of one in eight, or 32 bytes for each file. Writing a large cache takes longer than hashing less than that again.
func (p *Plan) learned(known known, sources []source) bool {
	var files, members int
	var bytes int64
	for _, f := range p.files {
		if f.settled && !f.known {
			files++
			bytes += f.stamp.Size
		}
	}
	for _, s := range sources {
		if s.packed && !s.known {
			members += len(s.members)
			for _, i := range s.members {
				bytes += p.files[i].stamp.Size
			}
		}
	}
	return 100*files > len(known.Files) || 8*members > len(known.Files) || bytes > 32*int64(len(known.Files))
}

// hash fills in the digests of files and packs. After an error, it returns what it has.
func (p *Plan) hash(ctx context.Context, known known, keep int64, editedSince time.Time) ([]source, error) {
	if err := hashFiles(ctx, p.files, known); err != nil {
		return nil, err
	}
	sources := arrange(p.files, editedSince)
	return sources, compressPacks(ctx, p.files, sources, known, keep)
}

// fillIndex lists blobs in the order of their first files. Blobs with the same content are
// one.
func (p *Plan) fillIndex(sources []source) {
	p.Index = api.Index{
		Version: api.Contract.Versions.Index, Links: p.links, Dirs: p.dirs,
		Blobs: []api.IndexBlob{}, Files: make([]api.IndexFile, len(p.files)),
	}
	for i, f := range p.files {
		p.Index.Files[i] = api.IndexFile{Path: f.rel, Mode: f.mode, Size: f.stamp.Size}
		p.Bytes += f.stamp.Size
	}
	numbers := map[api.IndexBlob]int{}
	for _, s := range sources {
		blob := api.IndexBlob{SHA256: hex.EncodeToString(s.digest[:]), Size: s.size, Encoding: s.encoding()}
		number, known := numbers[blob]
		if !known {
			number = len(p.sources)
			numbers[blob] = number
			p.sources = append(p.sources, s)
			p.Index.Blobs = append(p.Index.Blobs, blob)
			p.StoredBytes += s.size
		}
		p.place(s, number)
	}
}

// place notes which blob holds the files, or the part of a file, of a source.
func (p *Plan) place(s source, number int) {
	var offset int64
	for _, member := range s.members {
		entry := &p.Index.Files[member]
		if len(p.files[member].parts) > 0 {
			entry.Parts = append(entry.Parts, number)
			continue
		}
		entry.Blob, entry.Offset = number, offset
		offset += entry.Size
	}
}

// seal encodes the index and computes its hash, the plan's identity.
func (p *Plan) seal() error {
	text, err := json.Marshal(encodeNames(p.Index))
	if err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	text = append(text, '\n')
	if err := checkIndex(len(text), len(p.Index.Files)); err != nil {
		return err
	}
	if p.IndexBlob, err = compress(text); err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	p.SHA256 = fmt.Sprintf("%x", sha256.Sum256(p.IndexBlob))
	p.StoredBytes += int64(len(p.IndexBlob))
	return nil
}

// checkIndex rejects an index that is too large for the runner.
func checkIndex(size, files int) error {
	if size <= api.Contract.Limits.Index {
		return nil
	}
	return fmt.Errorf("there are %d files to package, whose list takes %d MiB, more than %d MiB: exclude what the job doesn't need in .kineticignore",
		files, size>>20, api.Contract.Limits.Index>>20)
}

// compressionLevel balances the time before an upload against its size: level 4 takes
// half the time of 6 and produces 7 % more bytes for Python and Go sources.
const compressionLevel = 4

// smallSize is up to how many bytes data are compressed without the tables of compressionLevel: making them takes as long as
// planning a small project.
const smallSize = 16 << 10

// compress returns data as gzip, whose header doesn't depend on time or machine.
func compress(data []byte) ([]byte, error) {
	level := compressionLevel
	if len(data) <= smallSize {
		level = gzip.StatelessCompression
	}
	var packed bytes.Buffer
	gz, err := gzip.NewWriterLevel(&packed, level)
	if err != nil {
		return nil, err
	}
	if _, err := gz.Write(data); err != nil {
		return nil, err
	}
	if err := gz.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// encodeNames returns an index whose names JSON can hold, and the runner takes: as base64 if
// one of them isn't UTF-8, or has a backslash.
func encodeNames(index api.Index) api.Index {
	odd := func(name string) bool { return !utf8.ValidString(name) || strings.Contains(name, `\`) }
	if !slices.ContainsFunc(index.Files, func(f api.IndexFile) bool { return odd(f.Path) }) &&
		!slices.ContainsFunc(index.Links, func(l api.IndexLink) bool { return odd(l.Path) || odd(l.Target) }) &&
		!slices.ContainsFunc(index.Dirs, odd) {
		return index
	}
	encode := func(name string) string { return base64.StdEncoding.EncodeToString([]byte(name)) }
	index.Names = api.NamesBase64
	index.Files, index.Links, index.Dirs = slices.Clone(index.Files), slices.Clone(index.Links), slices.Clone(index.Dirs)
	for i := range index.Files {
		index.Files[i].Path = encode(index.Files[i].Path)
	}
	for i, l := range index.Links {
		index.Links[i] = api.IndexLink{Path: encode(l.Path), Target: encode(l.Target)}
	}
	for i, dir := range index.Dirs {
		index.Dirs[i] = encode(dir)
	}
	return index
}
