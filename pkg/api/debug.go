package api

// Shared by a job that waits for a debugger and the commands that connect to it. The runner
// and the component debug use the same names and numbers.
const (
	// EnvDebug tells the runner to wait for a debugger, EnvDebugPort which port a local job
	// uses instead of the contract's.
	EnvDebug, EnvDebugPort = "KINETIC_DEBUG", "KINETIC_DEBUG_PORT"
	// EnvBreakpoint is Python's variable for what breakpoint() calls.
	EnvBreakpoint, Breakpoint = "PYTHONBREAKPOINT", "debugpy.breakpoint"
	// PodWork is the runner's directory in a pod, and PodWorkspace the package root in it.
	PodWork, PodWorkspace = "/kinetic", "/kinetic/workspace"
	// PodRunner is the runner in a pod.
	PodRunner = "/app/remote_runner.py"
)
