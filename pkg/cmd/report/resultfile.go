package report

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// resultFile is a file that does not change until the first byte is written. A regular or
// missing file is replaced as a whole once the new one is complete, because its content may
// be the only copy of an earlier result. Anything else, such as a pipe or /dev/stdout, is
// written in place.
type resultFile struct {
	name string
	file *os.File // nil before the first byte
	temp string   // the name of file until it is complete; "" for writing in place
}

func (r *resultFile) Write(p []byte) (int, error) {
	if r.file == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	return r.file.Write(p)
}

func (r *resultFile) open() (err error) {
	info, err := os.Lstat(r.name)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing || err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 != 0 {
		temp := filepath.Join(filepath.Dir(r.name), ".kinetic-part-"+rand.Text()[:8])
		if r.file, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
			r.temp = temp
			if missing {
				return nil
			}
			return r.file.Chmod(info.Mode().Perm())
		}
		if !missing && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
			return err // a full disk, for instance, would leave the file empty
		}
	}
	r.file, err = os.Create(r.name) // also if the directory doesn't allow other files
	return err
}

func (r *resultFile) complete() error {
	if err := r.file.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // a pipe or a device has nothing to sync
		return err
	}
	if err := r.file.Close(); err != nil || r.temp == "" {
		return err
	}
	if err := os.Rename(r.temp, r.name); err != nil {
		return err
	}
	r.temp = ""
	if dir, err := os.Open(filepath.Dir(r.name)); err == nil {
		_ = dir.Sync() // not every file system can
		_ = dir.Close()
	}
	return nil
}

// discard deletes a file that was not completed.
func (r *resultFile) discard() {
	if r.temp != "" {
		_ = os.Remove(r.temp)
	}
	if r.file != nil {
		_ = r.file.Close()
	}
}
