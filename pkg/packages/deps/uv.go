package deps

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// uvTable has the settings of uv that are read: https://docs.astral.sh/uv/reference/settings. The tag uv marks a setting
// that uv.toml replaces ("replaced"), one that uv.toml can't have ("refused", from uv's error messages), and one that
// counts with a lock only ("locked").
type uvTable struct {
	Index []struct {
		Name, URL, Format string
		Default, Explicit bool
	} `uv:"replaced"`
	IndexURL      string          `toml:"index-url" uv:"replaced"`
	ExtraIndexURL []string        `toml:"extra-index-url" uv:"replaced"`
	FindLinks     []string        `toml:"find-links" uv:"replaced"`
	NoIndex       bool            `toml:"no-index" uv:"replaced"`
	Constraints   []string        `toml:"constraint-dependencies"`
	Overrides     []string        `toml:"override-dependencies" uv:"locked"`
	Dev           []string        `toml:"dev-dependencies" uv:"refused"` // the group dev of old versions
	Sources       map[string]any  `uv:"refused"`
	Workspace     *workspaceTable `uv:"refused"`
	Pip           uvPip           `uv:"replaced"`

	DefaultGroups  any `toml:"default-groups" uv:"refused locked"`
	Metadata       any `toml:"dependency-metadata" uv:"replaced locked"`
	Environments   any `uv:"refused locked"`
	Exclude        any `toml:"exclude-dependencies" uv:"locked"`
	ExcludeNewer   any `toml:"exclude-newer" uv:"replaced locked"`
	ExcludeNewerOf any `toml:"exclude-newer-package" uv:"replaced locked"`
	IndexStrategy  any `toml:"index-strategy" uv:"replaced locked"`
	NoBinary       any `toml:"no-binary" uv:"replaced locked"`
	NoBinaryOf     any `toml:"no-binary-package" uv:"replaced locked"`
	NoBuild        any `toml:"no-build" uv:"replaced locked"`
	NoBuildOf      any `toml:"no-build-package" uv:"replaced locked"`
	Prerelease     any `uv:"replaced locked"`
	Resolution     any `uv:"replaced locked"`
	TorchBackend   any `toml:"torch-backend" uv:"replaced locked"`

	BuildBackend any `toml:"build-backend" uv:"refused"`
	Conflicts    any `uv:"refused"`
	Groups       any `toml:"dependency-groups" uv:"refused"`
	Managed      any `uv:"refused"`
	Package      any `uv:"refused"`
	Required     any `toml:"required-environments" uv:"refused"`
}

// uvPip are the indexes and links of [tool.uv.pip], which uv pip asks beside the indexes of [tool.uv]. A lock has none of them.
type uvPip struct {
	IndexURL      string   `toml:"index-url"`
	ExtraIndexURL []string `toml:"extra-index-url"`
	FindLinks     []string `toml:"find-links"`
	NoIndex       bool     `toml:"no-index"`
}

// set returns the names of the settings that have values and a word in their tag.
func (u uvTable) set(word string) (names []string) {
	for field, value := range reflect.ValueOf(u).Fields() {
		empty := value.IsZero() || word != "refused" && value.Kind() == reflect.Slice && value.Len() == 0
		if strings.Contains(field.Tag.Get("uv"), word) && !empty {
			names = append(names, cmp.Or(field.Tag.Get("toml"), strings.ToLower(field.Name)))
		}
	}
	slices.Sort(names)
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
		if path := filepath.Join(dir, uvFile); platform.IsFile(path) {
			c := uvConfig{dir: dir, name: r.name(path)}
			if err := r.decode(path, &c.uvTable); err != nil {
				return c, err
			}
			for _, name := range c.set("refused") {
				return c, fmt.Errorf("%s: the setting %s is allowed only in pyproject.toml: move it to [tool.uv] there", c.name, name)
			}
			return c, nil
		}
		if path := filepath.Join(dir, string(Project)); platform.IsFile(path) {
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
		if names := own.set("replaced"); len(names) > 0 && r.wanted.Kind != UVLock {
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
	if !isURL(value) {
		value = under(dir, value)
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
	if unread := c.set("locked"); len(unread) > 0 {
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
