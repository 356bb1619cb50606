package frontdoor

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// replace runs the program until it exits, because Windows cannot replace a process. The
// console sends Ctrl-C and Ctrl-Break to both processes; this one ignores them and leaves
// the reaction to the program.
func replace(path string, argv []string) (int, error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	cmd := exec.Command(path, argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// writable reports whether this user may create files in a directory.
func writable(string) bool { return true } // there, users install programs below their home

// separate leaves a program as it is: Windows has no sessions of terminals.
func separate(*exec.Cmd) {}

// endOthers leaves the programs that a program has started: Windows has no process groups
// that can be ended.
func endOthers(*exec.Cmd) {}
