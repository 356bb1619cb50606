package logs

import (
	"bytes"
	"math"
	"time"
)

// cursor is how far a pod's log has been read. A node takes a log up again at a whole
// second: the lines from there to the cursor come again.
type cursor struct {
	stamp time.Time // of the line read last; zero where none was
	lines int       // whole ones with this very stamp
	bytes int       // of the text of the line after them, which has no end yet
}

// wholeLine is the text of a line, however long.
const wholeLine = math.MaxInt

// skip returns how many bytes of the text of the next line were read before, and counts
// what is left of such lines down.
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

// splitStamp takes the time off a line of a Source.
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
