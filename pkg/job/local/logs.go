package local

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// PartLog implements job.Backend: a process on this machine has no runtime beside it.
func (*Machine) PartLog(context.Context, api.Handle, string, logs.Options, io.Writer) error {
	return fs.ErrNotExist
}

// Logs writes the job's log to out. With Follow, it returns when the job has ended and
// everything was written. If the job is not on this machine, the error is fs.ErrNotExist:
// its log may be in the store.
func (m *Machine) Logs(ctx context.Context, h api.Handle, _ *logs.Archive, o logs.Options, out display.Streams) error {
	r, err := m.read(h.JobID)
	if err != nil {
		return err
	}
	if o.Host > 0 || o.Attempt > 1 {
		return fmt.Errorf("reading the log of local job %s: it has one host, 0, and one attempt, 1", h.JobID)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	if o.Follow {
		go func() {
			if r.Process.life() != alive || waitExit(ctx, r.Process) == nil {
				close(over)
			}
		}()
	}
	return logs.File(ctx, filepath.Join(m.dir(h.JobID), logFile), over, o, out)
}
