package local

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// startTime returns when a process began, in seconds and microseconds of the clock, and
// whether it is running. Both are zero if there is no such process.
func startTime(pid int) (start string, running bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) { // x/sys returns this for an empty answer
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("looking up process %d: %w", pid, err)
	}
	t := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", t.Sec, t.Usec), info.Proc.P_stat != zombie, nil
}

func processes() ([]int, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, info := range infos {
		pids = append(pids, int(info.Proc.P_pid))
	}
	return pids, nil
}

// here identifies this boot and this machine.
func here() (boot, machine string) {
	boot, _ = unix.Sysctl("kern.bootsessionuuid")
	machine, _ = unix.Sysctl("kern.uuid")
	return boot, machine
}

// waitExit returns when the process has ended, or when ctx is done with its error.
func waitExit(ctx context.Context, p Process) error { return pollExit(ctx, p) }
