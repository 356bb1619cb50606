package submit

import (
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
// their versions and entry points. What other programs find comes last, because they may be anybody's: those of a command, and those
// that the call starts.
func (p *Planned) installProjects(layout pack.Layout, c *api.Call) error {
	p.SysPath = slices.Concat(c.SysPath, moduleDirs(p.Deps.LocalDirs, layout.Root, c.SysPath))
	if c.Kind != api.CallCommand {
		c.SysPath = p.SysPath
	}
	projects := p.Deps.LocalDirs
	if c.Kind != api.CallPickle && isInstallable(layout.Root) && !slices.Contains(projects, layout.Root) {
		projects = append(slices.Clone(projects), layout.Root) // no requirement names it; what it has comes last, so that it hides nothing
	}
	last := moduleDirs(projects, layout.Root, nil)
	searched := slices.Concat(p.SysPath, last)
	texts := map[string]string{}
	for _, dir := range last {
		if strings.ContainsAny(dir, "\r\n") || strings.TrimSpace(dir) != dir {
			continue // it would be another line, which Python may run
		}
		texts[api.MetadataDir+"/projects.pth"] += "../" + dir + "\n"
	}
	var names []string
	for _, dir := range projects {
		if !layout.Contains(dir) {
			continue
		}
		d := deps.DistributionOf(dir)
		name := strings.ReplaceAll(requirement.Normalize(d.Name), "-", "_")
		if d.Name == "" || slices.Contains(names, name) || p.hasMetadata(name, searched) {
			continue
		}
		version := d.Version
		if version == "" {
			version = builtVersion(name, dir, layout.Root)
		}
		if version == "" {
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

// isInstallable reports whether pip could install the project in a directory.
func isInstallable(dir string) bool {
	return deps.DistributionOf(dir).Name != "" || platform.IsFile(filepath.Join(dir, "setup.py")) || platform.IsFile(filepath.Join(dir, "setup.cfg"))
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
	for _, in := range []string{dir, filepath.Join(dir, "src")} {
		if version := versionIn(in, "*.egg-info", "PKG-INFO", name); version != "" {
			return version
		}
	}
	for _, env := range []string{pythonEnvironment(), filepath.Join(dir, ".venv"), filepath.Join(root, ".venv")} {
		for _, packages := range []string{"lib/python3*/site-packages", "Lib/site-packages"} {
			if version := versionIn(env, packages+"/*.dist-info", "METADATA", name); version != "" {
				return version
			}
		}
	}
	return ""
}

// versionIn returns the version of a project that a file has in one of the directories that match a pattern.
func versionIn(dir, pattern, file, name string) string {
	files := os.DirFS(dir)
	found, _ := fs.Glob(files, pattern)
	for _, info := range found {
		if distribution(path.Base(info)) != name {
			continue
		}
		text, _ := fs.ReadFile(files, path.Join(info, file))
		if match := lazyregexp.Of(`(?m)^Version: ([A-Za-z0-9.!+_-]+)\r?$`).FindSubmatch(text); match != nil {
			return string(match[1])
		}
	}
	return ""
}

// pythonEnvironment returns the directory of the virtual or conda environment of this machine's Python, "" if it is in none. What
// else has Python may have several, each with its own packages.
func pythonEnvironment() string {
	python, err := exec.LookPath(platform.Python())
	if err != nil {
		return ""
	}
	dir := filepath.Dir(python) // not where a virtual environment's link leads to
	for _, env := range []string{dir, filepath.Dir(dir)} {
		for _, mark := range []string{"pyvenv.cfg", "conda-meta"} {
			if _, err := os.Stat(filepath.Join(env, mark)); err == nil {
				return env
			}
		}
	}
	return ""
}
