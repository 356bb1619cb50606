package resolve

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// InDir returns the files of a project in a directory, without hashes.
func InDir(dir, project string) []IndexFile {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // a resolver tells
	}
	var files []IndexFile
	for _, e := range entries {
		n, err := wheel.ParseName(e.Name())
		if err == nil && n.Project() == requirement.Normalize(project) || sourceVersion(e.Name(), project) != "" {
			files = append(files, IndexFile{Name: e.Name(), URL: FileURL(filepath.Join(dir, e.Name()))})
		}
	}
	return files
}

// FindInDirs returns the package of a pin if a directory has a wheel of it that fits the target. Only files of
// the right version are read.
func FindInDirs(dirs []string, pin deps.Pin, target wheel.Target) (deps.Package, bool, error) {
	var names []wheel.Name
	var files []deps.WheelFile
	for _, dir := range dirs {
		for _, f := range InDir(dir, pin.Name) {
			name, err := wheel.ParseName(f.Name)
			if err != nil || !isOf(f.Name, pin) {
				continue
			}
			found, err := Locate(deps.WheelFile{Name: f.Name, URL: f.URL})
			if err != nil {
				return deps.Package{}, false, err
			}
			if slices.Contains(pin.Hashes, found.SHA256) {
				names, files = append(names, name), append(files, found)
			}
		}
	}
	best, err := wheel.Best(names, target)
	var noFit *wheel.NoFitError
	if errors.As(err, &noFit) { // an index may have one that does
		return deps.Package{}, false, nil
	}
	if err != nil {
		return deps.Package{}, false, err
	}
	return deps.Package{Name: pin.Name, Version: pin.Version, Wheel: &files[best]}, true, nil
}

// Locate returns where a wheel is: at a URL without credentials, or, if that or the path is on this
// machine, at a path, with its size and hash. A hash that is known must be the right one.
func Locate(f deps.WheelFile) (deps.WheelFile, error) {
	if f.Path != "" {
		return f.Hashed()
	}
	u, err := url.Parse(f.URL)
	if err != nil {
		return f, fmt.Errorf("the URL of %s can't be read", f.Name)
	}
	switch {
	case u.Scheme == "file":
		f.URL, f.Path = "", LocalFile(u)
		return f.Hashed()
	case u.Scheme != "http" && u.Scheme != "https":
		return f, fmt.Errorf("%s can't be fetched by %s", f.Name, u.Scheme)
	case f.SHA256 == "":
		return f, fmt.Errorf("%s has no SHA-256 in its index", f.Name)
	}
	u.User, u.Fragment = nil, ""
	f.URL = u.String()
	return f, nil
}

// sourceVersion returns the version of a source archive of a project, "" for other files.
func sourceVersion(file, project string) string {
	for _, end := range []string{".tar.gz", ".zip", ".tar.bz2", ".tgz"} {
		stem, ok := strings.CutSuffix(path.Base(file), end)
		if i := strings.LastIndexByte(stem, '-'); ok && i > 0 && requirement.Normalize(stem[:i]) == requirement.Normalize(project) {
			return stem[i+1:]
		}
	}
	return ""
}

// open answers a request for a file: URL: an index may be a directory, whose pages are called
// index.html.
func open(request *http.Request) (*http.Response, error) {
	root := http.NewFileTransport(http.Dir(LocalFile(request.URL)))
	inner := request.Clone(request.Context())
	inner.URL = &url.URL{Scheme: "file", Path: "/"}
	answer, err := root.RoundTrip(inner)
	if answer != nil {
		answer.Request = request
	}
	return answer, err
}
