//go:build !windows

package errno

import "syscall"

const (
	brokenPipe  = syscall.EPIPE
	closingPipe = syscall.EPIPE
	refused     = syscall.ECONNREFUSED
	inUse       = syscall.EADDRINUSE
)
