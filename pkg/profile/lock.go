package profile

import (
	"context"
	"fmt"
	"os"
	"time"
)

// How often and how long to look whether a lock is free. It is held for milliseconds.
const (
	lockInterval = 10 * time.Millisecond
	lockTime     = 10 * time.Second
)

// lock takes a file's lock, which no other process and no other caller in this one has then. The
// system releases it when the process ends, however it does. The file stays: removing it
// would let two have the lock.
func lock(ctx context.Context, path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	for {
		held, err := tryLock(file)
		if held {
			return func() { _ = file.Close() }, nil
		}
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("waiting for another program that changes them, which has locked %s: %w", path, ctx.Err())
		case <-time.After(lockInterval):
		}
	}
}
