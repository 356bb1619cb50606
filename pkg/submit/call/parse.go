// Package call turns what a user typed after `kubectl kinetic run` into an
// api.Call: it recognises the forms of TARGET, reads --arg, finds the file or
// module in the project, and checks a function from its syntax tree. It reads
// files and starts at most one local python3; it imports and changes nothing.
//
// A payload is a file with the pickle of a Python function and its arguments. Its header, a JSON
// object on the first line, names what is needed to unpickle the rest. Nothing is unpickled here.
package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// Target is a TARGET whose form is known and whose file, if it names one, exists. Resolve
// finds its place in the project.
type Target struct {
	Kind api.CallKind
	// Path is the absolute path of the file that the target names, empty for
	// modules and commands.
	Path string
	// Module is the dotted name that the target names, empty for files.
	Module string
	// Function is the function's name, empty for other targets. Parse leaves that of a
	// pickled function to whoever reads the payload.
	Function string
	// KWArgs are the function's arguments, as JSON texts.
	KWArgs map[string]json.RawMessage
	// Args follow a script or module, or are the whole command.
	Args []string
	// Warnings are sentences for the user about things that are allowed but may be
	// mistakes.
	Warnings []string

	cwd string
}

// EntryDir returns the absolute directory where the search for the package root starts: the
// directory of the file, or else the working directory, where dotted names and commands
// start.
func (t Target) EntryDir() string {
	if t.Path != "" {
		return filepath.Dir(t.Path)
	}
	return t.cwd
}

// Parse recognises the form of the target. Relative paths start at cwd, which
// is absolute. An error says which word is wrong and what would be right.
func Parse(w api.Invocation, cwd string) (Target, error) {
	t, err := parseTarget(w, cwd)
	if err != nil {
		return Target{}, err
	}
	t.cwd = cwd
	if t.Kind != api.CallFunction {
		if len(w.KWArgs) > 0 {
			return Target{}, fmt.Errorf("--arg %s: only functions take named arguments; %s", w.KWArgs[0], insteadOfArg(t.Kind))
		}
		for _, arg := range w.Args {
			if !utf8.ValidString(arg) {
				return Target{}, fmt.Errorf("argument %q after -- is not UTF-8: pass it in a file of the project", arg)
			}
		}
		t.Args = w.Args
		return t, nil
	}
	if len(w.Args) > 0 {
		return Target{}, fmt.Errorf("%s is a function: pass arguments with --arg NAME=VALUE instead of after --, got %q", w.Target, w.Args)
	}
	t.KWArgs, t.Warnings, err = parseKWArgs(w.KWArgs, cwd)
	if err != nil {
		return Target{}, err
	}
	maps.Copy(t.KWArgs, w.Known)
	return t, nil
}

// insteadOfArg says how the other kinds of calls take their arguments.
func insteadOfArg(kind api.CallKind) string {
	if kind == api.CallCommand {
		return "put all arguments into the command after --"
	}
	return "pass arguments to a script after --, as in -- ARGS"
}

func parseTarget(w api.Invocation, cwd string) (Target, error) {
	switch {
	case w.Payload != "":
		return parsePayload(w, cwd)
	case w.Command:
		return parseCommand(w)
	case w.Target == "" && w.Module:
		return Target{}, errors.New("-m: name the module to run, as in -m pkg.mod")
	case w.Target == "" && len(w.Args) > 0:
		return Target{}, errors.New("no TARGET before --: name one, or add --command to run what follows -- as a command")
	case w.Target == "":
		return Target{}, errors.New("TARGET required: a script (train.py), a function (train.py:train or pkg.mod:train), a module (-m pkg.mod) or a command (--command -- CMD)")
	case w.Module:
		return parseModule(w.Target)
	}
	// An existing file is a script whatever its name, even with a colon in it.
	if platform.IsFile(absolute(w.Target, cwd)) {
		return parseScript(w.Target, cwd)
	}
	if i := strings.LastIndexByte(w.Target, ':'); i >= drive(w.Target) {
		return parseFunction(w.Target[:i], w.Target[i+1:], cwd)
	}
	return parseScript(w.Target, cwd)
}

// drive returns the length of a Windows drive at the start of a word, C:\ or C:/. Its colon
// does not separate a function.
func drive(word string) int {
	isLetter := word != "" && ('a' <= word[0] && word[0] <= 'z' || 'A' <= word[0] && word[0] <= 'Z')
	if isLetter && (strings.HasPrefix(word[1:], `:\`) || strings.HasPrefix(word[1:], ":/")) {
		return len(`C:\`)
	}
	return 0
}

func parseCommand(w api.Invocation) (Target, error) {
	switch {
	case w.Module:
		return Target{}, errors.New("-m cannot be combined with --command")
	case w.Target != "":
		return Target{}, fmt.Errorf("%s: with --command, the command goes after --: --command -- %s", w.Target, strings.Join(append([]string{w.Target}, w.Args...), " "))
	case len(w.Args) == 0:
		return Target{}, errors.New("--command: no command after --: add one, as in --command -- nvidia-smi -L")
	case w.Args[0] == "":
		return Target{}, errors.New("--command: the first word after --, the program, is empty")
	}
	return Target{Kind: api.CallCommand}, nil
}

func parseModule(name string) (Target, error) {
	if file, function, found := strings.Cut(name, ":"); found {
		return Target{}, fmt.Errorf("-m %s: omit -m to run a function: %s:%s", name, file, function)
	}
	if stem, found := strings.CutSuffix(name, ".py"); found && isDottedName(dotted(stem)) {
		return Target{}, fmt.Errorf("-m %s: -m takes a dotted name, not a file: use -m %s, or omit -m", name, dotted(stem))
	}
	if !isDottedName(name) {
		return Target{}, fmt.Errorf("-m %s: not a module name: expected Python identifiers separated by dots, as in -m pkg.mod", name)
	}
	return Target{Kind: api.CallModule, Module: name}, nil
}

// dotted returns the module name for a path that was typed instead.
func dotted(path string) string {
	return strings.ReplaceAll(filepath.ToSlash(filepath.Clean(path)), "/", ".")
}

// notPython are the extensions of files that Python cannot run, with what to do instead.
func notPython() map[string]string {
	return map[string]string{
		".ipynb": "a notebook cannot be run: convert it first with `jupyter nbconvert --to script`",
		".sh":    "run a shell script with --command -- sh and its path",
	}
}

func parseScript(word, cwd string) (Target, error) {
	if advice := notPython()[strings.ToLower(filepath.Ext(word))]; advice != "" {
		return Target{}, fmt.Errorf("%s: %s", word, advice)
	}
	path, err := pythonFile(word, cwd)
	if err != nil {
		return Target{}, err
	}
	return Target{Kind: api.CallFile, Path: path}, nil
}

func parseFunction(where, function, cwd string) (Target, error) {
	word := where + ":" + function
	t := Target{Kind: api.CallFunction, Function: function}
	advice := notPython()[strings.ToLower(filepath.Ext(where))]
	switch {
	case advice != "":
		return Target{}, fmt.Errorf("%s: %s", word, advice)
	case where == "":
		return Target{}, fmt.Errorf("%s: name the file or module before the colon, as in train.py:%s", word, function)
	case strings.HasSuffix(where, ".py") || strings.ContainsRune(where, '/') || strings.ContainsRune(where, os.PathSeparator):
		path, err := pythonFile(where, cwd)
		if err != nil {
			return Target{}, err
		}
		if filepath.Ext(path) != ".py" {
			return Target{}, notImported(word)
		}
		t.Path = path
	case platform.IsFile(absolute(where, cwd)):
		return Target{}, notImported(word)
	case isDottedName(where):
		t.Module = where
	case platform.IsFile(filepath.Join(cwd, where+".py")):
		return Target{}, fmt.Errorf("%s: %s is not a module name; use the file: %s.py:%s", word, where, where, function)
	default:
		return Target{}, fmt.Errorf("%s: %q is neither a Python file nor a module name such as pkg.mod", word, where)
	}
	return t, checkFunctionName(word, function)
}

func notImported(word string) error {
	return fmt.Errorf("%s: a function must be in a file that ends in .py", word)
}

func checkFunctionName(word, function string) error {
	switch {
	case function == "":
		return fmt.Errorf("%s: name the function after the colon, as in %strain", word, word)
	case isKeyword(function):
		return fmt.Errorf("%s: %q is a Python keyword, not a function name", word, function)
	case isIdentifier(function):
		return nil
	case isDottedName(function):
		return fmt.Errorf("%s: methods cannot be run directly: add a module-level function that calls %s", word, function)
	case strings.ContainsRune(function, '('):
		return fmt.Errorf("%s: name only the function, and pass its arguments with --arg NAME=VALUE", word)
	default:
		return fmt.Errorf("%s: %q is not a Python function name", word, function)
	}
}
