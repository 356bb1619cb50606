package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// FileScheme begins the URL of a store in a directory.
const FileScheme = "file://"

// tempDir holds half-written objects. It is at the top of the store, to be on the same
// file system. It is not a valid object name and is never listed.
const tempDir = ".tmp"

// fileStore keeps every object as one file under dir. Files have mode 0600 and
// directories 0700, so that only their owner can read calls and results.
type fileStore struct {
	dir   string
	sweep sync.Once
}

// OpenFile opens the store at a URL like file:///home/me/store. What follows file:// is
// an absolute path, taken literally, without percent-decoding. The directory is made when
// the first object is written.
func OpenFile(rawURL string) (Store, error) {
	dir, ok := strings.CutPrefix(rawURL, FileScheme)
	if !ok {
		return nil, fmt.Errorf("store %q: expected file:///an/absolute/directory", rawURL)
	}
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return nil, fmt.Errorf("store %q: %q is not an absolute path: expected file:///an/absolute/directory", rawURL, dir)
	}
	dir = filepath.Clean(dir)
	if dir == filepath.Dir(dir) {
		return nil, fmt.Errorf("store %q: the root directory cannot be a store: name a directory inside it", rawURL)
	}
	return &fileStore{dir: dir}, nil
}

func (s *fileStore) URL() string { return FileScheme + filepath.ToSlash(s.dir) }

// Close has nothing to do.
func (s *fileStore) Close() error { return nil }

// full returns the name of an object for messages.
func (s *fileStore) full(name string) string { return s.URL() + "/" + name }

// path returns the file of an object. It rejects names that would leave the store, or are
// not in their shortest form.
func (s *fileStore) path(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	if first, _, _ := strings.Cut(name, "/"); first == tempDir || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("object name %q: it can't begin with %q or be a path elsewhere", name, tempDir)
	}
	return filepath.Join(s.dir, filepath.FromSlash(name)), nil
}

func (s *fileStore) Create(ctx context.Context, name string, r io.Reader, _ map[string]string) error {
	return s.create(ctx, name, func() (io.ReadCloser, error) { return io.NopCloser(r), nil })
}

func (s *fileStore) CreateLarge(ctx context.Context, name, sha256 string, size int64, open func() (io.ReadCloser, error)) error {
	return s.create(ctx, name, func() (io.ReadCloser, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{newVerifyReader(r, sha256, size), r}, nil
	})
}

// create publishes an object with a hard link, which is atomic and fails if the name is
// taken. It syncs the bytes first: there is only one copy of such an object, and after a
// power cut a name must not belong to a damaged one.
func (s *fileStore) create(ctx context.Context, name string, open func() (io.ReadCloser, error)) error {
	target, err := s.path(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(target); err == nil {
		return fmt.Errorf("%s %w", s.full(name), ErrExists)
	}
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	return s.write(ctx, name, r, true, func(temp *tempFile) error {
		err := s.publish(os.Link, temp, target)
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		return err
	})
}

// write writes an object to a temporary file, which place moves to its name. With durable, the bytes are on disk before
// that. place returns ErrExists if something is there that must not be replaced.
func (s *fileStore) write(ctx context.Context, name string, r io.Reader, durable bool, place func(*tempFile) error) error {
	temp, err := s.temp()
	if err != nil {
		return err
	}
	defer temp.discard()
	if err = temp.fill(ctx, r); err == nil {
		err = temp.close(durable)
	}
	if err == nil {
		if err = place(temp); errors.Is(err, ErrExists) {
			return fmt.Errorf("%s %w", s.full(name), ErrExists)
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", s.full(name), err)
	}
	return nil
}

// Replace compares times: a file has no other generation.
func (s *fileStore) Replace(ctx context.Context, o Object, r io.Reader, _ map[string]string) error {
	target, err := s.path(o.Name)
	if err != nil {
		return err
	}
	return s.write(ctx, o.Name, r, true, func(temp *tempFile) error {
		if info, err := os.Lstat(target); err != nil || object(o.Name, target, info).Generation != o.Generation {
			return ErrExists
		}
		return s.publish(os.Rename, temp, target)
	})
}

// PutBlob replaces an object of another size, which only a crash can leave. It doesn't
// sync: readers of a blob check its hash, it can be made again, and a file's size is not
// on disk before its bytes.
func (s *fileStore) PutBlob(ctx context.Context, sha256 string, size int64, open func() (io.ReadCloser, error)) (bool, error) {
	if !lazyregexp.Of(sha256Pattern).MatchString(sha256) {
		return false, fmt.Errorf("blob name %q: expected 64 lower-case hexadecimal digits", sha256)
	}
	name := Blob(sha256)
	target, err := s.path(name)
	if err != nil {
		return false, err
	}
	if found, err := s.has(target, size); found || err != nil {
		return false, err
	}
	r, err := open()
	if err != nil {
		return false, err
	}
	defer r.Close()
	err = s.write(ctx, name, newVerifyReader(r, sha256, size), false, func(temp *tempFile) error {
		return s.publish(os.Rename, temp, target)
	})
	return err == nil, err
}

// has reports whether there is a file of this size, which it renews.
func (s *fileStore) has(file string, size int64) (bool, error) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return false, nil
	}
	now := s.Now()
	err = os.Chtimes(file, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it has just been deleted
	}
	if err != nil {
		return false, fmt.Errorf("renewing %s: %w", file, s.explain(err))
	}
	return true, nil
}

// HasBlobs leaves the check to PutBlob, which only has to look at a file.
func (*fileStore) HasBlobs(context.Context, []api.IndexBlob) map[string]bool { return nil }

// HasBlob leaves it to PutBlob.
func (*fileStore) HasBlob(context.Context, api.IndexBlob) bool { return false }

// publish gives a finished file its name. An error is fs.ErrExist only if the name is
// taken. Delete, in this or another process, may meanwhile remove the empty directory;
// then publish makes it again.
func (s *fileStore) publish(move func(from, to string) error, temp *tempFile, target string) error {
	const tries = 100
	dir := filepath.Dir(target)
	var err error
	for range tries {
		if mkdirErr := os.MkdirAll(dir, 0o700); errors.Is(mkdirErr, fs.ErrExist) || errors.Is(mkdirErr, fs.ErrNotExist) {
			err = fmt.Errorf("create the directory %s: something else keeps deleting or replacing it", dir)
			continue
		} else if mkdirErr != nil {
			return s.explain(mkdirErr)
		}
		if err = move(temp.file.Name(), target); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return s.explain(err)
	}
	return nil
}

func (s *fileStore) Open(_ context.Context, name string) (io.ReadCloser, error) {
	file, err := s.path(name)
	if err != nil {
		return nil, err
	}
	// Stat first: opening a pipe that a job left among its outputs would block.
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s %w", s.full(name), ErrNotFound)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: not a regular file", s.full(name))
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.full(name), err)
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w", s.full(name), ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.full(name), err)
	}
	return f, nil
}

// OpenRange checks the file that it has opened: another one may have taken its name.
func (s *fileStore) OpenRange(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error) {
	r, err := s.Open(ctx, o.Name)
	if err != nil {
		return nil, err
	}
	f, ok := r.(*os.File)
	if !ok {
		return nil, errors.Join(fmt.Errorf("reading %s: not a file", s.full(o.Name)), r.Close())
	}
	info, err := f.Stat()
	if err == nil && info.ModTime().UnixNano() != o.Generation {
		err = fmt.Errorf("%s as it was listed %w", s.full(o.Name), ErrNotFound)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, offset, length), f}, nil
}

// List treats everything but directories as an object, so that whatever a job left among
// its outputs can be seen and deleted.
func (s *fileStore) List(ctx context.Context, prefix, start string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		objects, err := s.list(ctx, prefix)
		if err != nil {
			yield(Object{}, err)
			return
		}
		for _, o := range objects {
			if o.Name >= start && !yield(o, nil) {
				return
			}
		}
	}
}

// list holds all objects in memory, because it has to sort them.
func (s *fileStore) list(ctx context.Context, prefix string) ([]Object, error) {
	from := s.dir
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		var err error
		if from, err = s.path(prefix[:i]); err != nil {
			return nil, err
		}
	}
	var objects []Object
	// The trailing separator makes the walk enter a store that is a symlink.
	err := filepath.WalkDir(from+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil // deleted meanwhile, or nothing was ever written
		}
		if file = filepath.Clean(file); err != nil || file == s.dir {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, s.dir+string(filepath.Separator)))
		if entry.IsDir() {
			if name == tempDir || !strings.HasPrefix(name, prefix) && !strings.HasPrefix(prefix, name+"/") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(name, prefix) {
			if info, err := os.Lstat(file); err == nil {
				objects = append(objects, object(name, file, info))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", s.full(prefix), err)
	}
	// A directory's position among its siblings is not that of the names in it: "a-b"
	// sorts before "a/b".
	slices.SortFunc(objects, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return objects, nil
}

// object describes a file; a link has the size of its target.
func object(name, file string, info fs.FileInfo) Object {
	link := ""
	if info.Mode().Type() == fs.ModeSymlink {
		link, _ = os.Readlink(file) // "" if it was just replaced
	}
	if target, err := os.Stat(file); err == nil && target.Mode().IsRegular() {
		info = target
	}
	special := link == "" && !info.Mode().IsRegular()
	return Object{Name: name, Size: info.Size(), Updated: info.ModTime(), Generation: info.ModTime().UnixNano(), Link: link, Special: special}
}

func (s *fileStore) Dirs(_ context.Context, prefix string) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", s.URL(), err)
	}
	var dirs []string
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != tempDir && strings.HasPrefix(entry.Name(), prefix) {
			dirs = append(dirs, entry.Name())
		}
	}
	return dirs, nil
}
