package job

import (
	"context"

	"github.com/kubectl-kinetic/kinetic/pkg/fanout"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// AttachAll is Attach for what is to be cleaned up: that needs no handle, nor one that can be
// read. Only the handle of a newer version stays an error. A job that two words name is found
// once. One that fails does not protect the others: failed are the errors.
func (reg Registry) AttachAll(ctx context.Context, words []string) (found []*Job, failed []error) {
	return reg.resolver().attachAll(ctx, words)
}

// AttachUnended is AttachAll for what is to be cancelled: where several jobs match a word, it
// names the only one of them that has not ended.
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
	found, unclaimed := fanout.Collect(Parallel, claims, func(c claim) (*Job, error) {
		return c.job, r.registry.claim(ctx, c.job, c.exists)
	})
	return found, append(failed, unclaimed...)
}

// claim checks that a job is this registry's, and that what was named is a job at all. It
// reads the handle if there is one.
func (reg Registry) claim(ctx context.Context, j *Job, exists bool) error {
	recalled, err := reg.recall(ctx, j)
	if err == nil && !recalled && !exists {
		err = j.checkOrphan(ctx)
	}
	if err != nil {
		return err
	}
	return reg.has(j.Handle, exists)
}

// CanBeID reports whether a word may name a job: it is an id, or may begin one.
func CanBeID(word string) bool {
	return store.CheckID(word) == nil || store.CheckID(word+"0") == nil
}
