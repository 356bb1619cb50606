package resolve

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// Sources are where packages come from, as options of pip and variables of pip and uv say it.
type Sources struct {
	// Indexes and Links are those of options, the one that replaces PyPI first.
	Indexes, Links []Source
	// Others are the indexes and links of variables and of pip's configuration, and PyPI unless one of all is there in its place.
	Others []Source
	// NoIndex is the option, variable or file by which only links count, "" if indexes do.
	NoIndex string
}

// Source is an index, or a page or directory of links.
type Source struct {
	// Option is the one that names it, such as --index-url.
	Option string
	// From is what has the option: "the project", a variable or a file; or Default.
	From string
	// Dir is the absolute path of one that is on this machine.
	Dir string

	url   *url.URL // without credentials; nil for a directory
	login *url.Userinfo
	shown string // the URL with the names of its variables, "" if it has none: their values can be secrets
	// values are the variables' values, by their ${NAME}.
	values map[string]string
}

// The options that name sources.
const (
	optionIndex = "--index-url"
	optionExtra = "--extra-index-url"
	optionLinks = "--find-links"
	// NoIndex is the option that lets only links count.
	NoIndex = "--no-index"
)

// Default is where PyPI comes from if nothing takes its place.
const Default = "the default"

// Address returns the URL of a source with its credentials, or its directory.
func (s Source) Address() string {
	if s.url == nil {
		return s.Dir
	}
	u := *s.url
	u.User = s.login
	return u.String()
}

// Plain returns the URL of a source without credentials, "" for a directory.
func (s Source) Plain() string {
	if s.url == nil || s.Dir != "" {
		return ""
	}
	return s.url.String()
}

// IsLinks reports whether a source is a page or a directory of links.
func (s Source) IsLinks() bool { return s.Option == optionLinks }

// Shown returns a source for people, without what lets one read it.
func (s Source) Shown() string { return cmp.Or(s.shown, deps.Hidden(s.Plain()), s.Dir) }

// Login returns the host of a source and the credentials for it, all "" if it has none.
func (s Source) Login() (host, user, password string) {
	if s.url == nil || s.login == nil {
		return "", "", ""
	}
	password, _ = s.login.Password()
	return s.url.Hostname(), s.login.Username(), password
}

// All returns the sources of options.
func (s Sources) All() []Source { return slices.Concat(s.Indexes, s.Links) }

// Hide returns a text for people, without the passwords of the sources and the values of the variables in their URLs.
func (s Sources) Hide(text string) string {
	const shortest = 4 // of what is replaced: shorter ones would hide words
	for _, source := range slices.Concat(s.Indexes, s.Links, s.Others) {
		if _, _, password := source.Login(); len(password) >= shortest {
			text = strings.ReplaceAll(text, password, "***")
		}
		for name, value := range source.values {
			if len(value) >= shortest {
				text = strings.ReplaceAll(text, value, name)
			}
		}
	}
	return deps.Hidden(text)
}

// HideIn returns an error with the text that Hide makes of its own.
func (s Sources) HideIn(err error) error {
	if err == nil {
		return nil
	}
	return &hiddenError{s.Hide(err.Error()), err}
}

type hiddenError struct {
	text string
	err  error
}

// Error returns the text without secrets.
func (e *hiddenError) Error() string { return e.text }

// Unwrap returns the error with them.
func (e *hiddenError) Unwrap() error { return e.err }

// Bases returns the addresses of all indexes, for Files, in the order in which they are asked.
func (s Sources) Bases() []string {
	if s.NoIndex != "" {
		return nil
	}
	var bases []string
	for _, i := range slices.Concat(s.Indexes, s.Others) {
		switch {
		case i.IsLinks():
		case i.Dir != "":
			bases = append(bases, FileURL(i.Dir))
		default:
			bases = append(bases, i.Address())
		}
	}
	return bases
}

// Dirs returns the directories of links.
func (s Sources) Dirs() []string {
	var dirs []string
	for _, l := range slices.Concat(s.Links, s.Others) {
		if l.IsLinks() && l.Dir != "" {
			dirs = append(dirs, l.Dir)
		}
	}
	return dirs
}

// add adds an index. As with pip, the last --index-url counts.
func add(all []Source, s Source) []Source {
	if s.Option != optionIndex {
		return append(all, s)
	}
	all = slices.DeleteFunc(all, func(o Source) bool { return o.Option == optionIndex })
	return slices.Insert(all, 0, s)
}

// readSources reads options of pip. names are those that uv's settings give to indexes, by their URL.
// Variables in options are replaced. Other options are ignored.
func (r Resolver) readSources(options []string, names map[string]string) (Sources, error) {
	var all Sources
	for _, option := range options {
		name, value, _ := strings.Cut(option, " ")
		if name == NoIndex {
			all.NoIndex = NoIndex
		}
		if name != optionIndex && name != optionExtra && name != optionLinks {
			continue
		}
		s, err := r.source(name, strings.TrimSpace(value), names[value])
		s.From = "the project"
		switch {
		case err != nil:
			return all, fmt.Errorf("%s: %w", name, err)
		case name == optionLinks:
			all.Links = append(all.Links, s)
		default:
			all.Indexes = add(all.Indexes, s)
		}
	}
	if err := r.addVariables(&all); err != nil {
		return all, err
	}
	return all, nil
}

// addVariables adds the indexes and links that variables and pip's configuration name: the hash decides what is taken,
// so pip's and uv's count alike. An --index-url of the project comes before them.
func (r Resolver) addVariables(all *Sources) error {
	settings := r.pipSettings()
	if err := r.addPipConf(all, settings); err != nil {
		return err
	}
	for _, v := range []struct{ name, option string }{
		{"UV_INDEX_URL", optionIndex}, {"UV_DEFAULT_INDEX", optionIndex}, {"PIP_INDEX_URL", optionIndex}, // the last counts
		{"PIP_EXTRA_INDEX_URL", optionExtra}, {"UV_INDEX", optionExtra}, {"UV_EXTRA_INDEX_URL", optionExtra},
		{"PIP_FIND_LINKS", optionLinks}, {"UV_FIND_LINKS", optionLinks},
	} {
		text := r.getenv(v.name)
		if v.name == "UV_FIND_LINKS" { // the only one with commas
			text = strings.ReplaceAll(text, ",", " ")
		}
		for _, value := range strings.Fields(text) {
			name, address, named := strings.Cut(value, "=") // uv's NAME=URL
			if !named || strings.Contains(name, ":") || v.option == optionLinks {
				name, address = "", value
			}
			s, err := r.asItIs(v.option, address, name)
			if err != nil {
				return fmt.Errorf("the variable %s: %w", v.name, err)
			}
			s.From = "the variable " + v.name
			all.Others = add(all.Others, s)
		}
	}
	who, err := r.noIndex(settings)
	if err != nil {
		return err
	}
	all.NoIndex = cmp.Or(all.NoIndex, who)
	replaced := slices.ContainsFunc(all.Indexes, func(s Source) bool { return s.Option == optionIndex })
	if replaced {
		all.Others = slices.DeleteFunc(all.Others, func(s Source) bool { return s.Option == optionIndex })
		return nil
	}
	if len(all.Others) == 0 || all.Others[0].Option != optionIndex {
		pypi, err := r.address(optionIndex, deps.PyPI, "")
		pypi.From = Default
		all.Others = add(all.Others, pypi)
		return err
	}
	return nil
}

// source reads the value of an option, in which variables are replaced. name is the index's name, "" for none.
func (r Resolver) source(option, text, name string) (Source, error) {
	value, err := deps.Expand(text, r.getenv)
	if err != nil {
		return Source{}, err
	}
	s, err := r.address(option, value, name)
	if value != text && s.Dir == "" {
		s.shown, s.values = deps.Hidden(deps.WithoutUsers(text)), deps.Values(text, r.getenv)
	}
	return s, err
}

func (r Resolver) address(option, value, name string) (Source, error) {
	s := Source{Option: option}
	if filepath.IsAbs(value) {
		s.Dir = value
		return s, nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme == "":
		return s, fmt.Errorf("%s is not a URL such as %s", Shown(value), deps.PyPI)
	case u.Scheme == "file":
		s.Dir = LocalFile(u)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return s, fmt.Errorf("%s is not an https, http or file URL", Shown(value))
	}
	s.login, u.User = u.User, nil
	if s.url = u; option == optionLinks && s.Dir != "" {
		s.url, s.login = nil, nil
	}
	if s.login == nil && name != "" {
		s.login = r.namedLogin(name)
	}
	return s, nil
}

// LocalFile returns the path that a file: URL names.
func LocalFile(u *url.URL) string {
	path := u.Path
	if lazyregexp.Of(drive).MatchString(path) {
		path = path[1:] // /C:/…
	}
	return filepath.FromSlash(path)
}

const drive = `^/[A-Za-z]:/`

// FileURL returns the URL of an absolute path.
func FileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
