// Package platform hides what differs between operating systems: where the home directory is,
// which numbers errors have, and how a program is killed with all that it started.
package platform

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// HomeDir returns the home directory as os.UserHomeDir does, from the environment that env
// reads; "" if that is not set.
func HomeDir(env func(string) string) string { return dir(env, runtime.GOOS) }

// ExpandHome replaces a leading ~ with the home directory, as a shell does. A
// shell does not expand the ~ in --flag=~/dir.
func ExpandHome(path, home string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || home == "" || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	return filepath.Join(home, rest)
}

func dir(env func(string) string, goos string) string {
	if goos == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}
