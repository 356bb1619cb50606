package decide

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// format is the version of the keys. Raise it with every change after which the same wishes give
// another environment.
const format = 3

// prefix is where environments are in images.
const prefix = "opt/kinetic/env"

// prefixOfBase is where the Python of Docker's python images is.
const prefixOfBase = "usr/local"

// Layout returns where the packages are in an image.
func (p Plan) Layout(python string) wheel.Layout {
	if p.InBase {
		return wheel.Layout{Prefix: prefixOfBase, Python: python}
	}
	return wheel.Layout{Prefix: prefix, Python: python}
}

// key returns the hash of everything that is wished for. Neither comments and the order of
// requirements change it, nor credentials. What the filter drops counts as what is added in its place.
func (p *Plan) key() (string, error) {
	requirements, err := lines(p.Wanted.Requirements)
	if err != nil {
		return "", err
	}
	constraints, err := lines(p.Wanted.Constraints)
	if err != nil {
		return "", err
	}
	project := ""
	if p.Wanted.Kind.IsLock() { // the text says all
		requirements, constraints, project = nil, nil, p.Wanted.ProjectName
	}
	options, err := p.options()
	if err != nil {
		return "", err
	}
	wish := []any{
		format, wheel.Format, p.Base.Ref, p.Arch, p.Added, p.AddedOptions, requirements, constraints, options,
		sorted(p.Wanted.Extras), sorted(p.Wanted.Groups), digest(p.Wanted.Lock), project,
	}
	if requires := p.Wanted.RequiresPython; requires != "" && !p.Base.Known {
		wish = append(wish, requires) // whoever has made the image has compared it with the base's Python
	}
	for _, l := range p.Wanted.Unfetched { // whose lines are among the others once they are known
		wish = append(wish, deps.WithoutUsers(l.Text))
	}
	if !p.Wanted.Kind.IsLock() && len(p.steering) > 0 {
		wish = append(wish, p.steering)
	}
	linked, err := p.linkedFiles()
	if err != nil {
		return "", err
	}
	if len(linked) > 0 {
		wish = append(wish, linked)
	}
	text, err := json.Marshal(wish)
	if err != nil {
		return "", err
	}
	return digest(text), nil
}

// linkedFiles returns the hashes of the files of a uv.lock that has none of them.
func (p *Plan) linkedFiles() (sums []string, err error) {
	if p.Wanted.Kind != deps.UVLock || !bytes.Contains(p.Wanted.Lock, []byte("path = ")) {
		return nil, nil
	}
	paths, err := deps.Unhashed(p.Wanted.Lock, deps.LockOptions{Name: p.Wanted.Source, Dir: p.Wanted.Dir})
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		sum, err := deps.FileSum(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it may be for another target
		}
		if err != nil {
			return nil, fmt.Errorf("reading a file of %s for the name of the image: %w", p.Wanted.Source, err)
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

func sorted(words []string) []string { return slices.Sorted(slices.Values(words)) }

// options returns the options of the project's files as keys have them: with the content of local
// directories, because another wheel of the same name gives another image.
func (p *Plan) options() ([]string, error) {
	options := make([]string, 0, len(p.Wanted.Options))
	for _, o := range p.Wanted.Options {
		name, value, _ := strings.Cut(deps.WithoutUsers(o), " ")
		if path := strings.TrimPrefix(value, "file://"); name == "--find-links" && filepath.IsAbs(path) {
			if !p.Wanted.Kind.IsLock() { // a lock has hashes
				sum, err := deps.LinksSum(path)
				if err != nil {
					return nil, fmt.Errorf("reading %s for the name of the image: %w", o, err)
				}
				name += " " + sum
			}
			value = path
		}
		if rel, err := filepath.Rel(p.Root, value); err == nil && filepath.IsLocal(rel) {
			value = filepath.ToSlash(rel)
		}
		options = append(options, strings.TrimSpace(name+" "+value))
	}
	return options, nil
}

// lines returns requirements as keys have them: sorted, with the content of files instead of their
// places.
func lines(all []deps.Line) ([]string, error) {
	texts := make([]string, 0, len(all))
	for _, l := range all {
		parts := append([]string{deps.WithoutUsers(l.Text)}, sorted(l.Hashes)...)
		if l.Path != "" {
			sum, err := deps.FileSum(l.Path)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", l.Place(), l.Text, err)
			}
			parts[0] = "sha256:" + sum + " " + withoutPlace(l)
		}
		texts = append(texts, strings.Join(parts, " "))
	}
	slices.Sort(texts)
	return slices.Compact(texts), nil
}

// withoutPlace returns a requirement that is a file without the directory of the file. What is before
// and behind the path says which extras are wanted, and when.
func withoutPlace(l deps.Line) string {
	file := filepath.Base(l.Path)
	before, after, found := strings.Cut(l.Text, file)
	if !found {
		return l.Text
	}
	name, _, named := strings.Cut(before, "@") // NAME[EXTRA] @ PATH
	if !named || requirement.LeadingName(name) == "" || strings.ContainsAny(name, `/\`) {
		name = ""
	}
	return strings.TrimSpace(name + " " + file + strings.ReplaceAll(after, " ", ""))
}

// tagDigits is how many digits of a key are in a name.
const tagDigits = 40

// tag returns the name of the image in its repository: e-… for one that the input determines, r-…
// for one that resolving does.
func (p *Plan) tag() (string, error) {
	switch {
	case len(p.Locked) > 0:
		return p.Env(p.Base.Python, p.Locked).Tag()
	case p.Wanted.Kind.IsLock():
		return "e-" + p.Key[:tagDigits], nil
	}
	return "r-" + p.Key[:tagDigits], nil
}

// readLock finds the wheels of a lock. There are none if a package has to be built, or if it is not
// known what the base has.
func (p *Plan) readLock() error {
	if !p.Wanted.Kind.IsLock() || !p.Base.Known {
		return nil
	}
	l, err := p.Wanted.ReadLock(deps.LockOptions{Root: p.Root, Target: p.Base.Facts(p.Arch).Target(), FullPython: p.Base.full()})
	if err != nil {
		return err
	}
	p.Locked, _ = Wheels(l.Packages)
	p.locked = make([]string, len(l.Packages))
	for i, found := range l.Packages {
		p.locked[i] = found.Name
	}
	return nil
}

// Wheels returns the wheels of packages, and whether every package has one.
func Wheels(packages []deps.Package) (wheels []wheel.Source, whole bool) {
	for _, p := range packages {
		if p.Wheel == nil {
			return nil, false
		}
		wheels = append(wheels, *p.Wheel)
	}
	return wheels, true
}

// Env returns what the image consists of, given the base's Python and the wheels.
func (p Plan) Env(python string, wheels []wheel.Source) image.Env {
	return image.Env{Base: p.Base.Ref, Arch: p.Arch, Layout: p.Layout(python), InBase: p.InBase, Bytecode: true, Wheels: wheels}
}
