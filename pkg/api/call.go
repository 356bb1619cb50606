package api

import "encoding/json"

// CallKind is the form of a Call.
type CallKind string

// The forms of a Call.
const (
	CallFile     CallKind = "file"     // a Python file as __main__
	CallModule   CallKind = "module"   // python -m
	CallFunction CallKind = "function" // import, then call with keyword arguments
	CallCommand  CallKind = "command"  // any program, in the workspace
	CallPickle   CallKind = "pickle"   // a pickled function with its arguments, see Payload
)

// Returns reports whether a call of this kind has a return value.
func (k CallKind) Returns() bool { return k == CallFunction || k == CallPickle }

// Call is what the runner runs: a versioned union. All paths are relative to
// the package root, with forward slashes. It is stored as call.json and named
// by its SHA-256 in the manifest.
type Call struct {
	Version int      `json:"version"`
	Kind    CallKind `json:"kind"`
	// File is the Python file of a file call, of a function call whose file is in the bundle,
	// and of a pickled call that names one.
	File string `json:"file,omitempty"`
	// Module is the dotted name of a module call, and the name under which the
	// module of a function call is imported.
	Module string `json:"module,omitempty"`
	// Function is the name of the function in the module, or of the pickled function.
	Function string `json:"function,omitempty"`
	// KWArgs are the function's arguments, as JSON texts, so that numbers keep their exact
	// form.
	KWArgs map[string]json.RawMessage `json:"kwargs,omitempty"`
	// Data are the job's inputs. Those with a name are arguments of a function, too.
	Data []Data `json:"data,omitempty"`
	// Args is sys.argv[1:] of a file or module call, or the argv of a command.
	Args []string `json:"args,omitempty"`
	// Cwd is where the call runs: the client's working directory if that is inside the
	// package root, else "".
	Cwd string `json:"cwd"`
	// SysPath lists directories to put at the front of sys.path, in order.
	SysPath []string `json:"sys_path,omitempty"`
}

// Payload describes the file with a pickled call.
type Payload struct {
	// SHA256 is the hash of the file, in lower-case hex, and Size its number of bytes.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// Python is the version of Python that pickled it, X.Y, "" if unknown.
	Python string `json:"python,omitempty"`
}

// SourceTree says where the code of a job is on this machine. Its paths are absolute.
type SourceTree struct {
	// Root is the package root, the directory that is packaged.
	Root string
	// PackageBase is the directory that contains the outermost Python package of the
	// target, or the target's own directory if it is not in a package. It is never above
	// Root.
	PackageBase string
}
