package api

// What a job that waits for a debugger and those who look for it agree on. The
// runner and the component debug have the same names and numbers.
const (
	// DebugPort is where the debugger listens, on the 127.0.0.1 of the pod or of
	// this machine.
	DebugPort = 5678
	// EnvDebug tells the runner that the call is debugged, EnvDebugPort which port
	// a local job takes in place of DebugPort.
	EnvDebug, EnvDebugPort = "KINETIC_DEBUG", "KINETIC_DEBUG_PORT"
	// EnvBreakpoint is Python's own variable that says what breakpoint() does.
	EnvBreakpoint, Breakpoint = "PYTHONBREAKPOINT", "debugpy.breakpoint"
	// PodWorkspace is the package root in a pod.
	PodWorkspace = "/kinetic/workspace"
)
