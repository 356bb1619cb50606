package logs

import (
	"io"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// Writer returns what writes the log of a job's only host to w, as File does: it gets the log as the runner wrote it.
func Writer(o Options, w display.Streams) io.Writer { return o.decoder(w, 0) }
