package api

// Shared by a job that waits for a debugger and the commands that connect to it. The runner
// and the component debug use the same names and numbers.
const (
	// DebugPort is the debugger's port on 127.0.0.1, in the pod or on this machine.
	DebugPort = 5678
	// EnvDebug tells the runner to wait for a debugger, EnvDebugPort which port a local job
	// uses instead of DebugPort.
	EnvDebug, EnvDebugPort = "KINETIC_DEBUG", "KINETIC_DEBUG_PORT"
	// EnvBreakpoint is Python's variable for what breakpoint() calls.
	EnvBreakpoint, Breakpoint = "PYTHONBREAKPOINT", "debugpy.breakpoint"
	// PodWorkspace is the package root in a pod.
	PodWorkspace = "/kinetic/workspace"
)
