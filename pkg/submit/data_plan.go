package submit

import (
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

// Inputs is the inputs of a job.
type Inputs struct {
	// Data is in the order of the flags.
	Data []api.Data
	// Sets are the local files that the store must have, each source once. Trees are those
	// that it must have under their own names, for pods that mount them.
	Sets, Trees []*pack.Set
	// Paths are the absolute paths of local sources.
	Paths []string
	// Warnings are sentences for the user.
	Warnings []string

	// local are the indices in Data of the inputs with each of Paths.
	local map[string][]int
	// machine is where they are looked for, and isLocal means that the job runs there.
	machine Machine
	isLocal bool
}

// findInputs looks where local inputs are. Its errors are mistakes in the flags.
func findInputs(inputs []input, m Machine, isLocal bool) (Inputs, error) {
	p := Inputs{local: map[string][]int{}, machine: m, isLocal: isLocal}
	for _, in := range inputs {
		if err := p.add(in); err != nil {
			return p, fmt.Errorf("%s: %w", in.Flag, err)
		}
	}
	return p, nil
}

func (p *Inputs) add(in input) error {
	if p.isLocal {
		if err := p.forLocal(&in); err != nil {
			return err
		}
	}
	if in.Local != "" {
		if err := p.addLocal(&in); err != nil {
			return err
		}
	}
	p.Data = append(p.Data, in.Data)
	return nil
}

func (p *Inputs) forLocal(in *input) error {
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

func (p *Inputs) addLocal(in *input) error {
	where := filepath.Clean(absolute(platform.ExpandHome(in.Local, p.machine.Home), p.machine.Cwd))
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
		p.local[where] = append(p.local[where], len(p.Data))
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

// Hash hashes the local inputs, which names them.
func (p *Inputs) Hash(ctx context.Context) error {
	for _, where := range p.Paths {
		inputs := p.local[where]
		if len(inputs) == 0 {
			continue
		}
		set, err := pack.NewSet(ctx, pack.Options{Root: where, CacheDir: p.machine.CacheDir})
		if err != nil {
			return fmt.Errorf("reading the data in %s: %w", where, err)
		}
		p.addSet(set, where)
		for _, w := range set.Warnings {
			p.Warnings = append(p.Warnings, where+": "+w)
		}
		for _, i := range inputs {
			d := &p.Data[i]
			d.Set, d.Files, d.Bytes = set.SHA256, int64(set.Files), set.Bytes
		}
	}
	return nil
}

// manyFiles is how many files are slow to mount.
const manyFiles = 10_000

// addSet notes how the store must have the files of a local source.
func (p *Inputs) addSet(set *pack.Set, where string) {
	mounted := func(i int) bool { return p.Data[i].Access == api.AccessFUSE }
	inputs := p.local[where]
	if !slices.ContainsFunc(inputs, mounted) {
		p.Sets = append(p.Sets, set)
		return
	}
	p.Trees = append(p.Trees, set)
	if slices.ContainsFunc(inputs, func(i int) bool { return !mounted(i) }) {
		p.Sets = append(p.Sets, set)
	}
	if set.Files > manyFiles {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: with fuse, its %d files are uploaded and read one by one, which is slow; omit fuse to transfer them in packs", where, set.Files))
	}
}

// CheckTrees rejects files that can't be mounted from a store. Its errors are mistakes in the
// input.
func (p *Inputs) CheckTrees(storeURL string) error {
	for _, set := range p.Trees {
		if strings.Contains(storeURL, ",") {
			return fmt.Errorf("FUSE can't mount a folder of the store %s, because its URL has a comma: omit fuse, or choose another store with --store", storeURL)
		}
		if err := set.CheckTree(storeURL); err != nil {
			i := slices.IndexFunc(p.Data, func(d api.Data) bool { return d.Access == api.AccessFUSE && d.Set == set.SHA256 })
			return fmt.Errorf("%s: %w", p.Data[i].Flag(), err)
		}
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
