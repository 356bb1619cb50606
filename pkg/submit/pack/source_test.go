package pack

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
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
	for _, s := range arrange(files, time.Time{}) {
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
	sources := arrange(files, time.Time{})
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

func TestEditedFilesArePackedApart(t *testing.T) {
	since := time.Unix(1000, 0)
	edit := func(files []file, version byte, edited ...int) []file {
		after := slices.Clone(files)
		for n, i := range edited {
			after[i].digest[0] += version
			after[i].stamp.MTime = since.Add(time.Duration(n+1) * time.Second).UnixNano()
		}
		return after
	}
	arranged := func(files []file) (all map[digest]int) {
		all = map[digest]int{}
		for _, s := range arrange(files, since) {
			all[contents(files, s.members)] = len(s.members)
		}
		return all
	}
	files := manyFiles(3000)
	before := arranged(edit(files, 1, 7, 1500, 2999))
	var sizes []int
	for pack, members := range arranged(edit(files, 2, 7, 1500, 2999)) {
		if before[pack] == 0 {
			sizes = append(sizes, members)
		}
	}
	if !slices.Equal(sizes, []int{3}) {
		t.Errorf("an edit of files that were edited before makes new packs of %d files, want one of 3", sizes)
	}
	all := make([]int, 50) // a checkout takes less than a minute
	for i := range all {
		all[i] = i
	}
	if edited, others := separate(edit(files, 1, all...), all, since); !slices.Equal(edited, all) || others != nil {
		t.Errorf("apart are %d, others %d; want all that were edited apart", edited, others)
	}
	for i := range files {
		all = append(all[:i], i)
	}
	clone := slices.Clone(files)
	for i := range clone {
		clone[i].stamp.MTime = since.Add(time.Second).UnixNano()
	}
	if edited, _ := separate(clone, all, since); len(edited) > 0 {
		t.Errorf("of a new clone, files %d are apart", edited)
	}
	clone[70].stamp.MTime += int64(2 * checkoutTime)
	if edited, others := separate(clone, all, since); !slices.Equal(edited, []int{70}) || len(others) != len(files)-1 {
		t.Errorf("after an edit in a new clone, files %d are apart, want 70", edited)
	}
	if !maps.Equal(packs(edit(files, 0, all...)), packs(files)) {
		t.Error("without a time, packs depend on when files were edited")
	}
}
