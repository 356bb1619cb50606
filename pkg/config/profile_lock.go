package config

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// lockTime is how long to wait for a lock. It is held for milliseconds.
const lockTime = 10 * time.Second

// lock takes a file's lock, which no other process and no other caller in this one has then. The
// file stays: removing it would let two have the lock.
func lock(ctx context.Context, path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if err := platform.Wait(wait, file); err != nil {
		_ = file.Close()
		if wait.Err() != nil {
			return nil, fmt.Errorf("waiting for another program that changes them, which has locked %s: %w", path, err)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}
