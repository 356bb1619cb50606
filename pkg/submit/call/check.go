package call

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

//go:embed check.py
var checkScript string

// checkTimeout limits how long the python may take. pipeDelay is the extra time for its
// pipes, which its child processes may still hold.
const (
	checkTimeout = 10 * time.Second
	pipeDelay    = time.Second
)

// Query asks whether a function of a file can be called with some arguments, or in several
// ways.
type Query struct {
	// Path is the file on this machine; Name is its name in messages.
	Path, Name string
	// Function is the function's name, empty for a script, which is only parsed.
	Function string
	// Args are the names of the arguments that every call has, including those of --data.
	Args []string
	// Forms are what the inputs of a map pass in addition; empty for a single call.
	Forms []Form
	// Values are the kinds of values in them.
	Values []Value
	// Local means that the same python will run the function, so its syntax errors are
	// certain.
	Local bool
	// CacheDir is where Check remembers that nothing is wrong; "" for nowhere.
	CacheDir string
}

// Finding is what Check found out about a function without an error.
type Finding struct {
	// Unchecked is why nothing could be checked on this machine, to be shown to the user;
	// empty if it could.
	Unchecked string
	// Python is the path of the interpreter that answered, with any shim resolved; empty if
	// none answered.
	Python string
	// Declared has the types by which the function annotates its parameters, in Python's words. Positional are those
	// that arguments fill by position.
	Declared   Declared
	Positional []string
	// Decorator has the parameters of the function's @kinetic.run, in the order of the file. Only calls from Python use them.
	Decorator []Parameter
	// Idle is a warning that a script only defines functions, with the one to call; empty for other scripts.
	Idle string
	// LeftToPod is why only running the file can decide, which is normal: it has a
	// decorator, for example. Empty if everything is certain.
	LeftToPod string
}

// Parameter is a parameter of @kinetic.run.
type Parameter struct {
	Name string `json:"name"`
	// Value is the text of a constant, true or false for a bool; nil for everything else.
	Value *string `json:"value"`
}

type answer struct {
	Outcome    string      `json:"outcome"`
	Why        string      `json:"why"`
	Line       int         `json:"line"`
	Text       string      `json:"text"`
	Message    string      `json:"message"`
	Python     string      `json:"python"`
	Functions  []string    `json:"functions"`
	MethodOf   []string    `json:"method_of"`
	Call       int         `json:"call"`
	Signature  string      `json:"signature"`
	Named      []string    `json:"named"`
	Unexpected []string    `json:"unexpected"`
	Required   []string    `json:"required"`
	Unnamed    []string    `json:"unnamed"`
	Places     int         `json:"places"`
	Excess     int         `json:"excess"`
	Twice      []string    `json:"twice"`
	Declared   Declared    `json:"declared"`
	Positional []string    `json:"positional"`
	Decorator  []Parameter `json:"decorator"`
	Idle       []string    `json:"idle"`
	Executable string      `json:"executable"`
}

// Check reads the syntax tree of a file with a local python (a path, or a name on PATH) and
// checks that the function, unless it is a script, exists and accepts the arguments. It
// imports nothing. An error is certain and says what to change; the Finding has what is
// uncertain. A cancelled context is also an error. A form that the function does not accept
// is a LineError, and so is a value that does not fit its parameter's annotation.
func Check(ctx context.Context, python string, q Query) (Finding, error) {
	found, err := checkCalls(ctx, python, q)
	if err == nil {
		err = found.Declared.CheckInputs(found.Positional, q.Values)
	}
	return found, err
}

// checkCalls is Check without the values.
func checkCalls(ctx context.Context, python string, q Query) (Finding, error) {
	source, err := os.ReadFile(q.Path)
	if err != nil {
		return Finding{}, fmt.Errorf("checking %s: %w", q.word(), err)
	}
	question, path := q.question(python, source)
	last := q.memory()
	if question != "" && last.Question == question {
		return last.Finding, nil
	}
	interpreter := python
	// The interpreter that the file at path led to the last time answers without the 50 ms of a shim like
	// pyenv's. Another one may be chosen by now, so it can't tell what runs here.
	if !q.Local && last.Path == path {
		interpreter = cmp.Or(last.Finding.Python, python)
	}
	found, err := askAndJudge(ctx, interpreter, q, source)
	if interpreter != python && (err != nil || found.Unchecked != "") { // only the python on PATH is certain of a mistake
		found, err = askAndJudge(ctx, python, q, source)
	}
	if err == nil {
		q.remember(question, path, found)
	}
	return found, err
}

// askAndJudge returns what a python finds out about the source.
func askAndJudge(ctx context.Context, python string, q Query, source []byte) (Finding, error) {
	a, err := ask(ctx, python, q, source)
	if ctxErr := ctx.Err(); errors.Is(ctxErr, context.Canceled) {
		return Finding{}, fmt.Errorf("checking %s: %w", q.word(), ctxErr)
	}
	if err != nil {
		return Finding{Unchecked: fmt.Sprintf("%s is not checked: %v", q.word(), err)}, nil
	}
	return a.judge(q)
}

func (q Query) word() string {
	if q.Function == "" {
		return q.Name
	}
	return q.Name + ":" + q.Function
}

// passed is what one call passes.
type passed struct {
	args       []string
	positional int
}

// calls returns the ways to call the function, at least one.
func (q Query) calls() []passed {
	if len(q.Forms) == 0 {
		return []passed{{args: q.Args}}
	}
	calls := make([]passed, len(q.Forms))
	for i, f := range q.Forms {
		names := append(append([]string{}, q.Args...), f.Names...)
		slices.Sort(names)
		calls[i] = passed{slices.Compact(names), f.Positional}
	}
	return calls
}

// head returns the line that check.py reads before the source. Names are in hexadecimal: those
// that the inputs of a map pass can have blanks and line breaks.
func (q Query) head() []byte {
	head := fmt.Appendf(nil, "%x %t", q.Function, q.Local)
	for _, call := range q.calls() {
		head = fmt.Appendf(head, " %d", call.positional)
		for _, name := range call.args {
			head = fmt.Appendf(head, ",%x", name)
		}
	}
	return append(head, '\n')
}

// ask runs check.py. An error means that there is no answer.
func ask(ctx context.Context, python string, q Query, source []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	// -I and -S ignore the user's environment and site-packages.
	cmd := exec.CommandContext(ctx, python, "-I", "-S", "-W", "ignore", "-c", checkScript)
	cmd.Stdin = bytes.NewReader(append(q.head(), source...))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = pipeDelay
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return answer{}, fmt.Errorf("%s is not on PATH", python)
	case ctx.Err() != nil:
		return answer{}, fmt.Errorf("%s did not answer in time", python)
	case err != nil:
		return answer{}, fmt.Errorf("running %s: %w%s", python, err, lastLine(stderr.String()))
	}
	var a answer
	if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
		return answer{}, fmt.Errorf("%s did not answer with JSON: %w", python, err)
	}
	return a, nil
}

// lastLine returns the last line of stderr, where Python says what went wrong, as the end
// of a message.
func lastLine(stderr string) string {
	stderr = strings.TrimSpace(stderr)
	if stderr == "" {
		return ""
	}
	return ": " + stderr[strings.LastIndexByte(stderr, '\n')+1:]
}

// judge returns an error for what is certainly wrong.
func (a answer) judge(q Query) (Finding, error) {
	where := q.word()
	switch a.Outcome {
	case "ok":
		return Finding{Python: a.Executable, Declared: a.Declared, Positional: a.Positional, Decorator: a.Decorator, Idle: a.idle(q.Name)}, nil
	case "newer":
		return Finding{Unchecked: fmt.Sprintf("%s is not checked: %s", where, a.Why), Python: a.Executable}, nil
	case "unsure":
		return Finding{LeftToPod: a.Why, Decorator: a.Decorator, Python: a.Executable}, nil
	case "syntax":
		return Finding{}, a.complainOfSyntax(q.Name)
	case "missing":
		return Finding{}, a.complainOfMissing(q)
	case "generator":
		return Finding{}, fmt.Errorf("%s (line %d) is a generator function: return a list, or run a function that consumes it", where, a.Line)
	case "arguments":
		ofInput := a.Call < len(q.Forms)
		err := fmt.Errorf("%s takes %s: %w", where, a.Signature, a.complainOfArguments(ofInput))
		if ofInput {
			err = &LineError{q.Forms[a.Call].Line, err}
		}
		return Finding{}, err
	default:
		return Finding{Unchecked: fmt.Sprintf("%s is not checked: python answered %q", where, a.Outcome)}, nil
	}
}

func (a answer) idle(name string) string {
	if len(a.Idle) == 0 {
		return ""
	}
	likely := slices.IndexFunc(a.Idle, func(function string) bool {
		return function == "main" || function == "train" || function == strings.TrimSuffix(path.Base(name), ".py")
	})
	if likely < 0 {
		likely = len(a.Idle) - 1
	}
	return fmt.Sprintf("%s only defines functions and calls none: to call one, write %s:%s", name, name, a.Idle[likely])
}

func (a answer) complainOfSyntax(name string) error {
	text := ""
	if a.Text != "" {
		text = ": " + a.Text
	}
	return fmt.Errorf("%s, line %d: %s (reported by python %s)%s", name, a.Line, a.Message, a.Python, text)
}

func (a answer) complainOfMissing(q Query) error {
	message := fmt.Sprintf("%s has no function %s", q.Name, q.Function)
	if len(a.MethodOf) > 0 {
		return fmt.Errorf("%s at its top level, only the method %s.%s: methods cannot be run directly, so add a function that calls it", message, a.MethodOf[0], q.Function)
	}
	if hint := human.DidYouMean(q.Function, a.Functions); hint != "" {
		return errors.New(message + ": " + hint)
	}
	const shown = 5
	switch n := len(a.Functions); {
	case n == 0:
		return errors.New(message + "; it has no functions: omit the function to run the file as a script")
	case n > shown:
		return fmt.Errorf("%s; it has %s and %d more", message, strings.Join(a.Functions[:shown], ", "), n-shown)
	default:
		return fmt.Errorf("%s; it has %s", message, strings.Join(a.Functions, ", "))
	}
}

// complainOfArguments lists everything that is wrong with a call or an input of a map, so
// that the user can fix it all at once.
func (a answer) complainOfArguments(ofInput bool) error {
	var wrong []string
	var meant []string // instead of unexpected names
	for _, name := range a.Unnamed {
		wrong = append(wrong, fmt.Sprintf("%s cannot be passed by name: remove the / from the def", name))
	}
	for _, name := range a.Unexpected {
		if slices.Contains(a.Unnamed, name) {
			continue
		}
		complaint := "it has no parameter " + name
		if hint := human.DidYouMean(name, a.Named); hint != "" {
			complaint += " (" + hint + ")"
			meant = append(meant, human.Nearest(name, a.Named, 1)...)
		}
		wrong = append(wrong, complaint)
	}
	for _, name := range a.Twice {
		wrong = append(wrong, fmt.Sprintf("%s is passed both by position and by name: omit --arg %s", name, name))
	}
	if a.Excess > 0 {
		wrong = append(wrong, fmt.Sprintf("too many positional arguments: %d, at most %d", a.Places+a.Excess, a.Places))
	}
	missing := slices.DeleteFunc(slices.Clone(a.Required), func(name string) bool { return slices.Contains(meant, name) })
	switch {
	case len(missing) > 0 && ofInput:
		wrong = append(wrong, "missing argument "+strings.Join(missing, ", "))
	case len(missing) > 0:
		wrong = append(wrong, "add --arg "+strings.Join(missing, "=… --arg ")+"=…")
	}
	return errors.New(strings.Join(wrong, "; "))
}
