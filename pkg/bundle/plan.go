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

// IgnoreFile is the name of the file, at the package root, that lists what to
// leave out.
const IgnoreFile = ".kineticignore"

// alwaysExcluded are never packaged, at any depth, be they file or directory.
var alwaysExcluded = []string{".git", "__pycache__"}

// defaultExcludedDirs and defaultExcludedFiles are not packaged, at any depth,
// unless PlanOptions.NoDefaultExcludes is set.
var (
	defaultExcludedDirs = []string{
		".venv", "venv", "node_modules", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints",
	}
	defaultExcludedFiles = []string{".DS_Store"}
)

// venvMark is in every virtual environment, whatever that is called.
const venvMark = "pyvenv.cfg"

// PlanOptions says how to package.
type PlanOptions struct {
	// CacheDir is pack.Options.CacheDir.
	CacheDir string
	// Exclude lists absolute paths to leave out: a store or an output directory
	// below the root, and local data that travels by itself.
	Exclude []string
	// Outputs are files that are being written, and left out.
	Outputs []fs.FileInfo
	// NoDefaultExcludes packages what is left out by default as well, but for
	// .git and __pycache__. It is KINETIC_NO_DEFAULT_EXCLUDES=1.
	NoDefaultExcludes bool
	// SizeWarnBytes is the size in the store above which there is a warning; 0
	// or less for none.
	SizeWarnBytes int64
}

// Plan packages the root of a layout: .kineticignore and the excludes applied,
// hashed, with all warnings. Nothing is written but the cache.
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

// readRules reads an ignore file; without one there are no rules.
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

// ignore joins the excludes, which no rule can bring back, and the rules.
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

// isWrittenOverlay says a directory of --write-overlay. It describes a job of
// this bundle: with it in the bundle there would be no end.
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
