package ui

import (
	"io"

	"golang.org/x/sys/windows"
)

// obeysSequences makes a terminal obey ANSI sequences, and reports whether it does: a classic
// console prints them unless it is told to.
func obeysSequences(w io.Writer) bool {
	file, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return false
	}
	console, mode := windows.Handle(file.Fd()), uint32(0)
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	const obey = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&obey != 0 || windows.SetConsoleMode(console, mode|obey) == nil
}
