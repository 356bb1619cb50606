package platform

import (
	"cmp"
	"os"
	"runtime"
)

// CallerPython is a variable with the path of the Python that runs the calling program. Jobs
// don't inherit it.
const CallerPython = "KINETIC_CALLER_PYTHON"

// Python returns the path or name of this machine's Python: the one of the calling program, if
// it gives that.
func Python() string { return cmp.Or(os.Getenv(CallerPython), pythonOn(runtime.GOOS)) }

// pythonOn returns its name on an operating system. On Windows, virtual environments have no
// python3, and the program of that name offers to install Python.
func pythonOn(goos string) string {
	if goos == "windows" {
		return "python"
	}
	return "python3"
}
