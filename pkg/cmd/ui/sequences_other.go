//go:build !windows

package ui

import "io"

// obeysSequences reports whether a terminal obeys ANSI sequences.
func obeysSequences(io.Writer) bool { return true }
