package call

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// misspelt lists the modules of the project whose names differ from module by one slip. It
// lists none if module is installed here and so may be in the image.
func (l layout) misspelt(module string) []string {
	parts := strings.Split(module, ".")
	var like []string
	isTopKnown := false
	for _, dir := range l.everywhere() {
		if _, ok := l.relative(dir); ok {
			like = append(like, modulesLike(dir, parts)...)
			isTopKnown = isTopKnown || platform.IsDir(filepath.Join(dir, parts[0]))
		}
	}
	if len(like) > 0 && !isTopKnown && l.installed != nil && l.installed(parts[0]) {
		return nil
	}
	like = slices.DeleteFunc(like, func(name string) bool { return name == module }) // another package hides it
	slices.Sort(like)
	return slices.Compact(like)
}

// modulesLike lists the dotted names below a directory whose parts equal or resemble the
// given parts.
func modulesLike(dir string, parts []string) []string {
	names := modulesIn(dir, len(parts) == 1)
	if slices.Contains(names, parts[0]) {
		names = []string{parts[0]}
	} else {
		names = oneSlipAway(parts[0], names)
	}
	if len(parts) == 1 {
		return names
	}
	var like []string
	for _, name := range names {
		for _, rest := range modulesLike(filepath.Join(dir, name), parts[1:]) {
			like = append(like, name+"."+rest)
		}
	}
	return like
}

// modulesIn lists the modules and packages of a directory or, unless themselves is set, all
// folders that may contain some.
func modulesIn(dir string, themselves bool) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // then there is nothing to suggest
	}
	var names []string
	for _, e := range entries {
		name, isModule := strings.CutSuffix(e.Name(), ".py")
		isFolder := e.IsDir() && (!themselves || platform.IsFile(filepath.Join(dir, name, "__init__.py")))
		if (isModule && themselves || isFolder) && isIdentifier(name) && !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	return names
}

// oneSlipAway lists the names that resemble a word and are about as long: torch does not
// resemble torch_utils.
func oneSlipAway(word string, names []string) []string {
	const most = 3
	about := slices.DeleteFunc(names, func(name string) bool { return max(len(name)-len(word), len(word)-len(name)) > 1 })
	return human.Nearest(word, about, most)
}

// Installed reports whether a python (a path, or a name on PATH) has a module with the
// given undotted name. It imports nothing.
func Installed(ctx context.Context, python, module string) bool {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	const find = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
	return exec.CommandContext(ctx, python, "-I", "-c", find, module).Run() == nil
}
