package resolve

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
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
	var files []IndexFile
	located := map[string]wheel.Source{} // by their URLs
	for _, dir := range dirs {
		for _, f := range InDir(dir, pin.Name) {
			if !strings.HasSuffix(f.Name, ".whl") || !isOf(f.Name, pin) {
				continue
			}
			found, err := Locate(wheel.Source{File: f.Name, URL: f.URL})
			if err != nil {
				return deps.Package{}, false, err
			}
			f.SHA256, located[f.URL] = found.SHA256, found
			files = append(files, f)
		}
	}
	p, _, err := choose(files, pin, target)
	if err != nil || p.Wheel == nil { // an index may have one that fits
		return deps.Package{}, false, err
	}
	*p.Wheel = located[p.Wheel.URL]
	return p, true, nil
}

// Locate returns where a wheel is: at a URL without credentials, or, if that or the path is on this
// machine, at a path, with its size and hash. A hash that is known must be the right one.
func Locate(f wheel.Source) (wheel.Source, error) {
	if f.Path != "" {
		return deps.Hashed(f)
	}
	u, err := url.Parse(f.URL)
	if err != nil {
		return f, fmt.Errorf("the URL of %s can't be read", f.File)
	}
	switch {
	case u.Scheme == "file":
		f.URL, f.Path = "", LocalFile(u)
		return deps.Hashed(f)
	case u.Scheme != "http" && u.Scheme != "https":
		return f, fmt.Errorf("%s can't be fetched by %s", f.File, u.Scheme)
	case f.SHA256 == "":
		return f, fmt.Errorf("%s has no SHA-256 in its index", f.File)
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
