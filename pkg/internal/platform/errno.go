package platform

import (
	"errors"
	"net"
	"slices"
	"syscall"
)

// IsClosedPipe reports whether err says that nobody reads what was written: the other end
// of a pipe is closed. A network connection that breaks while it is written to has the same
// number, but does not count.
func IsClosedPipe(err error) bool {
	switch e := err.(type) { //nolint:errorlint // errors.Is also finds what is in a net.OpError
	case nil, *net.OpError:
		return false
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), IsClosedPipe)
	case interface{ Unwrap() error }:
		return IsClosedPipe(e.Unwrap())
	default:
		return errors.Is(err, syscall.EPIPE) || errors.Is(err, brokenPipe) || errors.Is(err, closingPipe)
	}
}

// IsRefused reports whether err says that nothing listens at an address.
func IsRefused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, refused)
}

// IsInUse reports whether err says that an address is taken.
func IsInUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, inUse)
}
