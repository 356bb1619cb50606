// Package homedir finds the user's home directory. It uses only the standard library.
package homedir

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Dir returns the home directory as os.UserHomeDir does, from the environment that env
// reads; "" if that is not set.
func Dir(env func(string) string) string { return dir(env, runtime.GOOS) }

// Expand replaces a leading ~ with the home directory, as a shell does. A
// shell does not expand the ~ in --flag=~/dir.
func Expand(path, home string) string {
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
