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

// ownSession makes a process survive the shell: it leads its own session, and with it its
// own process group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func terminate(pid int) error { return signal(pid, unix.SIGTERM) }

// killSession kills all processes of a session: the runner, and the call, which leads its
// own process group. Processes may start others meanwhile, so it repeats the search until
// it finds no new one.
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
				failures = append(failures, err) // as under sudo: the others are still killed
			}
		}
	}
	return errors.Join(failures...)
}

// signal sends a signal. A process that no longer exists is not an error.
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

// pollInterval limits how late the end of a process is noticed where the system does not
// report it.
const pollInterval = 20 * time.Millisecond

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
