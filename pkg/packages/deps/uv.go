package deps

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// uvTable is what is read of the settings of uv.
type uvTable struct {
	Index []struct {
		Name, URL, Format string
		Default, Explicit bool
	}
	IndexURL      string   `toml:"index-url"`
	ExtraIndexURL []string `toml:"extra-index-url"`
	FindLinks     []string `toml:"find-links"`
	NoIndex       bool     `toml:"no-index"`
	Constraints   []string `toml:"constraint-dependencies"`
	Overrides     []string `toml:"override-dependencies"`
	Dev           []string `toml:"dev-dependencies"` // the group dev of old versions
	Sources       map[string]any
	Workspace     *workspaceTable
	Pip           uvPip

	// Those that count with a lock only, beside Overrides.
	DefaultGroups  any `toml:"default-groups"`
	Metadata       any `toml:"dependency-metadata"`
	Environments   any
	Exclude        any `toml:"exclude-dependencies"`
	ExcludeNewer   any `toml:"exclude-newer"`
	ExcludeNewerOf any `toml:"exclude-newer-package"`
	IndexStrategy  any `toml:"index-strategy"`
	NoBinary       any `toml:"no-binary"`
	NoBinaryOf     any `toml:"no-binary-package"`
	NoBuild        any `toml:"no-build"`
	NoBuildOf      any `toml:"no-build-package"`
	Prerelease     any
	Resolution     any
	TorchBackend   any `toml:"torch-backend"`

	// Those that only pyproject.toml can have, beside others.
	BuildBackend any `toml:"build-backend"`
	Conflicts    any
	Groups       any `toml:"dependency-groups"`
	Managed      any
	Package      any
	Required     any `toml:"required-environments"`
}

// uvPip are the indexes and links of [tool.uv.pip], which uv pip asks beside the indexes of [tool.uv]. A lock has none of them.
type uvPip struct {
	IndexURL      string   `toml:"index-url"`
	ExtraIndexURL []string `toml:"extra-index-url"`
	FindLinks     []string `toml:"find-links"`
	NoIndex       bool     `toml:"no-index"`
}

// isSet reports whether the table names an index or links, or that no index is asked.
func (p uvPip) isSet() bool {
	return p.IndexURL != "" || len(p.ExtraIndexURL)+len(p.FindLinks) > 0 || p.NoIndex
}

// uvSetting is a setting of uv that is read.
type uvSetting struct {
	name string
	set  bool
	// uv.toml takes its place, or can't have it.
	replaced, refused bool
	locked            bool // it counts with a lock only
}

// settings returns all settings of the table, from https://docs.astral.sh/uv/reference/settings and, for the
// ones that uv.toml can't have, from uv's error messages.
func (u uvTable) settings() []uvSetting {
	return []uvSetting{
		{name: "build-backend", set: u.BuildBackend != nil, refused: true},
		{name: "conflicts", set: u.Conflicts != nil, refused: true},
		{name: "constraint-dependencies", set: len(u.Constraints) > 0},
		{name: "default-groups", set: u.DefaultGroups != nil, refused: true, locked: true},
		{name: "dependency-groups", set: u.Groups != nil, refused: true},
		{name: "dependency-metadata", set: u.Metadata != nil, replaced: true, locked: true},
		{name: "dev-dependencies", set: u.Dev != nil, refused: true},
		{name: "environments", set: u.Environments != nil, refused: true, locked: true},
		{name: "exclude-dependencies", set: u.Exclude != nil, locked: true},
		{name: "exclude-newer", set: u.ExcludeNewer != nil, replaced: true, locked: true},
		{name: "exclude-newer-package", set: u.ExcludeNewerOf != nil, replaced: true, locked: true},
		{name: "extra-index-url", set: len(u.ExtraIndexURL) > 0, replaced: true},
		{name: "find-links", set: len(u.FindLinks) > 0, replaced: true},
		{name: "index", set: len(u.Index) > 0, replaced: true},
		{name: "index-strategy", set: u.IndexStrategy != nil, replaced: true, locked: true},
		{name: "index-url", set: u.IndexURL != "", replaced: true},
		{name: "managed", set: u.Managed != nil, refused: true},
		{name: "no-binary", set: u.NoBinary != nil, replaced: true, locked: true},
		{name: "no-binary-package", set: u.NoBinaryOf != nil, replaced: true, locked: true},
		{name: "no-build", set: u.NoBuild != nil, replaced: true, locked: true},
		{name: "no-build-package", set: u.NoBuildOf != nil, replaced: true, locked: true},
		{name: "no-index", set: u.NoIndex, replaced: true},
		{name: "override-dependencies", set: len(u.Overrides) > 0, locked: true},
		{name: "package", set: u.Package != nil, refused: true},
		{name: "pip", set: u.Pip.isSet(), replaced: true},
		{name: "prerelease", set: u.Prerelease != nil, replaced: true, locked: true},
		{name: "required-environments", set: u.Required != nil, refused: true},
		{name: "resolution", set: u.Resolution != nil, replaced: true, locked: true},
		{name: "sources", set: u.Sources != nil, refused: true},
		{name: "torch-backend", set: u.TorchBackend != nil, replaced: true, locked: true},
		{name: "workspace", set: u.Workspace != nil, refused: true},
	}
}

// set returns the names of the settings that have values, and for which isIt holds.
func (u uvTable) set(isIt func(uvSetting) bool) (names []string) {
	for _, s := range u.settings() {
		if s.set && isIt(s) {
			names = append(names, s.name)
		}
	}
	return names
}

// besideFile returns what of [tool.uv] counts where uv.toml has the settings.
func (u uvTable) besideFile() uvTable {
	return uvTable{Constraints: u.Constraints, Overrides: u.Overrides, DefaultGroups: u.DefaultGroups, Environments: u.Environments, Exclude: u.Exclude}
}

// uvFile is the file that takes the place of [tool.uv] in the pyproject.toml beside it.
const uvFile = "uv.toml"

// uvConfig are settings of uv, and where they are.
type uvConfig struct {
	uvTable
	dir  string // absolute
	name string // of the file, as users know it
}

// configOf returns the settings that count for a project in a directory, as uv finds them: those of the nearest
// uv.toml or [tool.uv], there or above. Without any, the name is "".
func (r *reader) configOf(dir string) (uvConfig, error) {
	for ; ; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, uvFile); isFile(path) {
			c := uvConfig{dir: dir, name: r.name(path)}
			if err := r.decode(path, &c.uvTable); err != nil {
				return c, err
			}
			for _, name := range c.set(func(s uvSetting) bool { return s.refused }) {
				return c, fmt.Errorf("%s: the setting %s is allowed only in pyproject.toml: move it to [tool.uv] there", c.name, name)
			}
			return c, nil
		}
		if path := filepath.Join(dir, string(Project)); isFile(path) {
			var p struct{ Tool struct{ UV *uvTable } }
			if err := r.decode(path, &p); err != nil {
				return uvConfig{}, err
			}
			if p.Tool.UV != nil {
				return uvConfig{*p.Tool.UV, dir, r.name(path)}, nil
			}
		}
		if isTop(dir, r.Home) {
			return uvConfig{}, nil
		}
	}
}

func (r *reader) decode(path string, into any) error {
	text, err := readText(path, r.name(path))
	if err != nil {
		return err
	}
	return Decode(text, r.name(path), into)
}

// uvOf adds what the settings of uv say for the projects of a workspace. What uv calls dependencies counts in
// [tool.uv] and in uv.toml: some of its commands read one, some the other.
func (r *reader) uvOf(root workspace) error {
	found, err := r.configOf(root.dir)
	if err != nil {
		return err
	}
	own := uvConfig{root.uv, root.dir, r.name(filepath.Join(root.dir, string(Project)))}
	if found.name != own.name && found.dir == root.dir {
		if names := own.set(func(s uvSetting) bool { return s.replaced }); len(names) > 0 && r.wanted.Kind != UVLock {
			r.warn(fmt.Sprintf("%s: these settings of uv are ignored, because %s takes their place: %s", own.name, found.name, strings.Join(names, ", ")))
		}
		own.uvTable = own.besideFile()
	}
	r.settings(found)
	for _, c := range []uvConfig{own, found} {
		if err := r.limits(c); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) settings(c uvConfig) {
	for _, i := range c.Index {
		if i.URL == "" || i.Explicit && r.wanted.Kind != UVLock { // which alone says what is from it
			continue
		}
		if i.Format == "flat" {
			r.addLinks(i.URL, c.dir, c.name)
			r.nameIndex(i.Name, i.URL)
		} else {
			r.addIndex(i.Name, i.URL, i.Default, c.name)
		}
	}
	r.pipSettings(c, uvPip{c.IndexURL, c.ExtraIndexURL, c.FindLinks, c.NoIndex})
	if r.wanted.Kind != UVLock {
		r.pipSettings(c, c.Pip)
	}
}

// UVOptions returns the indexes and links that a uv.toml outside a project has for all packages, as options of pip. They
// may hold credentials.
func UVOptions(path string) ([]string, error) {
	r := newReader(Options{})
	c := uvConfig{dir: filepath.Dir(path), name: path}
	if err := r.decode(path, &c.uvTable); err != nil {
		return nil, err
	}
	r.settings(c)
	return r.wanted.Options, nil
}

// pipSettings adds the indexes and links that a table of uv names as pip does. The last --index-url counts.
func (r *reader) pipSettings(c uvConfig, p uvPip) {
	if p.IndexURL != "" {
		r.addIndex("", p.IndexURL, true, c.name)
	}
	for _, url := range p.ExtraIndexURL {
		r.addIndex("", url, false, c.name)
	}
	for _, value := range p.FindLinks {
		r.addLinks(value, c.dir, c.name)
	}
	if p.NoIndex {
		r.addOnce("--no-index", c.name)
	}
}

// addIndex adds an index that a file has. name is what the project's tool calls it, "" for none.
func (r *reader) addIndex(name, url string, isDefault bool, file string) {
	option := "--extra-index-url"
	if isDefault {
		option = "--index-url"
	}
	r.addOnce(option+" "+url, file)
	r.nameIndex(name, url)
}

// addLinks adds a page or a directory of links, relative to dir.
func (r *reader) addLinks(value, dir, file string) {
	if !isURL(value) && !filepath.IsAbs(value) {
		value = filepath.Join(dir, value)
	}
	r.addOnce("--find-links "+value, file)
}

// addOnce adds an option of pip that a file has, once: several members of a workspace may have it.
func (r *reader) addOnce(option, file string) {
	if !slices.Contains(r.wanted.Options, option) {
		r.addOption(option, file)
	}
}

func (r *reader) addOption(option, file string) {
	r.wanted.Options = append(r.wanted.Options, option)
	if hasSecret(option) {
		r.exposed = append(r.exposed, file)
	}
}

func (r *reader) nameIndex(name, url string) {
	if name == "" {
		return
	}
	if r.wanted.IndexNames == nil {
		r.wanted.IndexNames = map[string]string{}
	}
	r.wanted.IndexNames[url] = name
}

// limits adds the constraints of uv, once. A lock has them already.
func (r *reader) limits(c uvConfig) error {
	if r.wanted.Kind == UVLock || slices.Contains(r.limited, c.name) {
		return nil
	}
	r.limited = append(r.limited, c.name)
	for _, text := range c.Constraints {
		if err := r.addNamed(Line{Text: text, File: c.name}, true); err != nil {
			return wrong(c.name, err)
		}
	}
	if unread := c.set(func(s uvSetting) bool { return s.locked }); len(unread) > 0 {
		r.warn(fmt.Sprintf("%s: without a lock, these settings of uv are ignored: %s: run uv lock", c.name, strings.Join(unread, ", ")))
	}
	return nil
}

// warnSettings warns if settings of uv have indexes that a file without such settings does not name: uv would ask
// them, and others may have packages of the same names from anybody. Settings that can't be read are no reason to stop.
func (r *reader) warnSettings() {
	c, err := r.configOf(r.projectDir)
	if err != nil || len(r.wanted.Requirements) == 0 {
		return
	}
	uv := newReader(r.Options)
	uv.settings(c)
	var missing []string
	for _, option := range uv.wanted.Options {
		if !slices.Contains(r.wanted.Options, option) {
			missing = append(missing, Hidden(option))
		}
	}
	if len(missing) > 0 {
		r.warn(fmt.Sprintf("%s does not name what %s has: add the lines that the job needs: %s", r.wanted.Source, c.name, strings.Join(missing, ", ")))
	}
}

// warn adds a warning, once.
func (r *reader) warn(text string) {
	if !slices.Contains(r.wanted.Warnings, text) {
		r.wanted.Warnings = append(r.wanted.Warnings, text)
	}
}
