//go:build unix

package platform

import (
	"errors"
	"os"
	"syscall"
)

// try takes the lock of an open file and reports whether it has it.
func try(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
