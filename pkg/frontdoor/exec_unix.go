//go:build unix

package frontdoor

import (
	"os"
	"syscall"
)

// replace replaces this process with another program, which keeps the process id, signals
// and streams.
func replace(path string, argv []string) (int, error) {
	return 0, syscall.Exec(path, argv, os.Environ())
}

// writable reports whether this user may create files in a directory.
func writable(dir string) bool {
	const writeAndSearch = 2 | 1
	return syscall.Access(dir, writeAndSearch) == nil
}
