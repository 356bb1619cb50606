package logs

import (
	"bytes"
	"math"
	"time"
)

// cursor is the place up to which a pod's log has been read. A node can only resume a log at a
// whole second, so the lines between that and the cursor come again.
type cursor struct {
	stamp time.Time // of the line that was read last; zero if there was none
	lines int       // how many whole lines with exactly this stamp were read
	bytes int       // how many bytes of the text of the next line were read
}

// wholeLine is more bytes than any line has.
const wholeLine = math.MaxInt

// skip returns how many bytes of the text of the next line were read before, and counts that
// line as passed.
func (c *cursor) skip(stamp time.Time) int {
	switch {
	case stamp.Before(c.stamp):
		return wholeLine
	case stamp.After(c.stamp):
		return 0
	case c.lines > 0:
		c.lines--
		return wholeLine
	}
	n := c.bytes
	c.bytes = 0
	return n
}

func splitStamp(line []byte) (stamp time.Time, text []byte, ok bool) {
	before, text, found := bytes.Cut(line, []byte{' '})
	if !found {
		return time.Time{}, line, false
	}
	stamp, err := time.Parse(time.RFC3339Nano, string(before))
	if err != nil {
		return time.Time{}, line, false
	}
	return stamp, text, true
}
