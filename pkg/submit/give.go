package submit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// givenBytes is the most that is given to a host with a call. In base64 it has to fit into a frame, with the flags and the variables.
const givenBytes = 512 << 10

// lateTime is for storing what was given after an interrupt.
const lateTime = 10 * time.Second

// given returns what a job consists of, for Hooks.Give; nil if the store must have it first: a job with an ID of the user's may exist,
// and data or many changes are too large.
func (s submission) given(j *job.Job) map[string][]byte {
	if s.steps.Give == nil || s.request.JobID != "" || s.From != nil || s.Spec.Map != nil || len(s.Data.Sets)+len(s.Data.Trees) > 0 {
		return nil
	}
	blobs, ok := s.Files.Fresh(givenBytes - s.payload.Size)
	if !ok {
		return nil
	}
	objects := map[string][]byte{store.Call(j.ID()): s.Call, store.Handle(j.ID()): handleText(j), store.Blob(s.Files.SHA256): s.Files.IndexBlob}
	for sum, blob := range blobs {
		objects[store.Blob(sum)] = blob
	}
	maps.Copy(objects, s.steps.Records)
	if s.Spec.Payload != nil {
		text, err := s.readPayload()
		if err != nil {
			return nil // storing it returns the error
		}
		objects[store.Payload(j.ID())] = text
	}
	total := 0
	for _, text := range objects {
		total += len(text)
	}
	if total > givenBytes {
		return nil
	}
	return objects
}

func (s submission) readPayload() ([]byte, error) {
	r, err := s.payload.Open(func(int64) {})()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// give starts a job with these objects, and stores it meanwhile.
func (s submission) give(ctx context.Context, j *job.Job, objects map[string][]byte) (Submitted, error) {
	own := *j // whose handle becomes complete meanwhile
	own.New, j.New = true, true
	stored := make(chan error, 1)
	storing, stop := context.WithCancel(context.WithoutCancel(ctx)) // what was given runs, whatever happens here
	interrupted := context.AfterFunc(ctx, func() { time.AfterFunc(lateTime, stop) })
	begin := sync.OnceFunc(func() {
		go func() { stored <- s.storeGiven(storing, &own, objects) }()
	})
	if !s.steps.Waits {
		begin()
	}
	wait := func() error {
		defer stop()
		defer interrupted()
		return storeError(<-stored)
	}
	if err := s.steps.Give(ctx, s.Started(), objects); err != nil {
		if !errors.Is(err, api.ErrMayRun) {
			stop()
		}
		begin()
		_ = wait() // who runs the job stores it, too
		return Submitted{}, s.abandon(ctx, &own, err, false)
	}
	begin()
	done := Submitted{Job: j, Stored: wait}
	for name, text := range objects {
		if strings.HasPrefix(name, store.Blobs()) {
			done.Stats.NewBytes += int64(len(text))
		}
	}
	return done, nil
}

// storeGiven stores a job that was given to somebody, who may store it, too. The handle is the last: who finds it finds the rest.
func (s submission) storeGiven(ctx context.Context, j *job.Job, objects map[string][]byte) error {
	s.progress = serialized(nil) // nobody waits
	if _, err := s.supply(ctx, &Submitted{Job: j}); err != nil {
		return err
	}
	g, writing := errgroup.WithContext(ctx)
	g.Go(func() error {
		return unlessThere(j.Store.Create(writing, store.Call(j.ID()), bytes.NewReader(s.Call), nil))
	})
	g.Go(func() error {
		return unlessThere(s.storePayload(writing, j, func() (io.ReadCloser, error) { // the file may be gone by now
			return io.NopCloser(bytes.NewReader(objects[store.Payload(j.ID())])), nil
		}))
	})
	g.Go(func() error { return s.record(writing) })
	if err := g.Wait(); err != nil {
		return err
	}
	return claim(ctx, j, true)
}

// unlessThere returns an error, but nil if the host was faster.
func unlessThere(err error) error {
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}
