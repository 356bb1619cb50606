package job

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Output is a file that a job wrote below its KINETIC_OUTPUT_DIR.
type Output struct {
	// Name is relative to that directory, its elements between slashes.
	Name    string    `json:"name"`
	Size    int64     `json:"size"`
	Updated time.Time `json:"updated"`
	URL     string    `json:"url"`

	object store.Object
}

// Outputs is the place of what a job wrote below its KINETIC_OUTPUT_DIR.
type Outputs struct {
	job    *Job
	store  store.Store
	prefix string // of the objects' names: empty, or ending in a slash
}

// Outputs says where the outputs of the job are: in its own place in the store,
// or where --output-dir says. It contacts nothing.
func (j *Job) Outputs() (*Outputs, error) {
	dir := j.Handle.OutputDir
	switch {
	case j.Handle.ByPythonTool():
		return &Outputs{j, j.Store, store.PythonOutputs(j.ID())}, nil
	case dir == "":
		return &Outputs{j, j.Store, store.Outputs(j.ID())}, nil
	case strings.HasPrefix(dir, store.BucketScheme):
		return j.outputsAt(dir)
	case j.Handle.Backend == api.BackendLocal:
		return j.outputsAt(store.FileScheme + dir)
	default:
		return nil, fmt.Errorf("job %s: its --output-dir, %s, was a directory in its containers: what it wrote is on the volume mounted there, or was deleted with the pod", j.ID(), dir)
	}
}

func (j *Job) outputsAt(url string) (*Outputs, error) {
	s, err := store.Open(url)
	if err != nil {
		return nil, fmt.Errorf("job %s: --output-dir: %w", j.ID(), err)
	}
	return &Outputs{job: j, store: s}, nil
}

// URL is where the outputs are.
func (o *Outputs) URL() string {
	return strings.TrimSuffix(o.store.URL()+"/"+o.prefix, "/")
}

// PathError is a path that no output of the job has.
type PathError struct{ msg string }

func (e *PathError) Error() string { return e.msg }

// List says which files there are at or below a path, sorted by name; "" is all
// of them, of which there may be none. A path that doesn't exist is a PathError.
func (o *Outputs) List(ctx context.Context, at string) ([]Output, error) {
	if at == "" {
		return o.list(ctx, "")
	}
	if path.Clean("/"+at) != "/"+strings.TrimSuffix(at, "/") {
		return nil, o.unknown(ctx, at)
	}
	folder := strings.TrimSuffix(at, "/") + "/"
	all, err := o.list(ctx, strings.TrimSuffix(at, "/"))
	if err != nil {
		return nil, err
	}
	var found []Output
	for _, f := range all {
		if f.Name == at || strings.HasPrefix(f.Name, folder) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil, o.unknown(ctx, at)
	}
	return found, nil
}

// list says which files have names that begin with some text.
func (o *Outputs) list(ctx context.Context, begin string) ([]Output, error) {
	var files []Output
	for object, err := range o.store.List(ctx, o.prefix+begin, "") {
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", o.job.ID(), err)
		}
		name := strings.TrimPrefix(object.Name, o.prefix)
		if name == "" || strings.HasSuffix(name, "/") || !strings.HasPrefix(name, begin) {
			continue // a folder, as some tools mark it, or another name
		}
		files = append(files, Output{Name: name, Size: object.Size, Updated: object.Updated.UTC(), URL: o.store.URL() + "/" + object.Name, object: object})
	}
	return files, nil
}

// Complete offers what a path that was begun may continue with: files, and folders with
// a slash at their ends.
func (o *Outputs) Complete(ctx context.Context, begin string) ([]string, error) {
	files, err := o.list(ctx, begin)
	if err != nil {
		return nil, err
	}
	var offers []string
	for _, f := range files {
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

// File is the one file of a path; a folder is a PathError too.
func (o *Outputs) File(ctx context.Context, at string) (Output, error) {
	found, err := o.List(ctx, at)
	if err != nil {
		return Output{}, err
	}
	if found[0].Name != at {
		return Output{}, &PathError{fmt.Sprintf("job %s: output %q is a directory: name one of its files", o.job.ID(), at)}
	}
	return found[0], nil
}

func (o *Outputs) unknown(ctx context.Context, at string) error {
	all, err := o.list(ctx, "")
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return o.None()
	}
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	hint := nearest.Sentence(at, names)
	if hint == "" {
		hint = fmt.Sprintf("kubectl kinetic jobs outputs %s ls%s lists them", o.job.ID(), o.job.PlaceFlag())
	}
	return &PathError{fmt.Sprintf("job %s: no output named %q; %s", o.job.ID(), at, hint)}
}

// None says that the job has left no outputs.
func (o *Outputs) None() error {
	return fmt.Errorf("job %s has no outputs: nothing in %s, its KINETIC_OUTPUT_DIR", o.job.ID(), o.URL())
}

// Write copies the bytes of a file to w, and holds that they are those that were
// listed.
func (o *Outputs) Write(ctx context.Context, f Output, w io.Writer) (err error) {
	r, err := o.store.Open(ctx, f.object.Name)
	if err != nil {
		return fmt.Errorf("job %s: output %s: %w", o.job.ID(), f.Name, err)
	}
	defer func() { _ = r.Close() }() // it was only read
	sum := newChecksum()
	if _, err := io.Copy(io.MultiWriter(w, sum), r); err != nil {
		return fmt.Errorf("job %s: copying output %s: %w", o.job.ID(), f.Name, err)
	}
	if !sum.fits(f) {
		return fmt.Errorf("job %s: output %s has %d bytes instead of the %d listed: it is being written; try again", o.job.ID(), f.Name, sum.n, f.Size)
	}
	return nil
}

// localName is the path of a file below a folder on this machine. Buckets have names
// that would lead out of it.
func localName(name string) (string, error) {
	local := filepath.FromSlash(name)
	if path.Clean(name) != name || name == "." || !filepath.IsLocal(local) {
		return "", fmt.Errorf("output %q has an unsafe name, so nothing was copied: copy the others by name", name)
	}
	return local, nil
}
