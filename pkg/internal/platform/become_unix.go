//go:build unix

package platform

import (
	"fmt"
	"os"
	"syscall"
)

// Become replaces this process with another program, whose path is the first word. It returns only if that fails.
func Become(argv []string) error {
	if err := syscall.Exec(argv[0], argv, os.Environ()); err != nil {
		return fmt.Errorf("running %s: %w", argv[0], err)
	}
	return nil
}
