package pack

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// manyFiles makes up n small files, sorted by path, 32 MB for 3,000.
func manyFiles(n int) []file {
	files := make([]file, n)
	for i := range files {
		rel := fmt.Sprintf("src/m%02d/f%04d.py", i%100, i)
		files[i] = file{rel: rel, digest: sha256.Sum256([]byte(rel)), stamp: stamp{Size: int64(1000 + i*37%20_000)}}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.rel, b.rel) })
	return files
}

// packs is the set of contents of all packs.
func packs(files []file) map[digest]bool {
	set := map[digest]bool{}
	for _, s := range arrange(files) {
		if s.packed {
			set[contents(files, s.members)] = true
		}
	}
	return set
}

// newPacks counts the packs of files that are not in old.
func newPacks(old map[digest]bool, files []file) int {
	var n int
	for p := range packs(files) {
		if !old[p] {
			n++
		}
	}
	return n
}

func TestPackBoundariesAreStable(t *testing.T) {
	files := manyFiles(3000)
	before := packs(files)
	for name, change := range map[string]func(i int) []file{
		"edit": func(i int) []file {
			after := slices.Clone(files)
			after[i].digest[0]++
			after[i].stamp.Size += 10
			return after
		},
		"add": func(i int) []file {
			f := file{rel: files[i].rel + "x", digest: digest{1}, stamp: stamp{Size: 9000}}
			return slices.Insert(slices.Clone(files), i+1, f)
		},
		"remove": func(i int) []file { return slices.Delete(slices.Clone(files), i, i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			for i := 0; i < len(files); i += 23 {
				if n := newPacks(before, change(i)); n > 2 {
					t.Fatalf("file %d: %d of %d packs are new, want at most 2", i, n, len(before))
				}
			}
		})
	}
}

func TestArrange(t *testing.T) {
	files := manyFiles(3000)
	files[10].stamp.Size = largeFile
	files[20].stamp.Size = largeFile - 1
	sources := arrange(files)
	used := make([]int, len(files))
	last := -1
	for _, s := range sources {
		if s.members[0] <= last {
			t.Errorf("a blob begins with file %d after one that begins with %d", s.members[0], last)
		}
		last = s.members[0]
		if !slices.IsSorted(s.members) {
			t.Errorf("the members %v are not in path order", s.members)
		}
		var size int64
		for _, i := range s.members {
			used[i]++
			size += files[i].stamp.Size
		}
		if s.packed && size > packSize {
			t.Errorf("a pack has %d bytes, want at most %d", size, packSize)
		}
		if !s.packed && (len(s.members) != 1 || s.members[0] != 10) {
			t.Errorf("files %v are a blob of their own, want file 10 alone", s.members)
		}
	}
	if i := slices.IndexFunc(used, func(n int) bool { return n != 1 }); i >= 0 {
		t.Errorf("file %d is in %d blobs, want 1", i, used[i])
	}
	if n := len(sources); n > 20 {
		t.Errorf("%d blobs for 32 MB, want packs of about 4 MB", n)
	}
}

func TestArrangeEqualHashes(t *testing.T) {
	// Two files of one path cannot be; a hash that runs out of bits must end.
	files := []file{{rel: "a", stamp: stamp{Size: packSize}}, {rel: "a", stamp: stamp{Size: packSize}}}
	if got := divide(files, []uint64{7, 7}, []int{0, 1}, 63); len(got) != 1 || len(got[0]) != 2 {
		t.Errorf("divide = %v, want one pack in spite of its size", got)
	}
}
