package bundle

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// requirementFiles are where a project may say which packages it needs.
var requirementFiles = []string{"requirements.txt", "pyproject.toml"}

// distributions are the names under which well-known modules are installed.
var distributions = map[string][]string{
	"PIL": {"pillow"}, "bs4": {"beautifulsoup4"}, "cv2": {"opencv-python", "opencv-python-headless"}, "dateutil": {"python-dateutil"},
	"dotenv": {"python-dotenv"}, "skimage": {"scikit-image"}, "sklearn": {"scikit-learn"}, "yaml": {"pyyaml"},
}

// RequiredBy returns the package that provides a module and the file in the package root
// that requires it; "" if there is none. The name is spelled as in the file.
func RequiredBy(root, module string) (name, file string) {
	top, _, _ := strings.Cut(module, ".")
	wanted := append([]string{top}, distributions[top]...)
	for _, file := range requirementFiles {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue // missing or unreadable
		}
		for _, found := range requirement().FindAllStringSubmatch(string(text), -1) {
			name := cmp.Or(found[1:]...)
			if slices.ContainsFunc(wanted, func(w string) bool { return normalized(w) == normalized(name) }) {
				return name, file
			}
		}
	}
	return "", ""
}

// requirement matches a package's name at the start of a line, as in requirements.txt and
// in Poetry's tables, or at the start of a quoted string, as in a list of pyproject.toml.
var requirement = pattern.Lazy(`(?m)^\s*([A-Za-z0-9][\w.-]*)|["']([A-Za-z0-9][\w.-]*)`)

// normalized returns the same name for all spellings of a package, as in PEP 503.
func normalized(name string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(name, "-"))
}
