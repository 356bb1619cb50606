// Package records reads and writes the documents that a job leaves about itself in the store.
// It follows the results of a map as they appear.
package records

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Read reads one JSON document. It rejects one that a newer version wrote with an
// api.VersionError.
func Read[T any](ctx context.Context, s store.Store, name string) (T, error) {
	var doc T
	data, err := ReadBytes(ctx, s, name)
	if err != nil {
		return doc, err
	}
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return doc, fmt.Errorf("reading %s/%s: %w", s.URL(), name, err)
	}
	if v.Version > api.EndVersion {
		return doc, fmt.Errorf("reading %s/%s: %w", s.URL(), name, &api.VersionError{Got: v.Version, Max: api.EndVersion})
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return doc, fmt.Errorf("reading %s/%s: %w", s.URL(), name, err)
	}
	return doc, nil
}

// ReadBytes reads one document without decoding it.
func ReadBytes(ctx context.Context, s store.Store, name string) (data []byte, err error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	data, err = io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s/%s: %w", s.URL(), name, err)
	}
	return data, nil
}

// End reads how a job ended. If the job has not ended, it returns store.ErrNotFound.
func End(ctx context.Context, s store.Store, id string) (api.End, error) {
	return Read[api.End](ctx, s, store.End(id))
}

// EndOfResult returns how a job ended whose runner has stored its result, but could not record the end: it is in the
// metadata of the result. The error is store.ErrNotFound if there is none.
func EndOfResult(ctx context.Context, s store.Store, id string) (end api.End, err error) {
	found, err := Find(ctx, s, store.Result(id))
	if err != nil {
		return end, err
	}
	text := found.Metadata["end"]
	if text == "" {
		return end, fmt.Errorf("the end in the metadata of %s/%s: %w", s.URL(), found.Name, store.ErrNotFound)
	}
	if err := json.Unmarshal([]byte(text), &end); err != nil || end.Version != api.EndVersion || !end.State.Ended() {
		return end, fmt.Errorf("the end in the metadata of %s/%s can't be read: %w", s.URL(), found.Name, cmp.Or(err, store.ErrNotFound))
	}
	return end, nil
}

// AnyEnd is End, or EndOfResult: a runner that was killed, or cut off from the store, between its last two records has left
// the end with the result.
func AnyEnd(ctx context.Context, s store.Store, id string) (api.End, error) {
	end, err := End(ctx, s, id)
	if errors.Is(err, store.ErrNotFound) {
		if stored, notStored := EndOfResult(ctx, s, id); notStored == nil {
			return stored, nil
		}
	}
	return end, err
}

// CreateEnd records how a job ended. The error is store.ErrExists if that is already recorded.
func CreateEnd(ctx context.Context, s store.Store, id string, end api.End) error {
	end.Version = api.EndVersion
	return Create(ctx, s, store.End(id), end, end.Metadata())
}

// ReplaceEnd replaces the object of a job's end that List yielded. The error is store.ErrExists if somebody has replaced or
// deleted it since.
func ReplaceEnd(ctx context.Context, s store.Store, found store.Object, end api.End) error {
	end.Version = api.EndVersion
	data, err := json.Marshal(end)
	if err != nil {
		return err
	}
	return s.Replace(ctx, found, bytes.NewReader(append(data, '\n')), end.Metadata())
}

// Find returns the object of exactly this name, for a later Replace; store.ErrNotFound if there is none.
func Find(ctx context.Context, s store.Store, name string) (store.Object, error) {
	for o, err := range s.List(ctx, name, "") {
		if err != nil {
			return store.Object{}, err
		}
		if o.Name == name {
			return o, nil
		}
		break // names are sorted
	}
	return store.Object{}, fmt.Errorf("%s/%s: %w", s.URL(), name, store.ErrNotFound)
}

// Create writes a JSON document. The error is store.ErrExists if the document exists.
func Create(ctx context.Context, s store.Store, name string, doc any, metadata map[string]string) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return s.Create(ctx, name, bytes.NewReader(append(data, '\n')), metadata)
}

// Attempts reads the start records whose names begin with prefix, sorted by attempt.
func Attempts(ctx context.Context, s store.Store, prefix string) ([]api.Attempt, error) {
	var attempts []api.Attempt
	var mu sync.Mutex
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(store.Parallel)
	for o, err := range s.List(ctx, prefix, "") {
		g.Go(func() error {
			if err != nil {
				return err
			}
			a, err := Read[api.Attempt](reading, s, o.Name)
			mu.Lock()
			defer mu.Unlock()
			attempts = append(attempts, a)
			return err
		})
	}
	err := g.Wait()
	slices.SortFunc(attempts, func(a, b api.Attempt) int { return a.Attempt - b.Attempt })
	return attempts, err
}
