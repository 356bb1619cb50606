package wheel

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// Wheel is a wheel whose archive was read and checked, all but the content of its members:
// that is checked when it is converted.
type Wheel struct {
	Name   Name
	Size   int64 // of the archive, in bytes
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
	return &Wheel{Name: name, Size: size, layout: l, info: info, files: p.files, odd: append(odd, p.odd...)}, nil
}

// never is for work that is not interrupted.
func never() error { return nil }

// checkMembers returns the files of an archive, without its directories. Of two with one name it is the
// last, as in Python.
func checkMembers(all []*zip.File, size int64) (members []*zip.File, odd []string, err error) {
	compressed, places := uint64(0), map[string]int{}
	for _, f := range all {
		if err := decodeName(f); err != nil {
			return nil, nil, fmt.Errorf("%q: %w", f.Name, err)
		}
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
		if at, twice := places[f.Name]; twice {
			odd = append(odd, fmt.Sprintf("%q is in the archive twice", f.Name))
			members[at] = f
			continue
		}
		places[f.Name] = len(members)
		members = append(members, f)
	}
	return members, odd, nil
}

// decodeName decodes the name of a member as Python does if the archive doesn't say that it is UTF-8.
func decodeName(f *zip.File) error {
	const isUTF8 = 0x800
	if !f.NonUTF8 || f.Flags&isUTF8 != 0 {
		return nil
	}
	name, err := charmap.CodePage437.NewDecoder().String(f.Name)
	f.Name = name
	return err
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
		if !strings.HasPrefix(requirement.Normalize(stem), name.Project()) {
			return "", fmt.Errorf("the directory %q does not belong to the project %s", dir, name.Project())
		}
		if info != "" {
			return "", fmt.Errorf("there are two .dist-info directories, %q and %q", info, dir)
		}
		info = dir
	}
	if info == "" {
		return "", errors.New("there is no .dist-info directory: this is not a wheel")
	}
	return info, nil
}
