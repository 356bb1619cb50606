package call

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// layout says where a target and its project are.
type layout struct {
	api.SourceTree
	entryDir, cwd string
	// installed is an argument of Resolve.
	installed func(module string) bool
}

// Resolve finds a target in the project. The second result is warnings, the target's own
// first. A module that is not in the project may be installed in the image: that is a
// warning, never an error. installed reports whether a module with an undotted name is
// installed on this machine; nil if unknown. It is only called for names that resemble a
// module of the project.
func (t Target) Resolve(tree api.SourceTree, installed func(module string) bool) (api.Call, []string, error) {
	l := layout{tree, t.EntryDir(), t.cwd, installed}
	c := api.Call{
		Version: api.Contract.Versions.Document, Kind: t.Kind, Module: t.Module, Function: t.Function,
		KWArgs: t.KWArgs, Args: t.Args, SysPath: t.sysPath(l),
	}
	if cwd, ok := l.relative(l.cwd); ok {
		c.Cwd = cwd
	}
	warnings := slices.Clone(t.Warnings)
	path := t.Path
	if t.Module != "" {
		path = l.find(t.Module)
		if path == "" {
			if err := l.missingModule(t.Module); err != nil {
				return api.Call{}, nil, err
			}
			warnings = append(warnings, fmt.Sprintf("module %s is not in the project %s: it must be installed where the job runs", t.Module, l.Root))
			return c, warnings, nil
		}
	}
	if t.Kind == api.CallModule {
		return c, warnings, checkRunnable(t.Module, path)
	}
	if path == "" {
		return c, warnings, nil
	}
	file, ok := l.relative(path)
	if !ok {
		return api.Call{}, nil, fmt.Errorf("%s is outside of the package root %s, so it would not be packaged: set --package-root to a directory that contains both", path, l.Root)
	}
	c.File = file
	if t.Kind == api.CallFunction && t.Module == "" {
		c.Module = l.moduleName(file)
	}
	return c, warnings, nil
}

// checkRunnable checks what Python requires of a package after -m.
func checkRunnable(module, path string) error {
	if filepath.Base(path) != "__init__.py" || platform.IsFile(filepath.Join(filepath.Dir(path), "__main__.py")) {
		return nil
	}
	return fmt.Errorf("-m %s: %s is a package without __main__.py: name one of its modules, as in -m %s.train", module, module, module)
}

// sysPath returns the directories where Python looks for imports first. They are in the
// order that find uses, so that the pod imports the file that was found here. A command
// gets none, like any other process.
func (t Target) sysPath(l layout) []string {
	var dirs []string
	switch {
	case t.Kind == api.CallCommand:
		return nil
	case t.Kind == api.CallFile, t.Kind == api.CallPickle && t.Path != "":
		dirs = []string{l.entryDir, l.PackageBase, l.Root}
	case t.Path != "":
		// The directory of the file itself comes last: it must not hide the package's own
		// names, but scripts import modules beside them.
		dirs = []string{l.PackageBase, l.Root, l.entryDir}
	default:
		dirs = l.searched()
		if dir, file := locate(l.everywhere(), t.Module, l.packaged); file != "" {
			dirs = append(dirs, dir)
		}
	}
	var path []string
	for _, dir := range dirs {
		if rel, ok := l.relative(dir); ok && !slices.Contains(path, rel) {
			path = append(path, rel)
		}
	}
	return path
}

// searched returns the directories below which a dotted name is looked up first.
func (l layout) searched() []string { return []string{l.cwd, l.Root, l.PackageBase} }

// everywhere returns the directories below which a dotted name is looked up: first the searched ones.
func (l layout) everywhere() []string {
	return slices.Concat(l.searched(), sources(l.cwd), sources(l.Root))
}

// packaged reports whether a file travels with the job.
func (l layout) packaged(file string) bool {
	_, ok := l.relative(file)
	return ok
}

// find returns the file of a module in the project, "" if there is none.
func (l layout) find(module string) string {
	_, file := locate(l.everywhere(), module, l.packaged)
	return file
}

// missingModule returns an error if no image can have a module that the project lacks,
// because its package is in the project, or if the user probably meant another module.
func (l layout) missingModule(module string) error {
	for i := range module + "." {
		if i == len(module) || module[i] == '.' {
			if err := l.missingFrom(module[:i]); err != nil {
				return err
			}
		}
	}
	if like := l.misspelt(module); len(like) > 0 {
		return fmt.Errorf("module %s is not in the project %s: %s", module, l.Root, human.DidYouMean(module, like))
	}
	return nil
}

// missingFrom returns an error if a package of the project lacks the module. A package that
// sets __path__ may have it elsewhere. The image may have all of a package of src, where the
// job need not look.
func (l layout) missingFrom(module string) error {
	i := strings.LastIndexByte(module, '.')
	if i < 0 || l.find(module) != "" {
		return nil
	}
	dir, parent := locate(l.everywhere(), module[:i], l.packaged)
	if filepath.Base(parent) != "__init__.py" {
		return nil
	}
	source, err := os.ReadFile(parent)
	if err != nil || strings.Contains(string(source), "__path__") {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(parent))
	if err != nil {
		return nil
	}
	var modules []string
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		if name == module[i+1:] {
			return nil // a compiled module, or a folder
		}
		if !strings.HasPrefix(name, "_") {
			modules = append(modules, module[:i+1]+name)
		}
	}
	message := fmt.Sprintf("package %s has no module %s", module[:i], module[i+1:])
	hint := human.DidYouMean(module, modules)
	switch {
	case hint != "":
		message += ": " + hint
	case !slices.Contains(l.searched(), dir):
		return nil
	}
	return errors.New(message)
}

// relative returns a path as it is in the bundle: "" for the root itself, and false for a
// path outside of it.
func (l layout) relative(path string) (string, bool) { return platform.Relative(l.Root, path) }

// moduleName returns the name under which a file of the bundle is imported: dotted from the
// package base, so that relative imports work in it. Without a package around it, or in one
// that Python could not name, it is only the file's stem.
func (l layout) moduleName(file string) string {
	parts := strings.Split(strings.TrimSuffix(file, ".py"), "/")
	base, ok := l.relative(l.PackageBase)
	if ok && strings.HasPrefix(file, base+"/") {
		parts = parts[strings.Count(base, "/")+1:]
	}
	last := len(parts) - 1
	packages, stem := parts[:last], parts[last]
	if slices.ContainsFunc(packages, func(p string) bool { return strings.Contains(p, ".") }) {
		packages = nil
	}
	if stem == "__init__" && len(packages) > 0 {
		return strings.Join(packages, ".")
	}
	return strings.Join(append(slices.Clone(packages), toIdentifier(stem)), ".")
}
