package submit

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Pruning deletes blobs that no handle names. What a submit finds in the store is there for at least
// store.SubmitTime more, and so is what it uploads. A submit that takes longer until its handle is
// written asks for everything again: what was deleted meanwhile is uploaded, what would soon be is
// renewed, and from then on the handle names it. Other submits, which are nearly all, need no more
// requests.
const (
	// askAgainAfter leaves time for what comes before Apply.
	askAgainAfter = store.SubmitTime / 2
	// rounds limits how often a submit asks again. It takes more than a few only if the store is too
	// slow to answer.
	rounds = 5
	// environmentTime is how long the packages that the pod installs are there, which were stored
	// before Apply. Only buckets have them, and those keep them longer.
	environmentTime = 6 * time.Hour
)

// renew makes sure that the store has what the handle names, if that may have changed since the
// submit began.
func (s submission) renew(ctx context.Context, began time.Time) error {
	if s.provided.SHA256 != "" && s.since(began) > environmentTime {
		return errors.New("the submit took so long that the store may have lost the job's packages meanwhile: run the same command again; what was uploaded is not sent again")
	}
	for range rounds {
		if s.since(began) < askAgainAfter {
			return nil
		}
		began = s.now()
		if _, err := s.Files.Upload(ctx, s.registry.Store, nil); err != nil {
			return storeError(err)
		}
		if _, err := s.storeData(ctx, nil); err != nil {
			return storeError(err)
		}
		if err := s.storeInputs(ctx); err != nil {
			return storeError(err)
		}
	}
	return errors.New("the store answers too slowly to submit a job: run the same command again; what was uploaded is not sent again")
}

// since counts the time for which this machine was asleep, too.
func (s submission) since(then time.Time) time.Duration { return s.now().Round(0).Sub(then.Round(0)) }
