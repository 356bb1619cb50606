//go:build !windows

package platform

import "syscall"

const (
	brokenPipe  = syscall.EPIPE
	closingPipe = syscall.EPIPE
	refused     = syscall.ECONNREFUSED
	inUse       = syscall.EADDRINUSE
)
