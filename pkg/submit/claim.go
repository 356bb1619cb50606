package submit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// claim writes the handle. The records that an interrupted submit left are this one's from then on:
// if the other still runs, it removes none of them.
func claim(ctx context.Context, j *job.Job, adopted bool) error {
	name, handle := store.Handle(j.ID()), handleText(j)
	err := j.Store.Create(ctx, name, bytes.NewReader(handle), nil)
	if errors.Is(err, store.ErrExists) && adopted {
		err = replace(ctx, j.Store, name, handle)
	}
	if errors.Is(err, store.ErrExists) {
		return &ExistsError{ID: j.ID(), Where: j.Store.URL(), Flags: j.LocationFlags(), Same: adopted}
	}
	return err
}

// record writes the records that are not of every job.
func (s submission) record(ctx context.Context) error {
	for name, text := range s.steps.Records {
		if err := unlessThere(s.registry.Store.Create(ctx, name, bytes.NewReader(text), nil)); err != nil {
			return err
		}
	}
	return nil
}

// replace writes an object that exists. The error is store.ErrExists if somebody else does that, too.
func replace(ctx context.Context, s store.Store, name string, text []byte) error {
	found, err := records.Find(ctx, s, name)
	if errors.Is(err, store.ErrNotFound) { // deleted since
		return s.Create(ctx, name, bytes.NewReader(text), nil)
	}
	if err != nil {
		return err
	}
	return s.Replace(ctx, found, bytes.NewReader(text), nil)
}

// handleText returns the content of a job's handle in the store, which no other submit has: it
// says when the job was created.
func handleText(j *job.Job) []byte {
	text, err := json.MarshalIndent(j.Handle, "", "  ")
	if err != nil {
		panic(err) // a handle has no values that JSON lacks
	}
	return append(text, '\n')
}

// replaceCall replaces the call that a submit left which was interrupted, or lost the
// race for the ID.
func replaceCall(ctx context.Context, j *job.Job, call []byte) error {
	name := store.Call(j.ID())
	old, err := records.ReadBytes(ctx, j.Store, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err // it may be the right one
	}
	if err == nil && bytes.Equal(old, call) {
		return nil
	}
	if err := j.Store.Delete(ctx, name); err != nil {
		return err
	}
	return j.Store.Create(ctx, name, bytes.NewReader(call), nil)
}

const (
	// withdrawTime limits the additional time of a failed submit. A submit whose records
	// stay can be repeated.
	withdrawTime = 10 * time.Second
	// resultsTime is for the values that a map has taken over, which may be thousands.
	resultsTime = time.Minute
)

// withdraw deletes the records of a job, even when ctx is over. It deletes the handle
// last: if values were left under a free ID, the next map with that ID would use them as
// its own. What another submit has adopted or replaced stays.
func (s submission) withdraw(ctx context.Context, j *job.Job) error {
	ctx = context.WithoutCancel(ctx)
	reading, cancel := context.WithTimeout(ctx, withdrawTime)
	defer cancel()
	names := append(slices.Sorted(maps.Keys(s.steps.Records)), store.Call(j.ID()), store.Handle(j.ID()))
	if j.Handle.Payload != nil {
		names = append([]string{store.Payload(j.ID())}, names...)
	}
	var ours []store.Object
	for _, name := range names {
		found, err := records.Find(reading, j.Store, name)
		if err == nil {
			ours = append(ours, found)
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	now, err := records.ReadBytes(reading, j.Store, store.Handle(j.ID()))
	if err == nil && !bytes.Equal(now, handleText(j)) {
		return nil
	}
	values, cancel := context.WithTimeout(ctx, resultsTime)
	defer cancel()
	if err := j.Results().Remove(values, false, func(int, int) {}); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(ctx, withdrawTime)
	defer cancel()
	var errs []error
	for _, o := range ours {
		_, err := j.Store.DeleteListed(ctx, o)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
