package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
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

// storeWithin is how long the end of a job may wait for its log to be stored.
const storeWithin = 20 * time.Second

// storeLog stores what the store lacks of the log of a job that has ended: a runner that was killed had no time for it. The parts in
// the store are the beginning of the file.
func (m *Machine) storeLog(ctx context.Context, r Record, path string) error {
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	s, err := m.config.OpenStore(r.Store)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // the runner had only just started
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for {
		parts, stored := 0, int64(0)
		for o, err := range s.List(ctx, store.LogsOf(r.ID, 0, 1), "") {
			if err != nil {
				return err
			}
			parts, stored = parts+1, stored+o.Size
		}
		if stored >= info.Size() {
			return nil
		}
		rest := io.NewSectionReader(f, stored, info.Size()-stored)
		err := s.Create(ctx, store.LogPart(r.ID, 0, 1, parts+1), rest, nil)
		if err != nil && !errors.Is(err, store.ErrExists) { // with ErrExists, the last upload of the runner has just come, or another process ends the job, too
			return err
		}
	}
}
