package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// ProjectOptions says where the code is. All paths but PackageRoot and those in
// PythonPath are absolute.
type ProjectOptions struct {
	// EntryDir is the directory of the script or module, or Cwd if there is none.
	EntryDir string
	Cwd      string
	Home     string
	// PackageRoot is the package root as given, "" if it was not. PackageRootFrom says how
	// it was given: --package-root or KINETIC_PACKAGE_ROOT.
	PackageRoot, PackageRootFrom string
	// PythonPath is the value of PYTHONPATH, "" if unset.
	PythonPath string
	// OrNothing packages nothing where FindProject would refuse a home or system directory.
	OrNothing bool
}

// Layout says where a project is.
type Layout struct {
	api.SourceTree
	// PythonPath lists the directories of PYTHONPATH strictly below Root, relative to it
	// and with forward slashes.
	PythonPath []string
	// Nothing means that nothing is packaged.
	Nothing bool
	// Warnings are sentences for the user.
	Warnings []string
}

// FindProject chooses the package root. If none is given, it is the nearest directory at or above
// the package base that has a project marker, but not the home directory or a system
// directory unless the search begins there. Without a marker it is the package base itself.
// A home or system directory that the user did not name is an error, and so is a directory
// without a marker above a project that is itself a package.
func FindProject(opts ProjectOptions) (Layout, error) {
	base := packageBase(opts.EntryDir, opts.Home)
	root, err := findRoot(base, opts)
	if err != nil && opts.OrNothing && opts.PackageRoot == "" && shared(root, opts.Home) != "" {
		return Layout{SourceTree: api.SourceTree{Root: root, PackageBase: root}, Nothing: true, Warnings: []string{fmt.Sprintf(
			"nothing but the payload is sent: the working directory is %s, %s", root, shared(root, opts.Home))}}, nil
	}
	if err != nil {
		return Layout{}, err
	}
	// A given root may itself be a Python package; then the base is the root.
	baseRel, _ := platform.Relative(root, base)
	layout := Layout{SourceTree: api.SourceTree{Root: root, PackageBase: filepath.Join(root, filepath.FromSlash(baseRel))},
		PythonPath: pythonPath(root, opts.PythonPath, opts.Cwd)}
	if what := shared(root, opts.Home); what != "" {
		layout.Warnings = []string{fmt.Sprintf("the package root is %s, %s, so everything in it is packaged", root, what)}
	}
	return layout, nil
}

func findRoot(base string, opts ProjectOptions) (string, error) {
	if opts.PackageRoot != "" {
		return givenRoot(opts)
	}
	root := nearestProject(base, opts.Home)
	return root, cmp.Or(checkAbove(root, opts.EntryDir), checkShared(root, opts.Home))
}

// packageBase goes up while the directory is a Python package, so that the
// package can be imported by its full name.
func packageBase(entry, home string) string {
	dir := filepath.Clean(entry)
	for shared(dir, home) == "" && exists(filepath.Join(dir, "__init__.py")) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// nearestProject searches upwards from base and returns base if it finds nothing.
func nearestProject(base, home string) string {
	for dir := base; ; dir = filepath.Dir(dir) {
		end := shared(dir, home) != ""
		if isProject(dir) && (!end || dir == base) {
			return dir
		}
		if end {
			return base
		}
	}
}

func isProject(dir string) bool {
	return hasAny(dir, []string{"pyproject.toml", "requirements.txt", "setup.py", "setup.cfg", ".git"})
}

// givenRoot returns the absolute path of the given package root, after checking it.
func givenRoot(opts ProjectOptions) (string, error) {
	root, given := opts.PackageRoot, opts.PackageRootFrom+"="+opts.PackageRoot
	root = platform.ExpandHome(root, opts.Home)
	if !filepath.IsAbs(root) {
		root = filepath.Join(opts.Cwd, root)
	}
	root = filepath.Clean(root)
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no directory %s", given, root)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", given, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s: %s is not a directory", given, root)
	}
	if _, inside := platform.Relative(root, opts.EntryDir); !inside {
		return "", fmt.Errorf("%s: %s does not contain the code, which is in %s: name that directory or a parent of it",
			given, root, opts.EntryDir)
	}
	return root, nil
}

// pythonPath lists the existing directories strictly below root, in order, each once. It skips
// directories of installed packages, which the image provides.
func pythonPath(root, value, cwd string) []string {
	var rels []string
	for _, entry := range filepath.SplitList(value) {
		if entry == "" || strings.Contains(entry, "site-packages") || strings.Contains(entry, "dist-packages") {
			continue
		}
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(cwd, entry)
		}
		if rel, inside := platform.Relative(root, entry); inside && rel != "" && exists(entry) && !slices.Contains(rels, rel) {
			rels = append(rels, rel)
		}
	}
	return rels
}

// Contains reports whether a directory is packaged: the root, or one below it.
func (l Layout) Contains(dir string) bool {
	_, inside := platform.Relative(l.Root, dir)
	return inside && !l.Nothing
}

// isTop reports whether a clean path is the root of a file system.
func isTop(dir string) bool { return filepath.Dir(dir) == dir }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
