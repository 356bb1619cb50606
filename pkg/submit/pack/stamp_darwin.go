package pack

import (
	"io/fs"
	"syscall"
)

// changeTime returns the ctime in nanoseconds and the inode.
func changeTime(info fs.FileInfo) (ctime int64, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return st.Ctimespec.Nano(), st.Ino
}
