package pack

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// isEnvironment reports whether a directory is a virtual environment, or one of conda or pixi, whatever it is called.
func isEnvironment(dir string) bool { return hasAny(dir, []string{"pyvenv.cfg", "conda-meta"}) }

// excludes decides what is left out of a package: the rules combined with the other
// excludes, which no rule can bring back.
type excludes struct {
	root     string
	rules    Rules
	defaults bool
}

// reason is why a path is left out.
type reason int

const (
	kept reason = iota
	always
	byDefault
	byRule
	virtualEnv
	writtenOverlay
	fetchedOutputs
)

// why returns why a path is left out, or kept. Call it as pack.Options.Ignore is called.
func (x excludes) why(rel string, isDir bool) reason {
	// alwaysExcluded are files and directories that are never packaged, at any depth.
	alwaysExcluded := []string{".git", "__pycache__", api.MetadataDir}
	name, dir := path.Base(rel), filepath.Join(x.root, filepath.FromSlash(rel))
	// defaults are not packaged, at any depth, unless PlanOptions.NoDefaultExcludes is set.
	defaults := []string{".DS_Store"}
	if isDir {
		defaults = []string{".venv", "venv", "node_modules", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints"}
	}
	switch {
	case slices.Contains(alwaysExcluded, name):
		return always
	case x.defaults && slices.Contains(defaults, name):
		return byDefault
	case x.rules.Ignored(rel, isDir):
		return byRule
	case isDir && x.defaults && isEnvironment(dir):
		return virtualEnv
	case isDir && isWrittenOverlay(dir):
		return writtenOverlay
	case isDir && exists(filepath.Join(dir, api.FetchedMarker)):
		return fetchedOutputs
	}
	return kept
}

// check returns an error if the file that the job runs is not packaged: the job would fail
// in its pod, after the upload.
func (x excludes) check(entry string, files []api.IndexFile) error {
	if entry == "" || slices.ContainsFunc(files, func(f api.IndexFile) bool { return f.Path == entry }) {
		return nil
	}
	for i := range entry + "/" {
		if i < len(entry) && entry[i] != '/' {
			continue
		}
		rel, isDir := entry[:i], i < len(entry)
		switch name := path.Base(rel); x.why(rel, isDir) {
		case always:
			return fmt.Errorf("%s is not packaged, because %s is always excluded: move the file", entry, name)
		case byDefault:
			return fmt.Errorf("%s is not packaged, because %s is excluded by default: move the file, or set KINETIC_NO_DEFAULT_EXCLUDES=1", entry, name)
		case virtualEnv:
			return fmt.Errorf("%s is not packaged, because %s is a virtual environment: move the file, or set KINETIC_NO_DEFAULT_EXCLUDES=1", entry, rel)
		case fetchedOutputs:
			return fmt.Errorf("%s is not packaged, because %s has outputs that were copied from a job: move the file, or delete %[2]s/%[3]s", entry, rel, api.FetchedMarker)
		case byRule:
			also := ""
			if isDir {
				also = ", which excludes all of " + rel
			}
			return fmt.Errorf("%s is excluded by .kineticignore (line %d%s): remove or change that line", entry, x.rules.Line(rel, isDir), also)
		}
	}
	for _, f := range files {
		if strings.EqualFold(f.Path, entry) { // the file system of this machine ignores case
			return fmt.Errorf("%s is packaged as %s, its name on disk, and pods distinguish upper and lower case: type it like that", entry, f.Path)
		}
	}
	return fmt.Errorf("%s is not packaged, because this run excludes its directory or packages it under another name: move the file", entry)
}

// isWrittenOverlay reports whether --write-overlay wrote the directory. Such an overlay
// contains the hash of this package, so the package can't contain it.
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
