package logs

import (
	"context"
	"io"
	"time"
)

// Options choose what is read of a log.
type Options struct {
	// Follow goes on until the job has ended.
	Follow bool
	// Tail is the number of last lines to begin with, of each host; -1 is all.
	Tail int
	// Since drops lines begun before this time; zero is all.
	Since time.Time
	// Timestamps puts the time, as stored, and a space before each line.
	Timestamps bool
	// Attempt is the only attempt to read, from 1; 0 is all.
	Attempt int
	// Host is the only host to read, from 0; -1 is all.
	Host int

	// Ended tells whether the store knows that the job has ended. It is asked
	// when the log says so; nil is never.
	Ended func(context.Context) bool
	// Rest writes, stamped, what the store has of an attempt beyond a point, and
	// returns the point that it came to. It is called when the pod is gone before
	// its log was read, or its node no longer has all of it; nil is nothing.
	Rest func(context.Context, Point, io.Writer) (Point, error)
}

// Point is how far the log of one attempt was read.
type Point struct {
	// Pod is the UID of the attempt's pod.
	Pod string
	// Lines were read from the beginning, and Bytes of the text of the next one.
	Lines, Bytes int
	// After, when set, takes the place of Lines: reading did not begin at the
	// beginning, and the last line was printed then.
	After time.Time
}
