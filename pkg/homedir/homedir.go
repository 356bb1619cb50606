// Package homedir knows where the user's home directory is. It uses the standard library
// alone.
package homedir

import "runtime"

// Dir is the home directory as os.UserHomeDir knows it, from the environment that env
// reads; "" where that does not say.
func Dir(env func(string) string) string { return dir(env, runtime.GOOS) }

func dir(env func(string) string, goos string) string {
	if goos == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}
