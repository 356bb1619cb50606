//go:build unix

package frontdoor

import (
	"os"
	"syscall"
)

// replace turns this process into another program: process id, signals,
// streams and exit code need no help.
func replace(path string, argv []string) (int, error) {
	return 0, syscall.Exec(path, argv, os.Environ())
}
