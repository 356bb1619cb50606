package local

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// maxWords limits how much of an interpreter's last line is quoted, in bytes.
const maxWords = 1 << 10

// newEnd describes the end of a job whose runner could not record it.
func (r Record) newEnd(reason api.Reason, message, by string) api.End {
	return api.End{State: api.Failed, Reason: reason, Message: message, ExitCode: reason.Code(),
		Attempt: 1, Started: r.Created, Finished: time.Now().UTC(), By: by}
}

// end reads how the job ended. The error is store.ErrNotFound if that was not recorded.
func (m *Machine) end(ctx context.Context, r Record) (api.End, error) {
	s, err := m.config.OpenStore(r.Store)
	if err != nil {
		return api.End{}, err
	}
	return records.End(ctx, s, r.ID)
}

// record records how the job ended, unless that was already recorded, and returns what is
// recorded.
func (m *Machine) record(ctx context.Context, r Record, e api.End) (api.End, error) {
	s, err := m.config.OpenStore(r.Store)
	if err != nil {
		return e, err
	}
	err = records.CreateEnd(ctx, s, r.ID, e)
	if errors.Is(err, store.ErrExists) {
		return records.End(ctx, s, r.ID)
	}
	return e, err
}

// exitMessage returns the message for a job whose runner ended without recording it. It quotes
// why the runner could not, as on a full disk, or the output of an interpreter that crashed.
func (m *Machine) exitMessage(id string) string {
	if _, why, found := strings.Cut(lastWords(filepath.Join(m.dir(id), logFile)), "kinetic: warning: cannot record how the job ended: "); found {
		return "the runner could not record how the job ended: " + why
	}
	message := "the runner was killed or crashed before it could record how the job ended"
	if words := lastWords(filepath.Join(m.dir(id), outFile)); words != "" {
		message += "; it said: " + words
	}
	return message
}

// lastWords returns the last line of a file, "" if there is none.
func lastWords(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxWords {
		_, _ = f.Seek(-maxWords, io.SeekEnd)
	}
	tail, _ := io.ReadAll(io.LimitReader(f, maxWords))
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(tail), "?")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
