package logs

import (
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// Options choose what is read of a log.
type Options struct {
	// Follow reads until the job has ended.
	Follow bool
	// Tail is the number of last lines to begin with, per host; -1 is all lines.
	Tail int
	// Since leaves out lines that began before this time; zero is all lines. If such a line
	// is redrawn later, as progress bars are, it is shown from then on.
	Since time.Time
	// Timestamps puts the time at which a line began, as stored, and a space before it.
	Timestamps bool
	// Attempt is the only attempt to read, from 1; 0 is all.
	Attempt int
	// Host is the only host to read, from 0; -1 is all.
	Host int
	// Hosts is the number of hosts of the job. If all of several hosts are read, each
	// line begins with its host.
	Hosts int
	// Out and Err describe where the user sees standard output and standard error.
	Out, Err display.View
	// Chunks says that the hosts are the chunks of a map. They start independently, so
	// that each has its own attempts.
	Chunks bool
	// Sink, if not nil, returns what receives the log of a host, instead of the writers that
	// the log is read to. Those of different hosts may be used concurrently.
	Sink func(host int) Sink
}

// Sink receives the log of one host. Attempt is called with the number of the attempt that the following
// lines are of, maybe several times.
type Sink struct {
	display.Streams
	Attempt func(number int)
}

// decoder returns the Decoder for a host, which writes to w unless there is a sink.
func (o Options) decoder(w display.Streams, host int) *Decoder {
	if o.Sink == nil {
		return NewDecoder(w, o)
	}
	sink := o.Sink(host)
	d := NewDecoder(sink.Streams, o)
	d.begins = sink.Attempt
	return d
}

// Wrapped returns options and writers for the same log with another pair of writers in place of each.
func (o Options) Wrapped(w display.Streams, wrap func(display.Streams) display.Streams) (Options, display.Streams) {
	if o.Sink == nil {
		return o, wrap(w)
	}
	sink := o.Sink
	o.Sink = func(host int) Sink {
		s := sink(host)
		return Sink{wrap(s.Streams), s.Attempt}
	}
	return o, w
}

// Merges reports whether the logs of several hosts are read into one.
func (o Options) Merges() bool { return o.Host < 0 && o.Hosts > 1 }

func (o Options) multiplexer(w display.Streams) *display.Multiplexer {
	kind := "host"
	if o.Chunks {
		kind = "chunk"
	}
	return display.NewMultiplexer(w, kind, o.Out, o.Err)
}

// Point is the place up to which the log of a host in one attempt was read.
type Point struct {
	// Pod is the UID of the pod that recorded the attempt: that of host 0 or, in a map,
	// of the chunk.
	Pod string
	// Host is the host whose log it is.
	Host int
	// Part is the number of the last stored part that was read completely; 0 is none.
	Part int
	// Lines is how many lines were read after Part, and Bytes how many bytes of the text
	// of the line after them.
	Lines, Bytes int
	// Tail, if not zero, replaces Lines: the point is so many lines before the end.
	Tail int
	// recent, if not nil, replaces Lines, which are not known because reading did not begin
	// with the first line.
	recent *recentLines
	// searched is the number of the last stored part, if the log up to there ends before the point.
	searched int
}
