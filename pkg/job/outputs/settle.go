package outputs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Settle tidies up the outputs of a job that has ended for good, if its runner could not: all that its indexes name
// gets its plain name, then the objects that they no longer name are deleted. It can be interrupted and repeated, and several
// clients may do it at once. Of a job that has not ended, it changes nothing.
func (d *Dir) Settle(ctx context.Context) error {
	indexes, objects, err := d.indexes(ctx)
	if err != nil {
		return err
	}
	untidy := slices.DeleteFunc(slices.Clone(indexes), func(x index) bool {
		return (x.Done || len(x.Files)+len(x.Pending) == 0) && len(x.unnamed(objects)) == 0
	})
	if len(untidy) == 0 {
		return nil
	}
	if ended, err := d.hasEnded(ctx, untidy); err != nil {
		return fmt.Errorf("job %s: %w", d.job.ID(), err)
	} else if !ended {
		return nil
	}
	plain, err := d.plain(ctx)
	if err != nil {
		return err
	}
	if !d.Shared() { // a later job may have begun with what this one removed
		if err := d.delete(ctx, d.store, d.removed(indexes, plain)); err != nil {
			return fmt.Errorf("job %s: tidying up its outputs: %w", d.job.ID(), err)
		}
	}
	ended := !slices.ContainsFunc(indexes, func(x index) bool { return !x.Ended })
	for _, x := range untidy {
		if ended {
			x.Before = nil
		}
		if err := d.settle(ctx, x, objects, plain); err != nil {
			return fmt.Errorf("job %s: tidying up its outputs: %w", d.job.ID(), err)
		}
	}
	return nil
}

// removed returns the objects that the job's runners have written under plain names which no index has any more: the
// program has removed these files.
func (d *Dir) removed(indexes []index, plain map[string]File) (found []store.Object) {
	named := map[string]bool{}
	for _, x := range indexes {
		for _, e := range x.Files {
			named[d.name(x, string(e.Path))] = true
		}
	}
	for name, f := range plain {
		if !named[name] && store.WrittenBy(f.object) == d.job.ID() {
			found = append(found, f.object)
		}
	}
	return found
}

// hasEnded reports whether the runners write no more: if a client has recorded the end, as that of a job that it has
// just deleted, the pods may still save their outputs until their grace period is over.
func (d *Dir) hasEnded(ctx context.Context, indexes []index) (bool, error) {
	end, err := records.AnyEnd(ctx, d.job.Store, d.job.ID())
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	writing := d.job.Handle.Hosts > 1 && d.job.Handle.Map == nil && slices.ContainsFunc(indexes, func(x index) bool { return !x.Ended })
	if end.By == "runner" && !writing { // the runner of one host records the end of all
		return true, nil
	}
	when := end.Finished
	if when.IsZero() {
		recorded, err := records.Find(ctx, d.job.Store, store.End(d.job.ID()))
		if err != nil {
			return false, err
		}
		when = recorded.Updated
	}
	grace := 0.0
	for _, x := range indexes {
		grace = max(grace, x.Grace)
	}
	// A pod's own period is at most a fifth longer, or three seconds: package render.
	period := time.Duration(max(grace*6/5, grace+3) * float64(time.Second))
	return d.homeStore.Now().Sub(when) > period, nil // this machine's clock may be ahead
}

// settle gives what one index names its plain names. The oldest files come first: newer ones may name them.
func (d *Dir) settle(ctx context.Context, x index, objects map[string]store.Object, plain map[string]File) error {
	if x.Done {
		return d.delete(ctx, d.homeStore, x.unnamed(objects))
	}
	files := slices.Clone(x.Files)
	slices.SortStableFunc(files, func(a, b entry) int { return int(min(max(a.Modified-b.Modified, -1), 1)) })
	for i, e := range files {
		if !e.isFile() || e.Object == "" {
			continue
		}
		name := d.name(x, string(e.Path))
		if !canBePlain(name) {
			continue // as the runner leaves it
		}
		there, ok := plain[name]
		if ok && store.HashOf(there.object) != e.SHA256 {
			if !store.WrittenByHost(there.object, d.job.ID(), x.number) {
				continue // a program wrote it itself, or another host, whose index may name it: this one keeps its own
			}
			if _, err := d.store.DeleteListed(ctx, there.object); err != nil {
				return err
			}
			ok = false
		}
		if !ok {
			metadata := store.OutputMetadata(d.job.ID(), x.number, x.Attempt, e.SHA256)
			err := store.Copy(ctx, d.store, d.prefix+name, d.homeStore, d.home+e.Object, metadata)
			if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrNotFound) {
				continue // another client is doing the same
			}
			if err != nil {
				return err
			}
		}
		files[i].Object = ""
	}
	x.Files, x.Pending, x.Done = files, nil, true
	if err := d.replace(ctx, x); errors.Is(err, store.ErrExists) {
		return nil // another client has done it
	} else if err != nil {
		return err
	}
	return d.delete(ctx, d.homeStore, x.unnamed(objects))
}

// canBePlain reports whether an object can have the name of an output: name_problem in runner/kinetic_runner/outputs/tree.py.
func canBePlain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsAny(name, "\r\n")
}

// replace writes an index in the place of the one that was read. The error is store.ErrExists if that is another one now.
func (d *Dir) replace(ctx context.Context, x index) error {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	x.Write = hex.EncodeToString(id)
	data, err := x.encode()
	if err != nil {
		return err
	}
	return d.homeStore.Replace(ctx, x.object, bytes.NewReader(data), nil)
}

// named returns the names of all objects that an index names, but the plain ones.
func (x index) named() map[string]bool {
	named := map[string]bool{}
	for _, e := range x.Files {
		named[e.Object] = true
	}
	for _, p := range x.Before {
		named[p.Object] = true
	}
	delete(named, "")
	return named
}

// unnamed returns those of some objects that belong to an index, which does not name them.
func (x index) unnamed(objects map[string]store.Object) (found []store.Object) {
	named := x.named()
	for name, o := range objects {
		if store.IsSyncObject(name, x.number) && !named[name] {
			found = append(found, o)
		}
	}
	return found
}

// delete deletes objects, unless somebody has replaced them.
func (d *Dir) delete(ctx context.Context, from store.Store, objects []store.Object) error {
	return store.Each(ctx, objects, func(ctx context.Context, _ int, o store.Object) error {
		_, err := from.DeleteListed(ctx, o)
		return err
	})
}

// leaveOut takes files out of the indexes, so that a restore does not miss them, and deletes what other versions of them are left.
func (d *Dir) leaveOut(ctx context.Context, files []File) error {
	gone := map[string]bool{}
	for _, f := range files {
		gone[f.Name] = true
	}
	indexes, objects, err := d.indexes(ctx)
	if err != nil {
		return err
	}
	emptied := d.emptied(indexes, gone)
	var others []store.Object
	versions := false
	for _, x := range indexes {
		goes := func(e entry) bool {
			name := d.name(x, string(e.Path))
			return e.isFile() && gone[name] || e.Directory && emptied[name]
		}
		left := x
		left.Files = slices.DeleteFunc(slices.Clone(x.Files), goes)
		left.Before = slices.DeleteFunc(slices.Clone(x.Before), func(p past) bool { return goes(p.entry) })
		left.Incomplete = slices.DeleteFunc(slices.Clone(x.Incomplete), func(i incomplete) bool { return gone[d.name(x, string(i.Path))] })
		if len(left.Files) == len(x.Files) && len(left.Before) == len(x.Before) && len(left.Incomplete) == len(x.Incomplete) {
			continue
		}
		if err := d.replace(ctx, left); err != nil {
			return fmt.Errorf("job %s: %w", d.job.ID(), err)
		}
		named := left.named()
		for name := range x.named() {
			if o, ok := objects[name]; ok && !named[name] {
				others = append(others, o)
			}
		}
		versions = versions || len(left.Before) < len(x.Before)
	}
	if err := d.delete(ctx, d.homeStore, others); err != nil || !versions {
		return err
	}
	plain, err := d.plain(ctx)
	if err != nil {
		return err
	}
	others = nil
	for name, f := range plain { // the newest version, if an older one was listed
		if gone[name] && store.WrittenBy(f.object) == d.job.ID() {
			others = append(others, f.object)
		}
	}
	return d.delete(ctx, d.store, others)
}

// emptied returns the directories in which nothing is left when some files are gone. Restored empty, checkpoint-500 would pass for a
// checkpoint. Directories that were empty before stay.
func (d *Dir) emptied(indexes []index, gone map[string]bool) map[string]bool {
	found, kept := map[string]bool{}, map[string]bool{}
	note := func(x index, e entry) {
		name := d.name(x, string(e.Path))
		folders := kept
		if gone[name] && e.isFile() {
			folders = found
		}
		for at := strings.LastIndex(name, "/"); at >= 0 && !e.Directory; at = strings.LastIndex(name[:at], "/") {
			folders[name[:at]] = true
		}
	}
	for _, x := range indexes {
		for _, e := range x.Files {
			note(x, e)
		}
		for _, p := range x.Before {
			note(x, p.entry)
		}
	}
	maps.DeleteFunc(found, func(folder string, _ bool) bool { return kept[folder] })
	return found
}
