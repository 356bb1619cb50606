package platform

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// interval is how often to look whether a lock is free.
const interval = 10 * time.Millisecond

// Wait takes the lock of an open file when no other open file of it has it, in this process or
// another. Closing the file releases it.
func Wait(ctx context.Context, file *os.File) error {
	for {
		held, err := try(file)
		if held || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}

// OpenPart opens, or creates, a file that will be renamed when it is complete, and locks it. While
// another process has it, OpenPart waits: until that has renamed or removed it, or has died and left
// what it wrote. Where files can't be locked, it opens the file without.
func OpenPart(ctx context.Context, dir *os.Root, name string) (*os.File, error) {
	for {
		file, err := dir.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		_ = Wait(ctx, file) // an error but the context's: files can't be locked here
		still, err := false, ctx.Err()
		if err == nil {
			still, err = leadsTo(dir, name, file)
		}
		if still {
			return file, nil
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
}

// leadsTo reports whether a name is still that of an open file.
func leadsTo(dir *os.Root, name string, file *os.File) (bool, error) {
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}
