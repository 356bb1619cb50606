package local

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// ticksPerSecond is USER_HZ, in which Linux counts the time of processes on all machines that Go runs on.
const ticksPerSecond = 100

// usedBy returns how long the processes of a session have worked, and the memory that they have: fields 6, 14, 15 and 24 of
// proc_pid_stat(5).
func usedBy(session int) (worked time.Duration, memory int64, known bool) {
	pids, err := processes()
	if err != nil {
		return 0, 0, false
	}
	for _, pid := range pids {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended
		}
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		const third = 3 // the number of the first of these fields
		number := func(field int) int64 {
			n, _ := strconv.ParseInt(string(fields[field-third]), 10, 64)
			return n
		}
		if len(fields) <= 24-third || number(6) != int64(session) {
			continue
		}
		worked += time.Duration(number(14)+number(15)) * time.Second / ticksPerSecond
		memory += number(24) * int64(os.Getpagesize())
		known = true
	}
	return worked, memory, known
}
