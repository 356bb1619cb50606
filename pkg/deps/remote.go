package deps

import (
	"fmt"
	"net/url"
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
		base, err := url.Parse(dir)
		if err != nil {
			return err
		}
		at, err := base.Parse(value)
		if err != nil {
			return fmt.Errorf("%q is not the URL of a file", l.Text)
		}
		address = at.String()
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

// directory returns the part of a URL before the name of its file, without what lets one fetch that file.
func directory(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	return address[:strings.LastIndexByte(address, '/')+1]
}

// errNotHere is about a path in a file that was fetched.
func errNotHere(line string) error {
	return fmt.Errorf("%q: a file that is fetched from a URL can't name files of this machine", line)
}
