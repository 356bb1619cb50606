package deps

import (
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/requirement"
)

// distributions are the packages that have well-known modules of another name.
var distributions = map[string][]string{
	"PIL": {"pillow"}, "bs4": {"beautifulsoup4"}, "cv2": {"opencv-python", "opencv-python-headless"}, "dateutil": {"python-dateutil"},
	"dotenv": {"python-dotenv"}, "skimage": {"scikit-image"}, "sklearn": {"scikit-learn"}, "yaml": {"pyyaml"},
}

// WithModule returns the requirement that provides a module, and whether there is one. Most
// packages have the name of their module.
func (w Wanted) WithModule(module string) (Line, bool) {
	top, _, _ := strings.Cut(module, ".")
	names := []string{requirement.Normalize(top)}
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

// Named returns all requirements that name their packages, whatever the filter says. Of one that can't be
// read, it returns the name alone.
func (w Wanted) Named() []requirement.Requirement {
	var all []requirement.Requirement
	for _, l := range slices.Concat(w.Requirements, w.Dropped) {
		name := l.Name()
		if name == "" {
			continue
		}
		r, err := requirement.Parse(l.Text)
		if err != nil {
			r = requirement.Requirement{Name: name}
		}
		all = append(all, r)
	}
	return all
}

// Name returns the name of the package that is required, "" if only its URL or path is known.
func (l Line) Name() string {
	if l.Path != "" || isURL(l.Text) {
		return ""
	}
	return requirement.LeadingName(l.Text)
}
