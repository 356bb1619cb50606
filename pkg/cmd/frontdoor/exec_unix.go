//go:build unix

package frontdoor

import (
	"os"
	"os/exec"
	"syscall"
)

// replace replaces this process with another program, which keeps the process id, signals
// and streams.
func replace(path string, argv []string) (int, error) {
	return 0, syscall.Exec(path, argv, os.Environ())
}

// writable reports whether this user may create files in a directory.
func writable(dir string) bool {
	const writeAndSearch = 2 | 1
	return syscall.Access(dir, writeAndSearch) == nil
}

// separate makes a program start a session of its own, which has no terminal, and a process
// group. All of the group ends with the command's context.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
}

// endOthers ends what a program that is exiting has started. The exit code is settled by
// then: the program itself doesn't notice.
func endOthers(cmd *exec.Cmd) { _ = killGroup(cmd) }

func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
