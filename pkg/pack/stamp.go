package pack

import (
	"io/fs"
	"time"
)

// stamp is what the file system reports a file's content without reading
// it. Times are nanoseconds since 1970. CTime, the last change of content or
// attributes, cannot be set back by a program; it and Inode are 0 where the
// operating system does not tell.
type stamp struct {
	Size, MTime, CTime int64
	Inode              uint64
}

func stampOf(info fs.FileInfo) stamp {
	ctime, inode := changeTime(info)
	return stamp{Size: info.Size(), MTime: info.ModTime().UnixNano(), CTime: ctime, Inode: inode}
}

// Clocks of file systems advance in steps. Linux takes the time of its last
// timer interrupt, 1 to 10 ms ago; whole seconds mean a file system that keeps
// no more (2 s apart on FAT).
const (
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// settledAt reports whether any write from now on must change the stamp: the
// last one is further back than one step of the file system's clock.
func (s stamp) settledAt(now time.Time) bool {
	last := max(s.MTime, s.CTime)
	tick := fineTick
	if last%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return now.UnixNano()-last > int64(tick)
}
