package pack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// IgnoreFile is the name of the file in the package root that lists what not to package.
const IgnoreFile = ".kineticignore"

// PlanOptions says how to package a project.
type PlanOptions struct {
	// Options says the rest. PlanProject sets Root and Ignore. Exclude has a store or an output directory below
	// the root, and local data, which is uploaded separately.
	Options
	// NoDefaultExcludes also packages the default excludes, except for .git and
	// __pycache__. It is KINETIC_NO_DEFAULT_EXCLUDES=1.
	NoDefaultExcludes bool
	// Entry is the file that the job runs, relative to the root with forward slashes. PlanProject
	// returns an error if it is left out. "" means no file.
	Entry string
	// SizeWarnBytes is the size in the store above which PlanProject warns; 0 or less for no
	// warning.
	SizeWarnBytes int64
}

// PlanProject lists and hashes what to package of a layout's root, without what .kineticignore and
// the excludes leave out, and collects all warnings. It writes nothing but the cache.
func PlanProject(ctx context.Context, layout Layout, opts PlanOptions) (*Plan, error) {
	if layout.Nothing {
		plan, err := New(ctx, Options{Root: layout.Root, Ignore: func(string, bool) bool { return true }})
		if err == nil {
			plan.Warnings = layout.Warnings
		}
		return plan, err
	}
	rules, err := readRules(filepath.Join(layout.Root, IgnoreFile))
	if err != nil {
		return nil, err
	}
	excluded := excludes{root: layout.Root, rules: rules, defaults: !opts.NoDefaultExcludes}
	var fetched []string
	ignore := func(rel string, isDir bool) bool {
		why := excluded.why(rel, isDir)
		if why == fetchedOutputs {
			fetched = append(fetched, rel)
		}
		return why != kept
	}
	opts.Root, opts.Ignore = layout.Root, ignore
	plan, err := New(ctx, opts.Options)
	if errors.As(err, new(*FileError)) {
		return nil, fmt.Errorf("%w or exclude it in %s", err, filepath.Join(layout.Root, IgnoreFile))
	}
	if err != nil {
		return nil, err
	}
	if err := excluded.check(opts.Entry, plan.Index.Files); err != nil {
		return nil, err
	}
	slices.Sort(fetched)
	plan.LeftOut = fetched
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
