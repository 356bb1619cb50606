//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

// interruptible makes a program lead a process group, and has it interrupted as by Ctrl-C.
func interruptible(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}
