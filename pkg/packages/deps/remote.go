package deps

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// maxRemote is how many files of requirements are fetched at most.
const maxRemote = 20

// remote reads a file of requirements that a URL names, or a path in one that was fetched from a directory. It is
// remembered if it still has to be fetched.
func (r *reader) remote(value, dir string, l Line, constraints bool) error {
	address := value
	if isURL(dir) {
		at, err := beside(dir, value)
		if err != nil {
			return fmt.Errorf("%q is not the URL of a file", l.Text)
		}
		address = at
	}
	if !strings.HasPrefix(strings.ToLower(address), "https://") {
		return fmt.Errorf("%q: only https URLs and files of the project are read: download it and name the file", l.Text)
	}
	visit := fmt.Sprint(address, constraints)
	if slices.Contains(r.files, visit) {
		return nil // its lines are read already
	}
	if r.files = append(r.files, visit); len(r.wanted.Remote) == maxRemote {
		return fmt.Errorf("%q: more than %d URLs: download the files and name them", l.Text, maxRemote)
	}
	l.Text = address
	r.wanted.Remote = append(r.wanted.Remote, l)
	text, found := r.Texts[address]
	if !found {
		r.wanted.Unfetched = append(r.wanted.Unfetched, l)
		r.wanted.Unread = r.wanted.Unread || !constraints
		return nil
	}
	name := Hidden(address)
	if err := r.lines(text, directory(address), name, constraints); err != nil {
		return &includedError{err}
	}
	return nil
}

// beside returns the URL that a file in a directory means by a name. The directory is taken as text, because variables
// in it are replaced only when the file is fetched.
func beside(dir, name string) (string, error) {
	u, err := url.Parse(name)
	if err != nil || u.IsAbs() {
		return name, err
	}
	if u.Host != "" {
		return "https:" + name, nil
	}
	host, folder := parts(dir)
	file := u.EscapedPath()
	if !strings.HasPrefix(file, "/") {
		file = folder + file
	}
	address := host + path.Clean(file)
	if u.RawQuery != "" {
		address += "?" + u.RawQuery
	}
	return address, nil
}

// directory returns the part of a URL before the name of its file, without what lets one fetch that file.
func directory(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	host, file := parts(address)
	return host + file[:strings.LastIndexByte(file, '/')+1]
}

// parts returns a URL up to its host, and its path.
func parts(address string) (host, file string) {
	scheme, rest, _ := strings.Cut(address, "://")
	host, file, _ = strings.Cut(rest, "/")
	return scheme + "://" + host, "/" + file
}

// errVariable is about a variable in a file that was fetched: its server would get the value.
func errVariable(found string) error {
	return fmt.Errorf("only files of the project may have variables, such as %s", found)
}

// errNotHere is about a path in a file that was fetched.
func errNotHere(line string) error {
	return fmt.Errorf("%q: a file that is fetched from a URL can't name files of this machine", line)
}
