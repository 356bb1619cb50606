package display

import "io"

// Stream is one of the two streams that a job prints to.
type Stream int

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// Streams holds the writers of a log, one for each stream of the job. They are written to
// one at a time, in the order of the log.
type Streams struct{ Out, Err io.Writer }

// Both returns Streams that send both streams to one writer.
func Both(w io.Writer) Streams { return Streams{Out: w, Err: w} }
