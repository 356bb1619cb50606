package outputs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// inPod is KINETIC_OUTPUT_PATH of pods.
const inPod = "/kinetic/outputs"

// WithLinks is List with the links that a job in pods has saved. They have no objects; those of a local
// job are in List, too. If the path leads through links, it returns the one they lead to.
func (d *Dir) WithLinks(ctx context.Context, at string) (files []File, followed string, err error) {
	all, err := d.read(ctx)
	if err != nil {
		return nil, "", err
	}
	followed = follow(all.links, at)
	files, err = d.below(all, all.files, followed)
	return files, followed, err
}

// maxLinks is how many links a path leads through, at most: they may lead round in circles.
const maxLinks = 40

// follow returns the path to which a path leads through saved links.
func follow(links map[string]string, at string) string {
	for range maxLinks {
		next := followOnce(links, at)
		if next == at {
			break
		}
		at = next
	}
	return at
}

// followOnce replaces the first link in a path.
func followOnce(links map[string]string, at string) string {
	for i := range at + "/" {
		if i < len(at) && at[i] != '/' {
			continue
		}
		link, ok := links[at[:i]]
		if !ok {
			continue
		}
		if target := inside(inPod, at[:i], link); target != "" {
			return path.Join(path.Dir(at[:i]), target) + at[i:]
		}
	}
	return at
}

// linkOf returns the target of an object that is a link, as File.Link.
func (d *Dir) linkOf(o store.Object, name string) string {
	dir, local := strings.CutPrefix(d.URL(), store.FileScheme)
	if !local || o.Link == "" {
		return ""
	}
	return inside(dir, name, o.Link)
}

// inside returns where the link with this name in the directory root leads to, relative to the
// directory that the link is in, or "" if it leads out of root.
func inside(root, name, target string) string {
	if path.IsAbs(target) {
		below, ok := strings.CutPrefix(path.Clean(target), root+"/")
		if !ok {
			return ""
		}
		target = strings.Repeat("../", strings.Count(name, "/")) + below
	}
	if !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(name), target))) {
		return ""
	}
	return path.Clean(target)
}

// staysInside reports whether a link leads to something in the folder that it is copied to.
func (t Transfer) staysInside() bool {
	return filepath.IsLocal(filepath.Join(filepath.Dir(t.to), filepath.FromSlash(t.Link)))
}

// link makes a link. It replaces another link, and reports whether the same one was there.
func (t Transfer) link(folder *os.Root) (same bool, err error) {
	target := filepath.FromSlash(t.Link)
	if !t.staysInside() {
		return false, fmt.Errorf("it is a link to %s, which is outside the copied directory: copy a directory that contains both", t.Link)
	}
	switch there, err := folder.Readlink(t.to); {
	case err == nil && there == target:
		return true, nil
	case err == nil:
		if err := folder.Remove(t.to); err != nil {
			return false, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return false, errors.New("something else has this name, and is not a link")
	}
	if err := folder.MkdirAll(filepath.Dir(t.to), 0o777); err != nil {
		return false, err
	}
	return false, folder.Symlink(target, t.to)
}
