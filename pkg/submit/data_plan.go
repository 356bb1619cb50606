package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// Inputs is what a submit needs of a job's inputs beside the list in the Spec.
type Inputs struct {
	// Sets are the local files that the store must have, each source once. Trees are those
	// that it must have under their own names, for pods that mount them.
	Sets, Trees []*pack.Set
	// Paths are the absolute paths of local sources.
	Paths []string
	// Warnings are sentences for the user.
	Warnings []string

	// local are the indices in Spec.Data of the inputs that come from each of Paths.
	local map[string][]int
}

// findInputs reads the flags about inputs, and finds the local ones. The list has all but what the contents of local files
// decide, which read adds. Its errors are mistakes in the flags.
func findInputs(r api.Request, m Machine) (list []api.Data, p Inputs, err error) {
	inputs, err := parseInputs(r.Data, r.Volumes)
	if err != nil {
		return nil, p, err
	}
	p.local = map[string][]int{}
	for i, in := range inputs {
		if r.Backend == api.BackendLocal {
			err = p.stayHere(&in)
		}
		if err == nil && in.Local != "" {
			err = p.addLocal(&in, i, m)
		}
		if err != nil {
			return nil, p, fmt.Errorf("%s: %w", in.Flag, err)
		}
		list = append(list, in.Data)
	}
	return list, p, nil
}

// stayHere adapts an input to a local job.
func (p *Inputs) stayHere(in *input) error {
	switch {
	case in.Writable && in.Access == api.AccessFUSE:
		return errors.New("rw: a local job copies what it would mount, so nothing would reach the bucket: omit rw, and write to KINETIC_OUTPUT_DIR")
	case in.Access == api.AccessClaim:
		return errors.New("a local job has no PersistentVolumeClaims: name a local path")
	case in.Local != "":
		in.Access, in.Path, in.Cache = api.AccessHere, "", ""
	case in.Access == api.AccessFUSE:
		p.Warnings = append(p.Warnings, in.Flag+": a local job copies what it would mount")
		in.Data = api.Data{Name: in.Name, Mount: in.Mount, Source: in.Source, Access: api.AccessCopy, URL: in.Source}
	}
	return nil
}

// addLocal finds the files of a local input, the i-th of the list.
func (p *Inputs) addLocal(in *input, i int, m Machine) error {
	where := filepath.Clean(absolute(platform.ExpandHome(in.Local, m.Home), m.Cwd))
	info, err := os.Stat(where)
	if errors.Is(err, fs.ErrNotExist) {
		return missingSource(in.Local, where)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a directory", where)
	}
	switch {
	case in.Access == api.AccessHere && in.Mount != "" && !info.IsDir():
		in.Path, in.File = filepath.Dir(where), filepath.Base(where)
	case in.Access == api.AccessHere:
		in.Path = where
	case !info.IsDir():
		in.File = filepath.Base(where)
	}
	if !slices.Contains(p.Paths, where) {
		p.Paths = append(p.Paths, where)
	}
	if in.Access != api.AccessHere {
		p.local[where] = append(p.local[where], i)
	}
	return nil
}

// missingSource says that there is nothing at a path, and what there is nearby.
func missingSource(typed, where string) error {
	what := where
	if typed != where {
		what = fmt.Sprintf("%s (%s)", typed, where)
	}
	entries, _ := os.ReadDir(filepath.Dir(where))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	if strings.Contains(typed, ",") {
		return fmt.Errorf(`there is no %s: the options are fuse, rw and cache=SIZE, and a comma in the name is written \,`, what)
	}
	if hint := human.DidYouMean(filepath.Base(where), names); hint != "" {
		return fmt.Errorf("there is no %s; %s", what, hint)
	}
	return fmt.Errorf("there is no %s: name a file or a directory, gs://BUCKET/FOLDER, hf://OWNER/NAME or pvc://CLAIM", what)
}

// manyFiles is how many files are slow to mount.
const manyFiles = 10_000

// read hashes the files of local inputs, which completes the Spec's list, and requests the disk that they need. Both may add
// warnings. It may take long. Its errors are mistakes in the flags, or files that can't be read or mounted.
func (p *Inputs) read(ctx context.Context, s *api.Spec, cacheDir string) error {
	for _, where := range p.Paths {
		if len(p.local[where]) == 0 { // a local job uses them there
			continue
		}
		set, err := pack.NewSet(ctx, pack.Options{Root: where, CacheDir: cacheDir})
		if err != nil {
			return fmt.Errorf("reading the data in %s: %w", where, err)
		}
		for _, w := range set.Warnings {
			p.Warnings = append(p.Warnings, where+": "+w)
		}
		if err := p.addSet(set, where, s); err != nil {
			return err
		}
	}
	warning, err := requestDisk(s)
	if warning != "" {
		p.Warnings = append(p.Warnings, warning)
	}
	return err
}

// addSet records the hash and the size of a local source in the inputs that come from it, and whether the store needs its
// files in packs, one by one, or both.
func (p *Inputs) addSet(set *pack.Set, where string, s *api.Spec) error {
	var mounted, whole *api.Data // the first of each kind
	copied := false
	for _, i := range p.local[where] {
		d := &s.Data[i]
		d.Set, d.Files, d.Bytes = set.SHA256, int64(set.Files), set.Bytes
		if d.Access == api.AccessFUSE {
			mounted = cmp.Or(mounted, d)
		} else {
			copied = true
		}
		if d.File == "" {
			whole = cmp.Or(whole, d)
		}
	}
	if copied {
		p.Sets = append(p.Sets, set)
	}
	if whole != nil { // a file that is named by itself is meant
		if names := pack.Secrets(set.Paths); names != "" {
			p.Warnings = append(p.Warnings, fmt.Sprintf("these files of %s look like credentials and will be uploaded: %s; move them elsewhere if the job doesn't need them", whole.Source, names))
		}
	}
	if mounted == nil {
		return nil
	}
	p.Trees = append(p.Trees, set)
	if set.Files > manyFiles {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: with fuse, its %d files are uploaded and read one by one, which is slow; omit fuse to transfer them in packs", where, set.Files))
	}
	if strings.Contains(s.Store, ",") {
		return fmt.Errorf("FUSE can't mount a folder of the store %s, because its URL has a comma: omit fuse, or choose another store with --store", s.Store)
	}
	if err := set.CheckTree(s.Store); err != nil {
		return fmt.Errorf("%s: %w", mounted.Flag(), err)
	}
	return nil
}

// inputBytes returns how many bytes are copied to the disk of each pod, as far as is known. What
// several inputs share is copied once.
func inputBytes(inputs []api.Data) int64 {
	var total int64
	seen := map[string]bool{}
	for _, d := range inputs {
		if d.Access == api.AccessCopy && !seen[d.Key()] {
			seen[d.Key()] = true
			total += d.Bytes
		}
	}
	return total
}

// Stored returns how many files of local data are in the store, and their size.
func (p *Inputs) Stored() (files int, bytes int64) {
	for i, set := range slices.Concat(p.Sets, p.Trees) {
		if i >= len(p.Sets) && slices.Contains(p.Sets, set) {
			continue
		}
		files += set.Files
		bytes += set.Bytes
	}
	return files, bytes
}
