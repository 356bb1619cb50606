//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supported is nil where local jobs can run.
func supported() error { return nil }

// ownSession makes a process survive the shell: it leads a session, and with it
// a process group, of its own.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process to end.
func terminate(pid int) error { return signal(pid, unix.SIGTERM) }

// killGroup kills all processes of a group.
func killGroup(pgid int) error { return signal(-pgid, unix.SIGKILL) }

// signal treats a process that is gone as done, and so one that has become
// somebody else's: macOS tells that of a group with nothing but zombies.
func signal(pid int, s unix.Signal) error {
	err := unix.Kill(pid, s)
	if errors.Is(err, unix.ESRCH) || pid < 0 && errors.Is(err, unix.EPERM) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sending %s to process %d: %w", unix.SignalName(s), pid, err)
	}
	return nil
}

// pollInterval bounds how late the end of a process is noticed where the system
// does not tell it.
const pollInterval = 20 * time.Millisecond

// pollExit is waitExit by looking again and again.
func pollExit(ctx context.Context, p Process) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for p.life() == alive {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
