package outputs

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"

	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// syncIndex is what a host's runner wrote about the outputs that are complete.
type syncIndex struct {
	Files []syncFile `json:"files"`
}

// syncFile is a file, or a link, which has no object.
type syncFile struct {
	Path       string  `json:"path"`
	Size       int64   `json:"size"`
	Generation string  `json:"generation"`
	Link       *string `json:"link"`
	// Unit is the directory that was saved as a whole; nil for the one that the file is in.
	Unit *string `json:"unit"`
}

func (f syncFile) unit() string {
	if f.Unit != nil {
		return *f.Unit
	}
	if dir := path.Dir(f.Path); dir != "." {
		return dir
	}
	return ""
}

// Marked is List with links, and with the files marked that are incomplete. synced reports whether the job's runner
// has saved outputs; without that, nothing is marked.
func (d *Dir) Marked(ctx context.Context, at string) (files []File, synced bool, err error) {
	saved, synced, err := d.saved(ctx)
	if err != nil || !synced {
		if err == nil {
			files, err = d.List(ctx, at)
		}
		return files, false, err
	}
	all, err := d.list(ctx, "") // a directory is complete as a whole
	if err != nil {
		return nil, false, err
	}
	mark(d.job.ID(), all, saved)
	if saved[at].Link == nil { // else the link itself is listed
		at = follow(saved, at)
	}
	files, err = d.below(ctx, d.addLinks(all, saved), at)
	return files, true, err
}

// saved reads what the runners of all hosts have saved, by path.
func (d *Dir) saved(ctx context.Context) (saved map[string]syncFile, synced bool, err error) {
	saved = map[string]syncFile{}
	for o, err := range d.job.Store.List(ctx, store.SyncDir(d.job.ID()), "") {
		if err != nil {
			return nil, false, fmt.Errorf("job %s: %w", d.job.ID(), err)
		}
		index, err := records.Read[syncIndex](ctx, d.job.Store, o.Name)
		if err != nil {
			return nil, false, fmt.Errorf("job %s: %w", d.job.ID(), err)
		}
		for _, f := range index.Files {
			saved[f.Path] = f
		}
		synced = true
	}
	return saved, synced, nil
}

// mark marks what a restore would leave out, or bring in another state than was saved as a whole. The
// runner's rules: it writes objects first, and the record of them when all of a unit are there. So an
// object of its own that the record lacks, or has in another generation, is part of a unit that was not
// finished. A unit that lacks an object is not restored either. What another program has
// written, or another job, is complete: such objects appear whole.
func mark(id string, files []File, saved map[string]syncFile) {
	present := map[string]bool{}
	for _, f := range files {
		present[f.Name] = true
	}
	broken := map[string]bool{}
	for _, s := range saved {
		if s.Link == nil && !present[s.Path] {
			broken[s.unit()] = true
		}
	}
	for i := range files {
		f := &files[i]
		s, known := saved[f.Name]
		switch by := store.WrittenBy(f.object); {
		case by != "" && by != id, by == "" && f.object.CRC32C != nil: // a bucket knows who has written it
		case !known:
			f.Incomplete = by != ""
		default:
			f.Incomplete = s.Link != nil || broken[s.unit()] || !s.matches(*f)
		}
	}
}

// matches compares generations only where they mean the same: in a bucket.
func (f syncFile) matches(found File) bool {
	inBucket := found.object.CRC32C != nil
	return f.Size == found.Size && (!inBucket || cmp.Or(f.Generation, "0") == strconv.FormatInt(found.object.Generation, 10))
}
