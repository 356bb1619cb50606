package pack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Set is a directory or a file of data, ready for upload. Its shards are plans, which are
// made again when they are needed: a plan of each file at once would take too much memory.
type Set struct {
	// SHA256 is the hash of Document in lower-case hex. It identifies the data set.
	SHA256 string
	// Document is the api.DataSet as it is stored.
	Document []byte
	Shards   []api.SetShard
	Files    int
	// Bytes is the size of all files, StoredBytes their size in the store, including the
	// indexes and the document.
	Bytes, StoredBytes int64
	// Warnings are sentences for the user.
	Warnings []string

	list   *list
	ranges []hashRange // of the shards
	packs  known       // of all shards
	only   *Plan       // the plan of a set of one shard
}

// Paths yields the paths of all files and links, relative to the root and in no order. It may stop at the
// first call that returns false.
func (s *Set) Paths(yield func(rel string) bool) {
	var rel []byte
	for i := range uint32(s.list.count) {
		rel = s.list.appendRel(rel[:0], s.list.at(i))
		if !yield(string(rel)) {
			return
		}
	}
}

// hashRange holds the entries whose path hashes are in the range of a shard.
type hashRange struct {
	last    uint64
	numbers []uint32
}

// NewSet lists a directory, or a single file, hashes its files and decides which blob each
// goes into. Unlike New, it keeps permission bits, links that stay in the tree, empty
// directories and names of any bytes, and it ignores nothing but Options.Exclude. It
// writes nothing but the cache.
func NewSet(ctx context.Context, opts Options) (*Set, error) {
	tree, err := listTree(ctx, opts)
	if err != nil {
		return nil, err
	}
	s := &Set{list: tree.list, Warnings: tree.warnings, packs: known{Packs: map[digest]knownPack{}}}
	s.ranges = divideList(tree.list)
	caches := make([]cache, len(s.ranges))
	for i, r := range s.ranges {
		caches[i] = newCache(opts.CacheDir, "data", opts.Root, r.last)
		if err := s.addShard(ctx, i, caches[i]); err != nil {
			return nil, err
		}
	}
	removeOthers(caches)
	return s, s.seal()
}

// divideList divides the entries by the hashes of their paths, until each part has few
// enough.
func divideList(l *list) []hashRange {
	hashes, numbers := make([]uint64, l.count), make([]uint32, l.count)
	var rel []byte
	for i := range numbers {
		numbers[i] = uint32(i)
		rel = l.appendRel(rel[:0], l.at(uint32(i)))
		hashes[i] = pathHash(rel)
	}
	slices.SortFunc(numbers, func(a, b uint32) int { return cmp.Compare(hashes[a], hashes[b]) })
	var ranges []hashRange
	var halve func(numbers []uint32, last uint64, bit int)
	halve = func(numbers []uint32, last uint64, bit int) {
		if len(numbers) <= api.MaxShardFiles || bit < 0 {
			ranges = append(ranges, hashRange{last, numbers})
			return
		}
		middle := last - 1<<bit // the end of the first half
		cut, _ := slices.BinarySearchFunc(numbers, middle, func(n uint32, m uint64) int {
			if hashes[n] <= m {
				return -1
			}
			return 1
		})
		halve(numbers[:cut], middle, bit-1)
		halve(numbers[cut:], last, bit-1)
	}
	halve(numbers, math.MaxUint64, 63)
	return ranges
}

func (s *Set) addShard(ctx context.Context, i int, cache cache) error {
	r := s.ranges[i]
	known, keep := cache.load(), int64(0)
	if len(s.ranges) == 1 {
		keep = keptPacks
	}
	p := s.plan(r)
	if err := p.statFiles(ctx, s.list); err != nil {
		return err
	}
	sources, err := p.hash(ctx, known, keep, time.Time{})
	s.collect()
	found := remember(p.files, sources)
	cache.store(known, found)
	if err != nil {
		return err
	}
	maps.Copy(s.packs.Packs, found.Packs)
	s.note(p)
	p.fillIndex(sources)
	if err := p.seal(); err != nil {
		return err
	}
	if len(s.ranges) == 1 {
		s.only = p
	}
	s.collect()
	s.Shards = append(s.Shards, api.SetShard{SHA256: p.SHA256, Size: int64(len(p.IndexBlob)), Files: len(p.files), Bytes: p.Bytes})
	s.Files += len(p.files)
	s.Bytes += p.Bytes
	s.StoredBytes += p.StoredBytes
	return nil
}

// collect removes the garbage of a large set. The list stays, and the collector waits until
// there is as much garbage as that.
func (s *Set) collect() {
	if len(s.ranges) > 1 {
		runtime.GC()
	}
}

// seal writes the document and computes its hash, the data set's identity.
func (s *Set) seal() error {
	document, err := json.Marshal(api.DataSet{Version: api.Contract.Versions.Document, Files: s.Files, Bytes: s.Bytes, Shards: s.Shards})
	if err != nil {
		return fmt.Errorf("describing the data set: %w", err)
	}
	s.Document = append(document, '\n')
	s.SHA256 = fmt.Sprintf("%x", sha256.Sum256(s.Document))
	s.StoredBytes += int64(len(s.Document))
	return nil
}

// plan returns the plan of a shard, with what the list knows about it.
func (s *Set) plan(r hashRange) *Plan {
	p := &Plan{}
	rels := map[uint32]string{}
	for _, n := range r.numbers {
		rels[n] = string(s.list.appendRel(nil, s.list.at(n)))
	}
	slices.SortFunc(r.numbers, func(a, b uint32) int { return strings.Compare(rels[a], rels[b]) })
	for _, n := range r.numbers {
		switch s.list.at(n).kind {
		case listedLink:
			p.links = append(p.links, api.IndexLink{Path: rels[n], Target: s.list.targets[n]})
		case emptyDir:
			p.dirs = append(p.dirs, rels[n])
		default:
			p.files = append(p.files, s.list.file(n, rels[n]))
		}
	}
	return p
}

// remake returns the plan of a shard again, once everything in it has been hashed.
func (s *Set) remake(ctx context.Context, i int) (*Plan, error) {
	if s.only != nil {
		return s.only, nil
	}
	p := s.plan(s.ranges[i])
	sources := arrange(p.files, time.Time{})
	if err := compressPacks(ctx, p.files, sources, s.packs, 0); err != nil {
		return nil, err
	}
	p.fillIndex(sources)
	return p, p.seal()
}

// note keeps in the list what a plan found out about its files.
func (s *Set) note(p *Plan) {
	for i := range p.files {
		f := &p.files[i]
		e := s.list.at(f.number)
		e.size, e.digest, e.mode = f.stamp.Size, f.digest, uint16(f.mode)
		if len(f.parts) > 0 {
			s.list.parts[f.number] = f.parts
		}
	}
}

func (p *Plan) statFiles(ctx context.Context, l *list) error {
	return parallel(ctx, len(p.files), func(_ context.Context, i int, _ []byte) error {
		f := &p.files[i]
		look := os.Lstat
		if l.at(f.number).kind == followedFile {
			look = os.Stat
		}
		info, err := look(f.abs)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			return changed(f.rel)
		}
		if err != nil {
			return unreadable(f.rel, err)
		}
		f.stamp, f.mode = stampOf(info), dataMode(info.Mode(), f.rel, runtime.GOOS)
		return nil
	})
}

// dataMode returns the mode of a file of data in the index: its permission bits, and that
// its owner can read and write it. Windows has none.
func dataMode(mode fs.FileMode, rel, goos string) uint32 {
	if goos == "windows" {
		return bundleMode(mode, rel, goos)
	}
	if bits := uint32(mode.Perm() | 0o600); bits != api.Contract.Defaults.Mode {
		return bits
	}
	return 0
}

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
