package deps

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// WithModule returns the requirement that provides a module, and whether there is one. Most
// packages have the name of their module.
func (w Wanted) WithModule(module string) (Line, bool) {
	top, _, _ := strings.Cut(module, ".")
	names := []string{requirement.Normalize(top)}
	// distributions are the packages that have well-known modules of another name.
	distributions := map[string][]string{
		"PIL": {"pillow"}, "bs4": {"beautifulsoup4"}, "cv2": {"opencv-python", "opencv-python-headless"}, "dateutil": {"python-dateutil"},
		"dotenv": {"python-dotenv"}, "skimage": {"scikit-image"}, "sklearn": {"scikit-learn"}, "yaml": {"pyyaml"},
	}
	for _, name := range distributions[top] {
		names = append(names, requirement.Normalize(name))
	}
	for _, l := range slices.Concat(w.Requirements, w.Dropped) {
		if name := l.Name(); name != "" && slices.Contains(names, requirement.Normalize(name)) {
			return l, true
		}
	}
	return Line{}, false
}

// Named returns all requirements whose packages have known names, whatever the filter says. Of one that can't be
// read, it returns the name alone.
func (w Wanted) Named() []requirement.Requirement {
	var all []requirement.Requirement
	for _, l := range slices.Concat(w.Requirements, w.Dropped) {
		text := l.named()
		if text == "" {
			continue
		}
		r, err := requirement.Parse(text)
		if err != nil {
			r = requirement.Requirement{Name: requirement.LeadingName(text)}
		}
		all = append(all, r)
	}
	return all
}

// HasUnnamed reports whether there are requirements whose packages have no known names.
func (w Wanted) HasUnnamed() bool {
	return slices.ContainsFunc(w.Requirements, func(l Line) bool { return l.named() == "" })
}

// Name returns the name of the package that is required, "" if only its URL or path is known.
func (l Line) Name() string {
	if l.Path != "" || isURL(l.Text) {
		return ""
	}
	return requirement.LeadingName(l.Text)
}

// Project returns the normalized name of the required project, also of one that is only the path or URL of a wheel, "" if it
// is not known.
func (l Line) Project() string { return requirement.Normalize(requirement.LeadingName(l.named())) }

// named returns the requirement with its name in front. A URL or a path alone has one in #egg= or in the file name of a
// wheel; for others it returns "".
func (l Line) named() string {
	if l.Name() != "" {
		return l.Text
	}
	if name, _, found := cutName(l.Text); found {
		return name
	}
	address, _, _ := strings.Cut(l.Text, " ")
	address, fragment, _ := strings.Cut(strings.TrimSuffix(address, ";"), "#")
	for part := range strings.SplitSeq(fragment, "&") {
		if egg, found := strings.CutPrefix(part, "egg="); found && requirement.LeadingName(egg) != "" {
			return egg
		}
	}
	address, _, _ = strings.Cut(address, "?")
	file := path.Base(filepath.ToSlash(cmp.Or(l.Path, address)))
	name, _, _ := strings.Cut(file, "-")
	if !strings.HasSuffix(file, ".whl") {
		return ""
	}
	extras, _ := l.BesidePath()
	return name + extras
}
