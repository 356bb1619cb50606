// Package outputs lists and copies the files that jobs wrote to their KINETIC_OUTPUT_DIR.
package outputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// File is a file that a job wrote to its KINETIC_OUTPUT_DIR.
type File struct {
	// Name is relative to that directory, with forward slashes.
	Name    string    `json:"name"`
	Size    int64     `json:"size"`
	Updated time.Time `json:"updated,omitzero"`
	URL     string    `json:"url"`
	// Incomplete means that the program had not finished the file, or what it is part of: no restore brings it.
	Incomplete bool `json:"incomplete,omitempty"`
	// Reason tells why the file is incomplete.
	Reason string `json:"reason,omitempty"`
	// Link is where a symbolic link to another output leads, relative to its own directory and
	// with forward slashes; "" for a file.
	Link string `json:"link,omitempty"`

	object store.Object
	from   store.Store // that has the object
	sha256 string      // of the bytes, "" if nobody noted it
	// modified is when the program wrote it, in nanoseconds since 1970; 0 if that is not known.
	modified int64
}

// Dir is the KINETIC_OUTPUT_DIR of a job.
type Dir struct {
	job    *job.Job
	store  store.Store
	prefix string // of the plain names: empty, or ends in a slash
	// homeStore has the runner's indexes, their objects, and what is incomplete, below the prefix home.
	homeStore store.Store
	home      string
}

// Of returns the output directory of a job: the job's own place in the store, or the one
// that --output-dir named. It contacts nothing.
func Of(j *job.Job) (*Dir, error) {
	dir := j.Handle.OutputDir
	switch {
	case j.Handle.ByPythonTool():
		return inStore(j, store.PythonOutputs(j.ID())), nil
	case dir == "":
		return inStore(j, store.Outputs(j.ID())), nil
	case strings.HasPrefix(dir, store.BucketScheme):
		return at(j, dir)
	case j.Handle.Backend == api.BackendLocal:
		return at(j, store.FileScheme+dir)
	default:
		return nil, fmt.Errorf("job %s: its --output-dir, %s, was a directory in its containers: what it wrote is on the volume mounted there, or was deleted with the pod", j.ID(), dir)
	}
}

func at(j *job.Job, url string) (*Dir, error) {
	s, err := store.Open(url)
	if err != nil {
		return nil, fmt.Errorf("job %s: --output-dir: %w", j.ID(), err)
	}
	return &Dir{job: j, store: s, homeStore: s, home: store.OutputsHome(j.ID(), true)}, nil
}

func inStore(j *job.Job, prefix string) *Dir {
	return &Dir{job: j, store: j.Store, prefix: prefix, homeStore: j.Store, home: store.OutputsHome(j.ID(), false)}
}

// URL returns the URL of the output directory.
func (d *Dir) URL() string {
	return strings.TrimSuffix(d.store.URL()+"/"+d.prefix, "/")
}

// DeletedAfter returns after how many days rules of the bucket delete the files, 0 if none does or if that is unknown.
func (d *Dir) DeletedAfter(ctx context.Context) int64 {
	return store.DeletedAfter(ctx, d.store, d.prefix)
}

// PathError means that the job has no output with this path.
type PathError struct{ msg string }

func (e *PathError) Error() string { return e.msg }

// Kind implements what pkg/cmd/cli asks an error for.
func (e *PathError) Kind() api.ErrorKind { return api.KindNotFound }

// List returns the files at or under a path, sorted by name; "" means all files, and then
// the list may be empty. For a path that doesn't exist, it returns a PathError. Links that the runner has saved are
// not files.
func (d *Dir) List(ctx context.Context, at string) ([]File, error) {
	all, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(slices.Clone(all.files), func(f File) bool { return f.object.Name == "" })
	return d.below(all, files, at)
}

// Listing is what List has with links.
type Listing struct {
	Files []File
	// Synced reports whether the job's runner has saved outputs. Without that, nothing is incomplete.
	Synced bool
	// Pending has the names of what a running job is writing.
	Pending []string
}

// All is List with links. A path may lead through links.
func (d *Dir) All(ctx context.Context, at string) (Listing, error) {
	all, err := d.read(ctx)
	if err != nil {
		return Listing{}, err
	}
	if _, isLink := all.links[at]; !isLink { // else the link itself is listed
		at = follow(all.links, at)
	}
	files, err := d.below(all, all.files, at)
	return Listing{files, all.synced, all.pending}, err
}

// isClean reports whether a path can be that of an output: it has no elements such as "..".
func isClean(at string) bool { return path.Clean("/"+at) == "/"+strings.TrimSuffix(at, "/") }

// below returns those of some files that are at or under a path, like List.
func (d *Dir) below(all listing, files []File, at string) ([]File, error) {
	if at == "" {
		return files, nil
	}
	folder := strings.TrimSuffix(at, "/") + "/"
	var found []File
	for _, f := range files {
		if f.Name == at || strings.HasPrefix(f.Name, folder) {
			found = append(found, f)
		}
	}
	if len(found) == 0 || !isClean(at) {
		return nil, d.unknown(all, at)
	}
	return found, nil
}

func (d *Dir) plain(ctx context.Context) (map[string]File, error) {
	files := map[string]File{}
	for object, err := range d.store.List(ctx, d.prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", d.job.ID(), err)
		}
		name := strings.TrimPrefix(object.Name, d.prefix)
		if name == "" || strings.HasSuffix(name, "/") || store.IsKinetic(name) {
			continue // a folder, as some tools mark it, or no output
		}
		if object.Special {
			continue // as in a pod, a named pipe is no output
		}
		files[name] = File{Name: name, Size: object.Size, Updated: object.Updated.UTC(), URL: d.store.URL() + "/" + object.Name,
			Link: d.linkOf(object, name), object: object, from: d.store}
	}
	return files, nil
}

// Complete returns completions of a partial path: files, and folders with a trailing
// slash.
func (d *Dir) Complete(ctx context.Context, begin string) ([]string, error) {
	all, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	var offers []string
	for _, f := range all.files {
		if !strings.HasPrefix(f.Name, begin) {
			continue
		}
		next, _, isFolder := strings.Cut(f.Name[len(begin):], "/")
		offer := begin + next
		if isFolder {
			offer += "/"
		}
		if len(offers) == 0 || offers[len(offers)-1] != offer {
			offers = append(offers, offer)
		}
	}
	return offers, nil
}

// File returns the file at a path, or the one that a link leads to. For a folder, too, it returns a PathError.
func (d *Dir) File(ctx context.Context, at string) (File, error) {
	found, err := d.List(ctx, at)
	if errors.As(err, new(*PathError)) {
		found, at, err = d.WithLinks(ctx, at)
	}
	if err != nil {
		return File{}, err
	}
	switch {
	case found[0].Name != at:
		return File{}, &PathError{fmt.Sprintf("job %s: output %q is a directory: name one of its files", d.job.ID(), at)}
	case found[0].object.Name == "":
		return File{}, &PathError{fmt.Sprintf("job %s: output %q is a broken link", d.job.ID(), at)}
	}
	return found[0], nil
}

func (d *Dir) unknown(all listing, at string) error {
	if len(all.files) == 0 {
		return d.None()
	}
	names := map[string]bool{}
	for _, f := range all.files {
		for name := f.Name; name != "." && name != "/"; name = path.Dir(name) {
			names[name] = true
		}
	}
	hint := human.DidYouMean(strings.TrimSuffix(at, "/"), slices.Collect(maps.Keys(names)))
	if hint == "" {
		hint = fmt.Sprintf("kubectl kinetic jobs outputs %s ls%s lists them", d.job.ID(), d.job.LocationFlags())
	}
	return &PathError{fmt.Sprintf("job %s: no output named %q; %s", d.job.ID(), at, hint)}
}

// Remove deletes files, and the indexes of a job that has ended no longer name them. seen is called by one goroutine at a time
// with how many are gone.
func (d *Dir) Remove(ctx context.Context, files []File, ended bool, seen func(done, total int)) error {
	if ended {
		if err := d.leaveOut(ctx, files); err != nil {
			return err
		}
	}
	byStore := map[store.Store][]string{}
	for _, f := range files {
		byStore[f.from] = append(byStore[f.from], f.object.Name)
	}
	before := 0
	for s, names := range byStore {
		if err := store.DeleteAll(ctx, s, names, func(done, _ int) { seen(before+done, len(files)) }); err != nil {
			return fmt.Errorf("job %s: %w", d.job.ID(), err)
		}
		before += len(names)
	}
	return nil
}

// Forget deletes what the runner keeps about the outputs. The job must have ended, with no outputs left.
func (d *Dir) Forget(ctx context.Context) error {
	for _, folder := range []string{store.SyncFolder(), store.IncompleteFolder()} {
		for o, err := range d.homeStore.List(ctx, d.home+folder, "") {
			if err == nil {
				err = d.homeStore.Delete(ctx, o.Name)
			}
			if err != nil {
				return fmt.Errorf("job %s: %w", d.job.ID(), err)
			}
		}
	}
	return nil
}

// Shared reports whether other jobs may have written to the directory, too.
func (d *Dir) Shared() bool { return d.job.Handle.OutputDir != "" }

// None returns the error that the job has no outputs.
func (d *Dir) None() error {
	return fmt.Errorf("job %s has no outputs: nothing in %s, its KINETIC_OUTPUT_DIR", d.job.ID(), d.URL())
}

// Write copies the bytes of a file to w, and fails if they aren't those that were listed.
func (d *Dir) Write(ctx context.Context, f File, w io.Writer) (err error) {
	r, err := f.from.Open(ctx, f.object.Name)
	if err != nil {
		return fmt.Errorf("job %s: output %s: %w", d.job.ID(), f.Name, err)
	}
	defer func() { _ = r.Close() }() // it was only read
	sum, bytes := newChecksum(), io.Reader(r)
	if f.object.CRC32C == nil && f.sha256 == "" && lazyregexp.Of(log).MatchString(path.Base(f.Name)) {
		bytes = io.LimitReader(r, f.Size) // a program may have added to it
	}
	if _, err := io.Copy(io.MultiWriter(w, sum), bytes); err != nil {
		return fmt.Errorf("job %s: copying output %s: %w", d.job.ID(), f.Name, err)
	}
	if !sum.fits(f) {
		return &changedError{fmt.Errorf("job %s: output %s has %d bytes instead of the %d listed: it is being written; try again", d.job.ID(), f.Name, sum.n, f.Size)}
	}
	return nil
}

// changedError says that a program has written to a file while it was copied.
type changedError struct{ error }

// log matches the names of files that programs only append to, as LOG in runner/kinetic_runner/outputs/tree.py.
const log = `^(?:.*\.(log|jsonl|out|err)(\.\d+)?|.*\.wandb|.*tfevents.*)$`

// localName returns the local form of an object's name. It rejects names that would lead
// out of the target folder, which buckets allow.
func localName(name string) (string, error) {
	local := filepath.FromSlash(name)
	if path.Clean(name) != name || name == "." || !filepath.IsLocal(local) {
		return "", fmt.Errorf("output %q has an unsafe name, so nothing was copied: copy the others by name", name)
	}
	return local, nil
}
