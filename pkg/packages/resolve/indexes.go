package resolve

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
)

// Index is a place where packages are looked for: an index, or a page or directory of links.
type Index struct {
	// Address is its URL without credentials, or the path of a directory.
	Address string `json:"address"`
	// From is what names it, such as "the project", "the variable PIP_INDEX_URL" or the path of a file.
	From string `json:"from"`
}

// IsDefault reports whether nobody has named the index: it is PyPI.
func (i Index) IsDefault() bool { return i.From == Default }

// Elsewhere is the Method of what resolves on a machine that knows nothing of this one, such as Cloud Build.
const Elsewhere Method = "elsewhere"

// Indexes says where packages of a wish are looked for.
type Indexes struct {
	// Asked are the ones that the resolver asks, as far as the project, variables and configuration files name them.
	// Ignored are the ones that variables and configuration files name for another tool, those of uv's that others take the
	// place of, and, of a pod, directories of this machine.
	Asked, Ignored []Index
	// NoIndex is the option, variable or file by which no index is asked, "" if there is none.
	NoIndex string
}

// ignored are the prefixes of the variables that what resolves does not read.
func ignored() map[Method][]string {
	return map[Method][]string{UV: {"PIP_"}, Pip: {"UV_"}, Elsewhere: {"PIP_", "UV_"}}
}

// Indexes returns where packages are looked for if a wish is resolved in a way. A lock says itself where they are. The
// error is a *MistakeError.
func (r Resolver) Indexes(w Request, by Method) (all Indexes, err error) {
	if w.Kind.IsLock() {
		return all, nil
	}
	asked, err := r.without(ignored()[by]).sources(w)
	if err != nil {
		return all, err
	}
	configs := r.uvConfigs(by)
	if by == UV && asked.NoIndex == "" {
		asked.NoIndex = configs.noIndex()
	}
	all.NoIndex = asked.NoIndex
	for _, s := range asked.Others {
		if by == Pod && s.Dir != "" {
			all.Ignored = append(all.Ignored, Index{s.Shown(), s.From})
		}
	}
	others := slices.DeleteFunc(asked.Others, func(s Source) bool { return by == Pod && s.Dir != "" })
	for _, s := range slices.Concat(asked.Indexes, asked.Links, others) {
		if asked.NoIndex == "" || s.IsLinks() {
			from := s.From
			if slices.Contains(w.AddedOptions, s.Option+" "+s.Shown()) {
				from = runtimePlace
			}
			all.Asked = append(all.Asked, Index{s.Shown(), from})
		}
	}
	configs.addTo(&all, by)
	unread, some := map[Method][]string{UV: ignored()[Pip], Pip: ignored()[UV], Elsewhere: nil}[by]
	if !some {
		return all, nil
	}
	unused, err := r.without(unread).sources(w)
	for _, s := range unused.Others {
		i := Index{s.Shown(), s.From}
		if !all.asks(i) && !i.IsDefault() {
			all.Ignored = append(all.Ignored, i)
		}
	}
	return all, err
}

func (all Indexes) asks(i Index) bool {
	return slices.ContainsFunc(all.Asked, func(o Index) bool { return o.Address == i.Address })
}

// uvConfigs are uv's configuration files outside the project, the one that counts most first.
type uvConfigs []uvConfig

// uvConfig are the indexes and links that a file has, as options of pip.
type uvConfig struct {
	file    string
	options []string
}

// uvConfigs reads the files. There are none for wheels that hashes name: they are not looked for there.
func (r Resolver) uvConfigs(by Method) (all uvConfigs) {
	files := r.uvFiles()
	switch named := r.getenv("UV_CONFIG_FILE"); {
	case by == Hashes, holds(r.getenv("UV_NO_CONFIG")):
		return nil
	case named != "": // in place of all
		files = []string{named}
	}
	for _, file := range files {
		if options, err := deps.UVOptions(file); err == nil { // else there is none, or uv says what is wrong
			all = append(all, uvConfig{file, options})
		}
	}
	return all
}

// holds reports whether a variable of uv is set and does not say no.
func holds(value string) bool {
	return !slices.Contains([]string{"", "0", "f", "false", "n", "no", "off"}, strings.ToLower(value))
}

// noIndex returns the file that lets no index be asked, "" if there is none.
func (all uvConfigs) noIndex() string {
	for _, c := range all {
		if slices.Contains(c.options, NoIndex) {
			return c.file
		}
	}
	return ""
}

// addTo adds what the files name. Only uv asks it. As for uv, one index takes the place of PyPI: the project's, that of a
// variable, or else that of the first file.
func (all uvConfigs) addTo(places *Indexes, by Method) {
	for _, c := range all {
		for _, option := range c.options {
			name, address, _ := strings.Cut(option, " ")
			i := Index{deps.Hidden(deps.WithoutUsers(address)), c.file}
			at := slices.IndexFunc(places.Asked, Index.IsDefault)
			switch {
			case address == "" || places.asks(i):
			case by != UV, name == "--index-url" && at < 0, name != "--find-links" && places.NoIndex != "":
				places.Ignored = append(places.Ignored, i)
			case name == "--index-url":
				places.Asked = append(slices.Delete(places.Asked, at, at+1), i)
			default:
				places.Asked = append(places.Asked, i)
			}
		}
	}
}

// Check returns a *MistakeError if no index could help: a variable is not set, a URL is none, or hashes contradict each other. It
// contacts nothing.
func (r Resolver) Check(w Request) error {
	if _, err := r.sources(w); err != nil {
		return err
	}
	for _, l := range w.Remote {
		if _, err := deps.Expand(l.Text, r.getenv); err != nil {
			return &MistakeError{fmt.Errorf("%s: %w", l.Place(), err)}
		}
	}
	if w.Kind.IsLock() || w.Target.Python == "" { // without a Python, it is not known whether a line's marker holds
		return nil
	}
	if _, _, err := w.pins(); err != nil {
		return &MistakeError{err}
	}
	return nil
}

// without returns the resolver of a machine that lacks the variables with prefixes, and pip's configuration with its own.
func (r Resolver) without(prefixes []string) Resolver {
	r.Environ = slices.DeleteFunc(slices.Clone(r.environ()), func(variable string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
	if slices.Contains(prefixes, "PIP_") {
		r.Environ = append(r.Environ, "PIP_CONFIG_FILE="+os.DevNull)
	}
	return r
}
