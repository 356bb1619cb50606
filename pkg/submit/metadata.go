package submit

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// installProjects does what installing the projects that travel with the job would do: code can import their modules, and finds
// their versions and entry points. What a command finds comes last, because its programs may be anybody's.
func (p *Planned) installProjects(layout pack.Layout, c *api.Call) error {
	dirs := moduleDirs(p.Deps.LocalDirs, layout.Root, c.SysPath)
	searched := slices.Concat(c.SysPath, dirs)
	if c.Kind != api.CallCommand {
		c.SysPath, dirs = searched, nil
	}
	texts := map[string]string{}
	for _, dir := range dirs {
		if strings.ContainsAny(dir, "\r\n") || strings.TrimSpace(dir) != dir {
			continue // it would be another line, which Python may run
		}
		texts[api.MetadataDir+"/projects.pth"] += "../" + dir + "\n"
	}
	var names []string
	for _, dir := range p.Deps.LocalDirs {
		if !layout.Contains(dir) {
			continue
		}
		d := deps.DistributionOf(dir)
		name := strings.ReplaceAll(requirement.Normalize(d.Name), "-", "_")
		version := cmp.Or(d.Version, builtVersion(name, dir, layout.Root))
		if d.Name == "" || version == "" || slices.Contains(names, name) || p.hasMetadata(name, searched) {
			continue
		}
		names = append(names, name)
		files := map[string]string{"METADATA": "Metadata-Version: 2.1\nName: " + d.Name + "\nVersion: " + version + "\n", "entry_points.txt": d.EntryPoints}
		record := ""
		info := name + "-" + strings.ReplaceAll(version, "-", "_") + ".dist-info/"
		for _, file := range slices.Sorted(maps.Keys(files)) {
			if files[file] != "" {
				texts[api.MetadataDir+"/"+info+file] = files[file]
				record += info + file + ",,\n"
			}
		}
		texts[api.MetadataDir+"/"+info+"RECORD"] = record + info + "RECORD,,\n" // so that pip can remove it
	}
	return p.Files.Add(texts)
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

// pythonHome returns the directory of this machine's virtual or conda environment, or where else its Python is installed.
func pythonHome() string {
	found, err := exec.LookPath(platform.Python())
	if err != nil {
		return ""
	}
	return filepath.Dir(filepath.Dir(found)) // not where a virtual environment's link leads to
}

// builtVersion returns the version that a project got when it was installed or built here, "" if that is not known.
func builtVersion(name, dir, root string) string {
	const installed = "[Ll]ib*/python3*/site-packages/*.dist-info/METADATA"
	for _, in := range []struct{ dir, pattern string }{{dir, "src/*.egg-info/PKG-INFO"}, {dir, "*.egg-info/PKG-INFO"},
		{dir, ".venv/" + installed}, {root, ".venv/" + installed}, {pythonHome(), installed}} {
		files := os.DirFS(in.dir)
		found, _ := fs.Glob(files, in.pattern)
		for _, file := range found {
			if distribution(path.Base(path.Dir(file))) != name {
				continue
			}
			text, _ := fs.ReadFile(files, file)
			if match := lazyregexp.Of(`(?m)^Version: ([A-Za-z0-9.!+_-]+)\r?$`).FindSubmatch(text); match != nil {
				return string(match[1])
			}
		}
	}
	return ""
}
