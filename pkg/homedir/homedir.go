// Package homedir finds the user's home directory. It uses only the standard library.
package homedir

import "runtime"

// Dir returns the home directory as os.UserHomeDir does, from the environment that env
// reads; "" if that is not set.
func Dir(env func(string) string) string { return dir(env, runtime.GOOS) }

func dir(env func(string) string, goos string) string {
	if goos == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}
