package screen

import "io"

// Stream is one of the two streams that a job prints to.
type Stream int

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// Streams are the writers that a log goes to, one for each stream of the job. They are
// written to one at a time, in the order of the log.
type Streams struct{ Out, Err io.Writer }

// Both sends both streams to one writer.
func Both(w io.Writer) Streams { return Streams{Out: w, Err: w} }
