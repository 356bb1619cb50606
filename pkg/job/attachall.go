package job

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// AttachAll finds the jobs to clean up. They need no readable handle; only the handle of a
// newer version is an error. A job that two words name is returned once. An error does not
// keep the others from being found: failed are the errors.
func (reg Registry) AttachAll(ctx context.Context, words []string) (found []*Job, failed []error) {
	return reg.resolver().attachAll(ctx, words)
}

// AttachUnended is AttachAll for jobs to cancel: if several jobs match a word, it finds the
// only one of them that has not ended.
func (reg Registry) AttachUnended(ctx context.Context, words []string) (found []*Job, failed []error) {
	r := reg.resolver()
	r.unended = true
	return r.attachAll(ctx, words)
}

func (r *resolver) attachAll(ctx context.Context, words []string) (found []*Job, failed []error) {
	type claim struct {
		job    *Job
		exists bool
	}
	var claims []claim
	known := map[string]bool{}
	for _, word := range words {
		j, exists, err := r.resolve(ctx, word)
		if err != nil {
			failed = append(failed, err)
		} else if !known[j.ID()] {
			known[j.ID()] = true
			claims = append(claims, claim{j, exists})
		}
	}
	found, unclaimed := parallel.Collect(Parallel, claims, func(c claim) (*Job, error) {
		return c.job, r.registry.checkOwned(ctx, c.job, c.exists)
	})
	return found, append(failed, unclaimed...)
}

// checkOwned checks that a named directory or workload is a job, and belongs to this registry.
// It reads the handle if there is one.
func (reg Registry) checkOwned(ctx context.Context, j *Job, exists bool) error {
	recalled, err := reg.loadHandle(ctx, j)
	if err == nil && !recalled && !exists {
		err = j.checkOrphan(ctx)
	}
	if err != nil {
		return err
	}
	return reg.has(j.Handle, exists)
}

// CanBeID reports whether a word is an id, or may be the beginning of one.
func CanBeID(word string) bool {
	return store.CheckID(word) == nil || store.CheckID(word+"0") == nil
}
