package frontdoor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// Exit codes of the front door itself. All others come from the program that it ran.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	// exitInterrupted is that of a process which a signal ended.
	exitInterrupted = 130
)

// Process is what the front door knows and uses of its process. Tests replace the parts
// that have effects outside of it.
type Process struct {
	// Args is the whole command line. The name in Args[0] shows whether kubectl wants
	// completions.
	Args []string
	// Executable is the path of this program with all links resolved.
	Executable     string
	Stdout, Stderr io.Writer
	// Exec replaces the process with the program at path; argv is its whole command line.
	// It returns an error if the program cannot be started. Where a process cannot be
	// replaced, it returns the program's exit code.
	Exec func(path string, argv []string) (int, error)
	// Output runs the program at path until it exits, without a terminal. It returns an error
	// if the program cannot be started.
	Output func(path string, args []string) (Answer, error)
	// Symlink makes a symbolic link, as os.Symlink does.
	Symlink func(target, link string) error
}

// Main runs the front door in this process and returns its exit code.
func Main() int {
	p := Process{Args: os.Args, Stdout: os.Stdout, Stderr: os.Stderr, Exec: replace, Output: output, Symlink: os.Symlink}
	executable, err := os.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable)
	}
	if err != nil {
		return p.fail(fmt.Errorf("finding the folder of this program: %w", err))
	}
	p.Executable = executable
	return p.Run()
}

// Run executes one command line and returns the exit code: 2 for a wrong command line, 1
// for a broken installation.
func (p Process) Run() int {
	code, err := p.answer()
	if err != nil {
		return p.fail(err)
	}
	return code
}

func (p Process) answer() (int, error) {
	args := p.Args[1:]
	if strings.HasPrefix(filepath.Base(p.Args[0]), completionPrefix) {
		_ = write(p.Stdout, p.offers(args)) // a failure would be shown on the line that is being typed
		return exitOK, nil
	}
	if len(args) == 0 || isHelp(args[0]) {
		return printHelp(p, nil)
	}
	name, rest := args[0], args[1:]
	if name == version.Word {
		return exitOK, write(p.Stdout, version.String()+"\n")
	}
	if name == versionFlag { // it asks no cluster, like the flag of other programs
		name, rest = "version", slices.Concat([]string{clientFlag}, rest)
	}
	if strings.HasPrefix(name, "-") {
		return 0, flagsFirst(args)
	}
	if name == "help" && len(rest) > 0 && !isHelp(rest[0]) {
		name, rest = rest[0], append(slices.Clone(rest[1:]), "--help")
	}
	c, ok := findCommand(name)
	if !ok {
		return 0, unknownCommand(name)
	}
	if c.binary != "" {
		return p.handOver(c.binary, c.line(rest))
	}
	if slices.ContainsFunc(rest, isHelp) {
		return exitOK, write(p.Stdout, ownHelp(c))
	}
	return c.own(p, rest)
}

func isHelp(arg string) bool { return arg == "-h" || arg == "--help" }

type usageError string

func (e usageError) Error() string { return string(e) }

// flagsFirst rejects `kubectl kinetic --context=c run`. Only the command knows whether the
// next word is the flag's value, so it guesses only for --profile, which is also a command.
func flagsFirst(args []string) error {
	flag := args[0]
	if profile, is := strings.CutPrefix(flag, "--profile="); is || flag == "--profile" && len(args) > 1 {
		line := args[1:]
		if !is {
			profile, line = args[1], args[2:]
		}
		if len(line) == 0 {
			line = []string{"COMMAND"}
		}
		at := slices.Index(line, "--") // what follows is the program's
		if at < 0 {
			at = len(line)
		}
		line = slices.Insert(slices.Clone(line), at, "--profile", profile)
		return usageError(fmt.Sprintf("flags go after the command: %s %s", product, strings.Join(line, " ")))
	}
	if word := strings.TrimLeft(flag, "-"); slices.Contains(commandNames(), word) {
		return usageError(fmt.Sprintf("%q is a command: %s %s", word, product, word))
	}
	return usageError(fmt.Sprintf("flags go after the command: %s COMMAND %s", product, flag))
}

func unknownCommand(name string) error {
	hint := human.DidYouMean(name, commandNames())
	near := human.Nearest(name, jobsCommands(), 1)
	switch {
	case near != nil && (hint == "" || near[0] == name):
		hint = fmt.Sprintf("did you mean %s jobs %s?", product, near[0])
	case hint == "":
		hint = fmt.Sprintf("%q lists the commands", product+" help")
	}
	return usageError(fmt.Sprintf("unknown command %q for %q; %s", name, product, hint))
}

// fail prints an error and returns its exit code, which must be enough if standard error is
// closed.
func (p Process) fail(err error) int {
	_, _ = fmt.Fprintf(p.Stderr, "error: %v\n", err)
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	return exitFailed
}
