package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/pack"
)

// IgnoreFile is the name of the file in the package root that lists what not to package.
const IgnoreFile = ".kineticignore"

// alwaysExcluded are files and directories that are never packaged, at any depth.
var alwaysExcluded = []string{".git", "__pycache__"}

// defaultExcludedDirs and defaultExcludedFiles are not packaged, at any depth,
// unless PlanOptions.NoDefaultExcludes is set.
var (
	defaultExcludedDirs = []string{
		".venv", "venv", "node_modules", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints",
	}
	defaultExcludedFiles = []string{".DS_Store"}
)

// venvMark is a file in every virtual environment, whatever its directory is called.
const venvMark = "pyvenv.cfg"

// PlanOptions says how to package.
type PlanOptions struct {
	// CacheDir is pack.Options.CacheDir.
	CacheDir string
	// Exclude lists absolute paths to leave out: a store or an output directory below the
	// root, and local data, which is uploaded separately.
	Exclude []string
	// Outputs are files to leave out because they are being written.
	Outputs []fs.FileInfo
	// NoDefaultExcludes also packages the default excludes, except for .git and
	// __pycache__. It is KINETIC_NO_DEFAULT_EXCLUDES=1.
	NoDefaultExcludes bool
	// SizeWarnBytes is the size in the store above which Plan warns; 0 or less for no
	// warning.
	SizeWarnBytes int64
}

// Plan lists and hashes what to package of a layout's root, without what .kineticignore and
// the excludes leave out, and collects all warnings. It writes nothing but the cache.
func Plan(ctx context.Context, layout Layout, opts PlanOptions) (*pack.Plan, error) {
	rules, err := readRules(filepath.Join(layout.Root, IgnoreFile))
	if err != nil {
		return nil, err
	}
	plan, err := pack.New(ctx, pack.Options{
		Root:     layout.Root,
		Ignore:   ignore(layout.Root, rules, !opts.NoDefaultExcludes),
		Exclude:  opts.Exclude,
		Except:   opts.Outputs,
		CacheDir: opts.CacheDir,
	})
	var fileErr *pack.FileError
	if errors.As(err, &fileErr) {
		return nil, fmt.Errorf("%w or exclude it in %s", err, filepath.Join(layout.Root, IgnoreFile))
	}
	if err != nil {
		return nil, err
	}
	plan.Warnings = append(slices.Clone(layout.Warnings), plan.Warnings...)
	plan.Warnings = append(plan.Warnings, secretWarnings(plan)...)
	plan.Warnings = append(plan.Warnings, sizeWarnings(plan, opts.SizeWarnBytes)...)
	return plan, nil
}

// readRules reads an ignore file; a missing file has no rules.
func readRules(file string) (Rules, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Rules{}, nil
	}
	if err != nil {
		return Rules{}, fmt.Errorf("reading the ignore rules: %w", err)
	}
	rules, err := ParseRules(text)
	if err != nil {
		return Rules{}, fmt.Errorf("%s: %w", file, err)
	}
	return rules, nil
}

// ignore combines the rules with the excludes, which no rule can bring back.
func ignore(root string, rules Rules, defaults bool) func(rel string, isDir bool) bool {
	return func(rel string, isDir bool) bool {
		name := path.Base(rel)
		byDefault := defaultExcludedFiles
		if isDir {
			byDefault = defaultExcludedDirs
		}
		return slices.Contains(alwaysExcluded, name) ||
			defaults && slices.Contains(byDefault, name) ||
			rules.Ignored(rel, isDir) ||
			isDir && defaults && exists(filepath.Join(root, filepath.FromSlash(rel), venvMark)) ||
			isDir && isWrittenOverlay(filepath.Join(root, filepath.FromSlash(rel)))
	}
}

// isWrittenOverlay reports whether --write-overlay wrote the directory. Such an overlay
// contains the hash of this bundle, so the bundle can't contain it.
func isWrittenOverlay(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(api.OverlayMarker))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == api.OverlayMarker
}
