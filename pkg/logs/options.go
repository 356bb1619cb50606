package logs

import (
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/screen"
)

// Options choose what is read of a log.
type Options struct {
	// Follow reads until the job has ended.
	Follow bool
	// Tail is the number of last lines to begin with, of each host; -1 is all.
	Tail int
	// Since drops lines begun before this time, but for later states of a line that is
	// drawn several times; zero is all.
	Since time.Time
	// Timestamps puts the time at which it began, as stored, and a space before each line.
	Timestamps bool
	// Attempt is the only attempt to read, from 1; 0 is all.
	Attempt int
	// Host is the only host to read, from 0; -1 is all.
	Host int
	// Hosts are how many the job has. Where all of several are read, each line
	// begins with its host.
	Hosts int
	// Out and Err are what standard output and standard error are read on.
	Out, Err screen.View
	// Chunks says that the hosts are the chunks of a map, which start each by
	// itself: the attempts are of each.
	Chunks bool
}

// Merges reports whether the logs of several hosts are read into one.
func (o Options) Merges() bool { return o.Host < 0 && o.Hosts > 1 }

// multiplexer makes the Multiplexer that writes the hosts' logs to w.
func (o Options) multiplexer(w screen.Streams) *screen.Multiplexer {
	kind := "host"
	if o.Chunks {
		kind = "chunk"
	}
	return screen.NewMultiplexer(w, kind, o.Out, o.Err)
}

// Point is how far the log of one attempt was read.
type Point struct {
	// Pod is the UID of the attempt's pod: of host 0, which alone records attempts,
	// or of the chunk of a map.
	Pod string
	// Host is the one whose log it is.
	Host int
	// Part is the last part that was read to its end; 0 is none.
	Part int
	// Lines were read after Part, and Bytes of the text of the next one.
	Lines, Bytes int
	// Tail, when set, takes the place of Part and Lines: so many lines from the end.
	Tail int
	// recent, when set, takes the place of Part and Lines: reading did not begin at the beginning.
	recent *recentLines
}
