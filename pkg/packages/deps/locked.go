package deps

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// LockOptions say what is wanted of a lock file.
type LockOptions struct {
	// Name is the path of the file as users know it, Dir its absolute directory.
	Name, Dir string
	// Root is the package root. Files outside both are not the project's to send.
	Root   string
	Target wheel.Target
	// FullPython is the version of the target's Python with its patch version, such as 3.12.7, "" if that is
	// not known. Markers are then evaluated for the first one, 3.12.0, as uv does: what only newer ones don't
	// need is installed.
	FullPython string
	// Extras and Groups are the optional dependencies that are wanted.
	Extras, Groups []string
	// Wanted is what the project requires now, which a lock that is not out of date has; nil if that is
	// not known.
	Wanted []requirement.Requirement
}

// Lock is what a lock file has for a target.
type Lock struct {
	// Packages are to be installed, sorted by name.
	Packages []Package
	// Local are projects whose code travels with the job.
	Local []string
}

// Package is a package of a lock.
type Package struct {
	Name    string // normalized
	Version string // "" if only its source is known
	// Wheel is the wheel that fits the target, nil if none does.
	Wheel *wheel.Source
	// Source is what the package has to be built from if there is no wheel, such as
	// git+https://HOST/REPOSITORY@COMMIT, and Why says why no wheel is taken.
	Source string
	Why    error
	// SourceSHA256 is the hash of a source that is an archive, "" if the lock does not have it.
	SourceSHA256 string
}

// Environment returns what markers are evaluated for.
func (o LockOptions) Environment() requirement.Environment {
	return requirement.Environment{Python: o.Target.Python, FullPython: cmp.Or(o.FullPython, o.Target.Python+".0"),
		Machine: o.Target.Machine(), Extras: o.Extras, Groups: o.Groups}
}

func (o LockOptions) holds(marker string, env requirement.Environment) (bool, error) {
	m, err := requirement.ParseMarker(marker)
	if err != nil {
		return false, err
	}
	return m.Holds(env)
}

// CheckPython returns an error if the target's Python is not one that a project requires, as
// requires-python says it. If its patch version is not known, it counts as one that fits.
func (o LockOptions) CheckPython(requires string) error {
	if requires == "" {
		return nil
	}
	allowed, err := requirement.ParseSpecifiers(requires)
	if err != nil {
		return fmt.Errorf("requires-python: %w", err)
	}
	possible := []string{o.FullPython}
	if o.FullPython == "" {
		possible = nil
		for patch := range maxPatch + 1 {
			possible = append(possible, fmt.Sprintf("%s.%d", o.Target.Python, patch))
		}
	}
	for _, full := range possible {
		v, err := requirement.ParseVersion(full)
		if err != nil || allowed.Contain(v) {
			return err
		}
	}
	return fmt.Errorf("it requires Python %s, but the job has Python %s: choose another with --python or --base-image", requires, cmp.Or(o.FullPython, o.Target.Python))
}

// maxPatch is larger than the patch version of any Python.
const maxPatch = 50

// file is a wheel or a source archive as lock files name it.
type file struct {
	Name     string
	Filename string
	URL      string
	Path     string
	Hash     string            // of uv: sha256:…
	Hashes   map[string]string // of PEP 751
	Size     int64
	// Subdirectory is the project's directory in an archive, "" for the root.
	Subdirectory string
	// linked means that it is in a directory of links, which the user has named.
	linked bool
}

// sha256Form is the form of a hash.
const sha256Form = `^[0-9a-f]{64}$`

// name returns the file's name.
func (f file) name() string { return cmp.Or(f.Name, f.Filename, lastPart(f.URL, f.Path)) }

// sha256 returns the file's hash, "" if the lock does not have it.
func (f file) sha256() string {
	if hash, ok := strings.CutPrefix(f.Hash, "sha256:"); ok {
		return hash
	}
	return f.Hashes["sha256"]
}

// source sets what a package has to be built from if there is no wheel.
func (p *Package) source(f file) {
	p.Source = f.URL + f.Path
	if f.URL != "" && f.Subdirectory != "" {
		p.Source, _, _ = strings.Cut(f.URL, "#")
		p.Source += "#subdirectory=" + f.Subdirectory
	}
	if sum := f.sha256(); lazyregexp.Of(sha256Form).MatchString(sum) {
		p.SourceSHA256 = sum
	}
}

func (o LockOptions) path(f file) string { return under(o.Dir, filepath.FromSlash(f.Path)) }

func (f file) checked(o LockOptions) (wheel.Source, error) {
	found := wheel.Source{File: f.name(), URL: f.URL, Size: f.Size}
	if f.Path != "" {
		found.URL, found.Path = "", o.path(f)
		if !f.linked && !Contains(o.Root, found.Path) && !Contains(o.Dir, found.Path) {
			return found, fmt.Errorf("%s is outside the package root %s", found.Path, o.Root)
		}
	}
	if found.SHA256 = f.sha256(); found.SHA256 == "" && f.linked {
		return Hashed(found)
	}
	if !lazyregexp.Of(sha256Form).MatchString(found.SHA256) {
		return found, fmt.Errorf("%s has no SHA-256: lock the project again with an index that has hashes", found.File)
	}
	return found, nil
}

// Hashed returns a wheel on this machine with its size and hash. A hash that is known must be the right one.
func Hashed(f wheel.Source) (wheel.Source, error) {
	sum, size, err := sumOf(f.Path)
	if err != nil {
		return f, fmt.Errorf("reading a wheel: %w", err)
	}
	f.Size = size
	if f.SHA256 != "" && f.SHA256 != sum {
		return f, fmt.Errorf("%s has the SHA-256 %s instead of %s", f.Path, sum, f.SHA256)
	}
	f.SHA256 = sum
	return f, nil
}

func lastPart(address, file string) string {
	if address == "" {
		return path.Base(filepath.ToSlash(file))
	}
	u, err := url.Parse(address)
	if err != nil {
		return path.Base(address)
	}
	return path.Base(u.Path)
}

// ErrNoWheel says that a package has no wheel at all.
var ErrNoWheel = errors.New("it has no wheel")

// Fit returns the index of the wheel of the package's version that fits a target best. It is -1 if none fits; then Why is set.
func (p *Package) Fit(wheels []wheel.Name, target wheel.Target) (int, error) {
	if len(wheels) == 0 {
		p.Why = ErrNoWheel
		return -1, nil
	}
	best, err := wheel.Best(wheels, target)
	var noFit *wheel.NoFitError
	if errors.As(err, &noFit) {
		p.Why = err
		return -1, nil
	}
	return best, err
}

// choose sets the wheel of a package: of those that a lock names, the one that fits best.
func (p *Package) choose(files []file, o LockOptions) error {
	var names []wheel.Name
	for _, f := range files {
		n, err := wheel.ParseName(f.name())
		if err != nil {
			return fmt.Errorf("package %s: %w", p.Name, err)
		}
		names = append(names, n)
	}
	best, err := p.Fit(names, o.Target)
	if err != nil || best < 0 {
		return err
	}
	chosen, err := files[best].checked(o)
	if err != nil {
		return fmt.Errorf("package %s: %w", p.Name, err)
	}
	p.Wheel, p.Source, p.SourceSHA256 = &chosen, "", ""
	return nil
}

// sorted returns the lock with its packages in order.
func (l Lock) sorted() Lock {
	slices.SortFunc(l.Packages, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(l.Local)
	return l
}
