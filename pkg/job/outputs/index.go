package outputs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// index is a finished state of what a host, or an input of a map, has written: what a restore brings.
type index struct {
	Version int    `json:"version"`
	Write   string `json:"write"`
	Attempt int    `json:"attempt"`
	// At is the moment of the state, in RFC 3339.
	At string `json:"at"`
	// Done means that the job has ended for good, and that the files have their plain names.
	Done bool `json:"done"`
	// Ended means that the call of this host has ended: nothing comes after the moment. InOrder means that all that it has left
	// was finished.
	Ended   bool    `json:"ended"`
	InOrder bool    `json:"in_order"`
	Files   []entry `json:"files"`
	// Restored is the moment that this attempt has begun with, in nanoseconds since 1970; 0 if it has begun with nothing, or the
	// job has one host.
	Restored int64 `json:"restored_ns,omitempty"`
	// Grace is the seconds after SIGTERM in which the runner may still replace the index.
	Grace float64 `json:"grace"`
	// Before is what another host may still need: what paths were until they were changed or removed.
	Before []past `json:"before"`
	// Pending has the names of what was not finished at the moment.
	Pending    []anyPath    `json:"pending"`
	Incomplete []incomplete `json:"incomplete"`

	number int // of the host, or in a map of the input
	object store.Object
	// later has the paths of Files that other hosts had not caught up with: no restore brings them yet.
	later []string
}

// entry is a file, a link or a directory of an index.
type entry struct {
	Path   anyPath `json:"path"`
	Size   int64   `json:"size"` // the runner requires numbers that a file has, also 0
	SHA256 string  `json:"sha256,omitempty"`
	Mode   int     `json:"mode"`
	// Modified is in nanoseconds since 1970.
	Modified  int64 `json:"mtime_ns"`
	Directory bool  `json:"directory,omitempty"`
	// Link is the target of a symbolic link, nil for anything else.
	Link *anyPath `json:"link,omitempty"`
	// Object is relative to the home of the outputs; "" means that the file has its plain name.
	Object string `json:"object,omitempty"`
	// Since is when it was finished, in nanoseconds since 1970; 0 if the job has one host.
	Since int64 `json:"since_ns,omitempty"`
}

// past is what a path was until a moment in nanoseconds since 1970.
type past struct {
	entry
	Until int64 `json:"until_ns"`
}

// isFile reports whether an entry has bytes.
func (e entry) isFile() bool { return e.Link == nil && !e.Directory }

// incomplete is a file that was not finished when the call ended.
type incomplete struct {
	Path   anyPath `json:"path"`
	Size   int64   `json:"size"`
	Object string  `json:"object"`
	Reason string  `json:"reason"`
}

// indexes reads the indexes of all hosts or inputs, and lists their objects by name relative to home.
func (d *Dir) indexes(ctx context.Context) ([]index, map[string]store.Object, error) {
	objects := map[string]store.Object{}
	var found []store.Object
	for o, err := range d.homeStore.List(ctx, d.home+store.SyncFolder(), "") {
		if err != nil {
			return nil, nil, fmt.Errorf("job %s: %w", d.job.ID(), err)
		}
		name := strings.TrimPrefix(o.Name, d.home)
		objects[name] = o
		if _, ok := store.SyncNumber(name); ok {
			found = append(found, o)
		}
	}
	indexes := make([]index, len(found))
	err := store.Each(ctx, found, func(ctx context.Context, i int, o store.Object) (err error) {
		indexes[i], err = d.readIndex(ctx, o)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(indexes, func(a, b index) int { return cmp.Compare(a.number, b.number) })
	return indexes, objects, nil
}

// readIndex reads an index, which the runner compresses.
func (d *Dir) readIndex(ctx context.Context, o store.Object) (index, error) {
	found := index{object: o}
	data, err := records.ReadBytes(ctx, d.homeStore, o.Name)
	if err == nil {
		data, err = unzip(data)
	}
	if err == nil {
		err = json.Unmarshal(data, &found)
	}
	switch wanted := api.Contract.Versions.OutputsIndex; {
	case err == nil && found.Version > wanted:
		err = &api.VersionError{Got: found.Version, Max: wanted}
	case err == nil && found.Version < wanted:
		err = fmt.Errorf("it has version %d, of a kubectl kinetic before its first release; only version %d can be read", found.Version, wanted)
	}
	if err != nil {
		return found, fmt.Errorf("job %s: reading %s/%s: %w", d.job.ID(), d.homeStore.URL(), o.Name, err)
	}
	found.number, _ = store.SyncNumber(strings.TrimPrefix(o.Name, d.home))
	return found, nil
}

func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, api.Contract.Limits.OutputsIndex+1))
	if err == nil && int64(len(plain)) > api.Contract.Limits.OutputsIndex {
		err = fmt.Errorf("it has more than %d bytes", api.Contract.Limits.OutputsIndex)
	}
	return plain, err
}

func (x index) encode() ([]byte, error) {
	text, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	w := gzip.NewWriter(&data)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// name returns the name of an output relative to the plain names: in a map, each input has a directory.
func (d *Dir) name(x index, name string) string {
	if d.job.Handle.Map == nil {
		return name
	}
	return path.Join(strconv.Itoa(x.number), name)
}

// listing is what the outputs of a job consist of.
type listing struct {
	// files and links, sorted by name
	files []File
	links map[string]string // targets as they were saved, by name
	// synced reports whether the job's runner has saved outputs.
	synced bool
	// pending has the names of what a running job had not finished.
	pending []string
}

// read finds all outputs: what the indexes name, what was left incomplete, and what programs have written themselves.
func (d *Dir) read(ctx context.Context) (listing, error) {
	indexes, objects, err := d.indexes(ctx)
	if err != nil {
		return listing{}, err
	}
	plain, err := d.plain(ctx)
	if err != nil {
		return listing{}, err
	}
	found, files := listing{links: map[string]string{}, synced: len(indexes) > 0}, map[string]File{}
	for name, f := range plain {
		if store.WrittenBy(f.object) != d.job.ID() || !found.synced {
			files[name] = f
		}
	}
	if d.job.Handle.Map == nil {
		indexes = atCommonMoment(indexes)
	}
	for _, x := range indexes {
		d.add(x, plain, objects, files, found.links)
		if !x.Done {
			for _, name := range x.Pending {
				found.pending = append(found.pending, d.name(x, strings.ToValidUTF8(string(name), "\uFFFD")))
			}
		}
	}
	if err := d.addIncomplete(ctx, indexes, files); err != nil {
		return listing{}, err
	}
	if d.job.Handle.Map == nil {
		markUnfinished(indexes, files)
		markLater(indexes, files)
	}
	for name, target := range found.links {
		delete(files, name)
		if to := inside(inPod, name, target); to != "" {
			files[name] = File{Name: name, URL: d.URL() + "/" + name, Link: to}
		}
	}
	found.files = slices.SortedFunc(maps.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// add adds what an index names. Where two hosts have written one file, the newer one counts, as in a restore.
func (d *Dir) add(x index, plain map[string]File, objects map[string]store.Object, files map[string]File, links map[string]string) {
	for _, e := range x.Files {
		name := d.name(x, string(e.Path))
		if !utf8.ValidString(name) {
			continue // nobody could name it
		}
		if e.Link != nil {
			links[name] = string(*e.Link)
		}
		if !e.isFile() || files[name].modified > e.Modified {
			continue
		}
		f, ok := plain[name]
		if e.Object != "" && (!ok || store.HashOf(f.object) != e.SHA256) { // else the copy is as good, and has the name that people know
			o := objects[e.Object]
			f, ok = File{Name: name, Updated: o.Updated.UTC(), URL: d.homeStore.URL() + "/" + o.Name, object: o, from: d.homeStore}, o.Name != ""
		}
		if !ok {
			continue
		}
		if e.Object != "" || !replaced(f.object, e) {
			f.Size, f.sha256, f.modified = e.Size, e.SHA256, e.Modified
		}
		files[name] = f
	}
}

// replaced reports whether somebody has written another object under the plain name that an index names.
func replaced(o store.Object, e entry) bool {
	hash := store.HashOf(o)
	return o.Size != e.Size || hash != "" && hash != e.SHA256
}

// addIncomplete adds files that were not finished, under names that nothing finished has.
func (d *Dir) addIncomplete(ctx context.Context, indexes []index, files map[string]File) error {
	if !slices.ContainsFunc(indexes, func(x index) bool { return len(x.Incomplete) > 0 }) {
		return nil
	}
	objects := map[string]store.Object{}
	for o, err := range d.homeStore.List(ctx, d.home+store.IncompleteFolder(), "") {
		if err != nil {
			return fmt.Errorf("job %s: %w", d.job.ID(), err)
		}
		objects[strings.TrimPrefix(o.Name, d.home)] = o
	}
	for _, x := range indexes {
		for _, left := range x.Incomplete {
			name := d.name(x, string(left.Path))
			o, ok := objects[left.Object]
			if _, finished := files[name]; ok && !finished && utf8.ValidString(name) {
				files[name] = File{Name: name, Size: o.Size, Updated: o.Updated.UTC(), URL: d.homeStore.URL() + "/" + o.Name,
					Incomplete: true, Reason: left.Reason, object: o, from: d.homeStore}
			}
		}
	}
	return nil
}
