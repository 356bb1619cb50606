package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// startTime returns when a process began, in clock ticks after boot, and whether it is
// running: fields 22 and 3 of proc_pid_stat(5). Both are zero if there is no such process.
func startTime(pid int) (start string, running bool, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	start, running, err = parseStat(data)
	if err != nil {
		return "", false, fmt.Errorf("reading /proc/%d/stat: %w", pid, err)
	}
	return start, running, nil
}

func parseStat(data []byte) (start string, running bool, err error) {
	// The second field is the command in parentheses and may hold any byte.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return "", false, fmt.Errorf("%d fields after the command, expected at least 20", len(fields))
	}
	state := fields[0][0]
	return string(fields[19]), state != 'Z' && state != 'X', nil
}

func processes() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// here identifies this boot and container, in which process ids are unique, and the
// machine. Without /proc, boot and container are empty in every record, too.
func here() (boot, machine string) {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	machine, _ = os.Hostname()
	return string(bytes.TrimSpace(id)) + " " + namespace, machine
}

// waitExit returns when the process has ended, or when ctx is done with its error.
func waitExit(ctx context.Context, p Process) error {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if err != nil { // it has ended, or the kernel is older than 5.10
		return pollExit(ctx, p)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if p.life() != alive { // checked after opening: f is surely this process
		return nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return pollExit(ctx, p)
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, _ := unix.Poll(fds, 0)
		return n > 0
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return pollExit(ctx, p)
	}
	return ctx.Err()
}
