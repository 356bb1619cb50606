package wheel

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/requirement"
)

// Wheel is a wheel whose archive was read and checked, all but the content of its members:
// that is checked when it is converted.
type Wheel struct {
	Name   Name
	layout Layout
	info   string // "six-1.16.0.dist-info"
	files  []file // what it becomes in a layer, without RECORD; sorted
}

// Open reads the directory of a wheel and decides what becomes of each member. r is used as
// long as the wheel and layers of it are. The size is that of the whole archive.
//
// A member that would leave the environment, take the place of another or harm other
// wheels is an error, and so is a RECORD that doesn't fit the members. Members that RECORD
// doesn't list are accepted, as by pip.
func Open(fileName string, r io.ReaderAt, size int64, l Layout) (*Wheel, error) {
	name, err := ParseName(fileName)
	if err != nil {
		return nil, err
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("read %s: %w", fileName, err)
	}
	w, err := open(name, r, size, l)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", fileName, advise(err))
	}
	return w, nil
}

// advise says what to do about a wheel that is not as it should be. Files that cannot be read
// are another matter.
func advise(err error) error {
	if unreadable := new(fs.PathError); errors.As(err, &unreadable) {
		return err
	}
	return fmt.Errorf("%w; use another release of the project, or build the wheel again", err)
}

func open(name Name, r io.ReaderAt, size int64, l Layout) (*Wheel, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // checkPath says more
		return nil, fmt.Errorf("the archive is damaged or incomplete: %w", err)
	}
	members, err := checkMembers(archive.File, size)
	if err != nil {
		return nil, err
	}
	info, err := findInfo(members, name)
	if err != nil {
		return nil, err
	}
	p := plan{layout: l, name: name, info: info, inflater: newInflater(never), taken: map[string]string{}}
	if err := p.readInfo(members); err != nil {
		return nil, err
	}
	if err := p.place(members); err != nil {
		return nil, err
	}
	return &Wheel{Name: name, layout: l, info: info, files: p.files}, nil
}

// never is for work that is not interrupted.
func never() error { return nil }

// checkMembers returns the files of an archive, without its directories, sorted by name.
func checkMembers(all []*zip.File, size int64) ([]*zip.File, error) {
	var members []*zip.File
	compressed := uint64(0)
	for _, f := range all {
		name, folder := strings.CutSuffix(f.Name, "/")
		if err := checkPath(name); err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		if folder {
			continue
		}
		if err := checkMember(f); err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		// Members that overlap can unpack to far more than the archive could hold.
		if compressed += f.CompressedSize64; f.CompressedSize64 > uint64(size) || compressed > uint64(size) {
			return nil, fmt.Errorf("%q: the compressed members are larger than the archive", f.Name)
		}
		members = append(members, f)
	}
	slices.SortFunc(members, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(members); i++ {
		if members[i-1].Name == members[i].Name {
			return nil, fmt.Errorf("%q: the archive has two members of this name", members[i].Name)
		}
	}
	return members, nil
}

// findInfo returns the name of the .dist-info directory. It may spell the project and the
// version in another way than the file name does.
func findInfo(members []*zip.File, name Name) (string, error) {
	info := ""
	for _, f := range members {
		dir, base, _ := strings.Cut(f.Name, "/")
		stem, ok := strings.CutSuffix(dir, ".dist-info")
		if !ok || base == "" || dir == info {
			continue
		}
		if info != "" {
			return "", fmt.Errorf("there are two .dist-info directories, %q and %q", info, dir)
		}
		if !strings.HasPrefix(requirement.Normalize(stem), name.Project()) {
			return "", fmt.Errorf("the directory %q is not of the project %s", dir, name.Project())
		}
		info = dir
	}
	if info == "" {
		return "", errors.New("there is no .dist-info directory: this is not a wheel")
	}
	return info, nil
}
