package wheel

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
)

// A file is one of a layer. Its content is head, followed by the member of the wheel without
// its first skip bytes.
type file struct {
	name       string // its path from the root, without a slash at its start
	size       int64
	executable bool
	link       string // the target, if it is a symbolic link

	head   []byte
	member *zip.File // nil if the content is head alone
	skip   int64

	sum    checksum // of the content
	source string   // the module that it is the bytecode of, by its path in the layer
	wheel  string   // the file name of its wheel
}

func textFile(name string, content []byte) file {
	return file{name: name, size: int64(len(content)), head: content, sum: checksumOfBytes(content)}
}

// origin returns the name in the wheel, or in the layer if the file was generated.
func (f *file) origin() string {
	if f.member != nil {
		return f.member.Name
	}
	return f.name
}

// whole reports whether the content is a member as it is in the wheel.
func (f *file) whole() bool { return f.member != nil && len(f.head) == 0 && f.skip == 0 }

// copied reports whether the deflate stream of the wheel is copied into the layer. Below the
// limit, compressing several files together makes them smaller.
func (f *file) copied() bool {
	const least = 32 << 10
	return f.whole() && f.member.Method == zip.Deflate && f.size >= least
}

func (f *file) writeTo(w io.Writer, i *inflater) error {
	if _, err := w.Write(f.head); err != nil || f.member == nil {
		return err
	}
	r, err := i.open(f.member, nil)
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, r, f.skip); err != nil {
		return err
	}
	return i.copy(w, r)
}

func (f *file) hash(i *inflater) (checksum, error) {
	h := sha256.New()
	if err := f.writeTo(h, i); err != nil {
		return "", err
	}
	return checksumOf(h.Sum(nil)), nil
}

// folders calls visit for each folder above a file, from the prefix down.
func (f *file) folders(prefix string, visit func(folder string)) {
	for i := len(prefix); i < len(f.name); i++ {
		if f.name[i] == '/' {
			visit(f.name[:i])
		}
	}
}

func checkFolders(files []file) error {
	folders := map[string]*file{}
	for i := range files {
		files[i].folders("", func(folder string) { folders[folder] = &files[i] })
	}
	for _, f := range files {
		if other, ok := folders[f.name]; ok {
			return fmt.Errorf("/%s of %s would be a file, and a folder for /%s of %s", f.name, f.wheel, other.name, other.wheel)
		}
	}
	return nil
}
