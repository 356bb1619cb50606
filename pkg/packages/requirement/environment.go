package requirement

// Environment is where a project is installed: it decides which markers hold. All machines are
// Linux.
type Environment struct {
	// Python is the interpreter's version, such as 3.12, and FullPython has its patch, such
	// as 3.12.7.
	Python, FullPython string
	// Machine is the processor as Linux names it: x86_64 or aarch64.
	Machine string
	// Extras and Groups are those that are wanted of the project whose requirements are examined.
	Extras, Groups []string
}

// variables returns the value of a marker's variable.
var variables = map[string]func(Environment) string{
	"python_version":                 func(e Environment) string { return e.Python },
	"python_full_version":            func(e Environment) string { return e.FullPython },
	"implementation_version":         func(e Environment) string { return e.FullPython },
	"implementation_name":            func(Environment) string { return "cpython" },
	"platform_python_implementation": func(Environment) string { return "CPython" },
	"os_name":                        func(Environment) string { return "posix" },
	"sys_platform":                   func(Environment) string { return "linux" },
	"platform_system":                func(Environment) string { return "Linux" },
	"platform_machine":               func(e Environment) string { return e.Machine },
	"platform_release":               func(Environment) string { return "" },
	"platform_version":               func(Environment) string { return "" },
}

// setVariables returns the values of a variable that stands for several: extra equals each of
// them (PEP 508), the others are compared with in (PEP 751).
var setVariables = map[string]func(Environment) []string{
	"extra":             func(e Environment) []string { return e.Extras },
	"extras":            func(e Environment) []string { return e.Extras },
	"dependency_groups": func(e Environment) []string { return e.Groups },
}

// oldNames are names from before PEP 508.
var oldNames = map[string]string{
	"os.name": "os_name", "sys.platform": "sys_platform", "platform.version": "platform_version", "platform.machine": "platform_machine",
	"platform.python_implementation": "platform_python_implementation", "python_implementation": "platform_python_implementation",
}

func isVersion(variable string) bool {
	switch variable {
	case "python_version", "python_full_version", "implementation_version", "platform_release":
		return true
	}
	return false
}
