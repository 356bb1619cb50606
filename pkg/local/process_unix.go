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

// killSession kills all processes of a session: the runner, and the call, which
// leads a process group of its own. A process may start another one while this
// looks, so it looks until it finds no new one.
func killSession(sid int) error {
	killed := map[int]bool{}
	var failures []error
	for again := true; again; {
		again = false
		pids, err := processes()
		if err != nil {
			return fmt.Errorf("listing the processes of session %d: %w", sid, err)
		}
		for _, pid := range pids {
			if killed[pid] {
				continue
			}
			if of, err := unix.Getsid(pid); err != nil || of != sid {
				continue
			}
			killed[pid], again = true, true
			if err := signal(pid, unix.SIGKILL); err != nil {
				failures = append(failures, err) // as below sudo: the others are still killed
			}
		}
	}
	return errors.Join(failures...)
}

// signal treats a process that is gone as done.
func signal(pid int, s unix.Signal) error {
	err := unix.Kill(pid, s)
	if errors.Is(err, unix.ESRCH) {
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
