package logs

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Archive reads what the store has about the log of a job: the parts of the log, the records
// of attempts, and the end of the job.
type Archive struct {
	Store store.Store
	JobID string
	// Chunks says that the job is a map, each chunk of which has its own attempts.
	Chunks bool
	// WithoutLog says that the job does not store its log.
	WithoutLog bool

	// Reports is what was read in the logs of pods. What the archive itself has is not in it.
	records.Reports

	numbers sync.Map // of attempts, by the UID of the pod
	end     atomic.Pointer[api.End]
}

func (a *Archive) hasLog() bool { return !a.WithoutLog }

// Attempts reads the records of the attempts that a host took part in, in order: those of the
// job or, in a map, of one chunk. If host is negative it reads those of all chunks.
func (a *Archive) Attempts(ctx context.Context, host int) ([]api.Attempt, error) {
	prefix := store.Attempts(a.JobID)
	if a.Chunks && host >= 0 {
		prefix = store.AttemptsOfChunk(a.JobID, host)
	}
	return records.Attempts(ctx, a.Store, prefix)
}

// Ended reports whether the store knows that the job has ended.
func (a *Archive) Ended(ctx context.Context) bool {
	end, err := records.End(ctx, a.Store, a.JobID)
	if err != nil {
		return false
	}
	a.end.Store(&end)
	return true
}

// End returns the end that Ended has read, and whether it has read one.
func (a *Archive) End() (api.End, bool) {
	end := a.end.Load()
	if end == nil {
		return api.End{}, false
	}
	return *end, true
}

// number returns the number of the attempt that a pod of host 0 or of a chunk has recorded; 0
// if it has recorded none. Numbers never change, so each is read once.
func (a *Archive) number(ctx context.Context, host int, pod string) (int, error) {
	if number, known := a.numbers.Load(pod); known {
		return number.(int), nil
	}
	attempts, err := a.Attempts(ctx, host)
	if err != nil {
		return 0, err
	}
	for _, attempt := range attempts {
		a.numbers.Store(attempt.UID, attempt.Attempt)
	}
	number, _ := a.numbers.Load(pod)
	n, _ := number.(int)
	return n, nil
}
