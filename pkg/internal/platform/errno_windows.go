package platform

import (
	"syscall"

	"golang.org/x/sys/windows"
)

const (
	brokenPipe  = syscall.ERROR_BROKEN_PIPE
	closingPipe = windows.ERROR_NO_DATA // "The pipe is being closed."
	refused     = windows.WSAECONNREFUSED
	inUse       = windows.WSAEADDRINUSE
)
