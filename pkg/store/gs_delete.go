package store

import (
	"context"
	"errors"
	"net/http"
	"time"

	"cloud.google.com/go/storage"
)

func (s *gsStore) Delete(ctx context.Context, name string) error {
	req, err := s.begin(ctx, toDelete, name)
	if err != nil {
		return err
	}
	if err := req.explain(ctx, req.object().Delete(ctx)); !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// DeleteListed names the generation twice: some emulators ignore the condition.
func (s *gsStore) DeleteListed(ctx context.Context, o Object) (bool, error) {
	req, err := s.begin(ctx, toDelete, o.Name)
	if err != nil {
		return false, err
	}
	err = req.object().Generation(o.Generation).If(storage.Conditions{GenerationMatch: o.Generation}).Delete(ctx)
	if isStatus(err, http.StatusPreconditionFailed) {
		return false, nil
	}
	if err = req.explain(ctx, err); errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Now uses the clock difference that answers show.
func (s *gsStore) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return time.Now()
	}
	return s.client.transport.ServerTime(time.Now())
}
