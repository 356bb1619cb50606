package logs

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Archive is what the store has of a job whose log is read: parts of the log, the records
// of its attempts, and its end.
type Archive struct {
	Store store.Store
	JobID string
	// Chunks says that the job is a map, whose attempts are those of each chunk.
	Chunks bool
	// WithoutLog says that the job does not store its log.
	WithoutLog bool

	numbers sync.Map // of attempts, by the UIDs of their pods
	end     atomic.Pointer[api.End]
}

// hasLog reports whether the store has the log of the job, or will have it.
func (a *Archive) hasLog() bool { return !a.WithoutLog }

// Attempts reads the records of the starts that a host was part of, in their order: those of
// the job or, in a map, of one chunk, of all if host is negative.
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

// End is the end that Ended has read; false where it was not asked or knows none.
func (a *Archive) End() (api.End, bool) {
	end := a.end.Load()
	if end == nil {
		return api.End{}, false
	}
	return *end, true
}

// number is that of the attempt of a pod of host 0, or of a chunk; 0 where the pod has not
// recorded it. Numbers never change, so that they are read once.
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
