package verify

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Save writes the pickle of a job to a file, once its bytes are known to be those that it must
// have: before that, the file does not change. Bytes that differ are an Error.
func (p Pickle) Save(ctx context.Context, j *job.Job, file string) error {
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--output-file %s: not a regular file, so it can't be replaced as a whole", file)
	}
	temp := file + "." + rand.Text()[:8] + ".tmp"
	w, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	err = p.copy(ctx, j, w)
	if err == nil {
		err = written(w.Sync())
	}
	if closed := written(w.Close()); err == nil {
		err = closed
	}
	if err == nil {
		err = written(replace(file, temp))
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

func written(err error) error {
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// replace gives a finished file its name, and the permissions of the file that it replaces.
func replace(file, temp string) error {
	info, err := os.Lstat(file)
	if err == nil {
		err = os.Chmod(temp, info.Mode().Perm())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(temp, file); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync() // not every file system can
		_ = dir.Close()
	}
	return nil
}

func (p Pickle) copy(ctx context.Context, j *job.Job, w io.Writer) (err error) {
	name := store.Pickle(j.ID(), p.Name)
	r, err := j.Store.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(r, p.Size+1))
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); size != p.Size || got != p.SHA256 {
		return untrusted("%s/%s is not the result of job %s: its SHA-256 is %s, and %s %s; it has been changed since, and is not delivered%s",
			j.Store.URL(), name, j.ID(), got, p.Source.describe(), p.SHA256, p.Source.reused())
	}
	return nil
}
