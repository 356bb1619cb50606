package pack

import (
	"io/fs"
	"time"
)

// stamp is what the file system says about a file's content without reading it. Times are
// nanoseconds since 1970. A program can't set back CTime, the last change of content or
// attributes. CTime and Inode are 0 where the operating system doesn't report them.
type stamp struct {
	Size, MTime, CTime int64
	Inode              uint64
}

func stampOf(info fs.FileInfo) stamp {
	ctime, inode := changeTime(info)
	return stamp{Size: info.Size(), MTime: info.ModTime().UnixNano(), CTime: ctime, Inode: inode}
}

// Clocks of file systems advance in steps. Linux uses the time of its last timer
// interrupt, 1 to 10 ms ago. A time in whole seconds suggests a file system that keeps no
// fractions (steps of 2 s on FAT).
const (
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// settledAt reports whether any write from now on must change the stamp: the last write
// was longer ago than one step of the file system's clock.
func (s stamp) settledAt(now time.Time) bool {
	last := max(s.MTime, s.CTime)
	tick := fineTick
	if last%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return now.UnixNano()-last > int64(tick)
}
