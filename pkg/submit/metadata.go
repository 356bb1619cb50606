package submit

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// metadataDir is the directory in the package with what importlib.metadata needs to know of the user's projects.
const metadataDir = ".kinetic-metadata"

// installProjects does what installing the projects that travel with the job would do: it returns sys.path with the directories of
// their modules, and adds their metadata to the package, where code finds their versions and entry points.
func (p *Planned) installProjects(layout pack.Layout, sysPath []string) ([]string, error) {
	sysPath = slices.Concat(sysPath, moduleDirs(p.Deps.LocalDirs, layout.Root, sysPath))
	texts := map[string]string{}
	var names []string
	for _, dir := range append(slices.Clip(p.Deps.LocalDirs), p.Deps.Dir) {
		if dir == "" || !layout.Contains(dir) {
			continue
		}
		d := deps.DistributionOf(dir)
		name := strings.ReplaceAll(requirement.Normalize(d.Name), "-", "_")
		if d.Name == "" || slices.Contains(names, name) || p.hasMetadata(name, sysPath) {
			continue
		}
		names = append(names, name)
		version := cmp.Or(d.Version, builtVersion(name, dir, layout.Root))
		if version == "" && !p.installs() {
			continue // it may be installed there, and known better
		}
		version = cmp.Or(version, "0")
		in := metadataDir + "/" + name + "-" + strings.ReplaceAll(version, "-", "_") + ".dist-info/"
		texts[in+"METADATA"] = "Metadata-Version: 2.1\nName: " + d.Name + "\nVersion: " + version + "\n"
		if d.EntryPoints != "" {
			texts[in+"entry_points.txt"] = d.EntryPoints
		}
	}
	if len(texts) == 0 {
		return sysPath, nil
	}
	return append(sysPath, metadataDir), p.Files.Add(texts) // last, behind what the user has
}

// hasMetadata reports whether the package has the metadata of a project where a job looks for it.
func (p *Planned) hasMetadata(name string, sysPath []string) bool {
	for _, f := range p.Files.Index.Files {
		dir, file := path.Split(f.Path)
		if file != "PKG-INFO" && file != "METADATA" {
			continue
		}
		parent, dir := path.Split(path.Clean(dir))
		if distribution(dir) == name && slices.ContainsFunc(sysPath, func(s string) bool { return path.Clean(s) == path.Clean(parent) }) {
			return true
		}
	}
	return false
}

// distribution returns the normalized name of the project whose metadata a directory has, by its name, "" for others.
func distribution(dir string) string {
	if ext := path.Ext(dir); ext != ".dist-info" && ext != ".egg-info" {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimSuffix(dir, path.Ext(dir)), "-")
	return strings.ReplaceAll(requirement.Normalize(name), "-", "_")
}

// builtVersion returns the version that a project got when it was installed or built here, "" if that is not known.
func builtVersion(name, dir, root string) string {
	const installed = ".venv/[Ll]ib*/python3*/site-packages/*.dist-info/METADATA"
	for _, pattern := range []string{dir + "/src/*.egg-info/PKG-INFO", dir + "/*.egg-info/PKG-INFO", dir + "/" + installed, root + "/" + installed} {
		found, _ := filepath.Glob(pattern)
		for _, file := range found {
			if distribution(filepath.Base(filepath.Dir(file))) != name {
				continue
			}
			text, _ := os.ReadFile(file)
			if match := lazyregexp.Of(`(?m)^Version: ([A-Za-z0-9.!+_-]+)$`).FindSubmatch(text); match != nil {
				return string(match[1])
			}
		}
	}
	return ""
}
