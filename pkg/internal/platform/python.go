package platform

import "runtime"

// Python returns the name of this machine's Python.
func Python() string { return pythonOn(runtime.GOOS) }

// pythonOn returns its name on an operating system. On Windows, virtual environments have no
// python3, and the program of that name offers to install Python.
func pythonOn(goos string) string {
	if goos == "windows" {
		return "python"
	}
	return "python3"
}
