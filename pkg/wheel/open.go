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
	odd    []string
}

// Open reads the directory of a wheel and decides what becomes of each member. r is used as
// long as the wheel and layers of it are. The size is that of the whole archive.
//
// A member that would leave the environment or harm other wheels is an error. A RECORD that
// doesn't fit the members is not, as for pip: the layer has one that does, and a warning.
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
	members, odd, err := checkMembers(archive.File, size)
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
	return &Wheel{Name: name, layout: l, info: info, files: p.files, odd: append(odd, p.odd...)}, nil
}

// never is for work that is not interrupted.
func never() error { return nil }

// checkMembers returns the files of an archive, without its directories, sorted by name. Of two with
// one name it is the last, as in Python.
func checkMembers(all []*zip.File, size int64) (members []*zip.File, odd []string, err error) {
	compressed := uint64(0)
	for _, f := range all {
		name, folder := strings.CutSuffix(f.Name, "/")
		if err := checkPath(name); err != nil {
			return nil, nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		if folder {
			continue
		}
		if err := checkMember(f); err != nil {
			return nil, nil, fmt.Errorf("%q: %w", f.Name, err)
		}
		// Members that overlap can unpack to far more than the archive could hold.
		if compressed += f.CompressedSize64; f.CompressedSize64 > uint64(size) || compressed > uint64(size) {
			return nil, nil, fmt.Errorf("%q: the compressed members are larger than the archive", f.Name)
		}
		members = append(members, f)
	}
	slices.Reverse(members)
	slices.SortStableFunc(members, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(members, func(a, b *zip.File) bool {
		if a.Name == b.Name {
			odd = append(odd, fmt.Sprintf("%q is in the archive twice", a.Name))
		}
		return a.Name == b.Name
	}), odd, nil
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
