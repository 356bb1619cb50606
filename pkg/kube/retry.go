package kube

import (
	"context"
	"errors"
	"time"
)

// retryFor is how long a call is made again whose failure may pass: an API server
// that is restarted is back within it. What ends earlier, the context bounds.
const retryFor = 30 * time.Second

// retry repeats a call whose failure may pass.
func retry(ctx context.Context, call func() error) error {
	wait := backoff{}
	var err error
	for begin := time.Now(); time.Since(begin) <= retryFor; {
		if sleepErr := wait.sleep(ctx); sleepErr != nil {
			return errors.Join(sleepErr, err)
		}
		if err = call(); err == nil || !transient(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// backoff waits longer each time: first not at all, at most two seconds.
type backoff struct{ tries int }

const (
	firstWait = 50 * time.Millisecond
	longest   = 2 * time.Second
)

func (b *backoff) sleep(ctx context.Context) error {
	d := time.Duration(0)
	if b.tries > 0 {
		d = min(firstWait<<min(b.tries-1, 10), longest)
	}
	b.tries++
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
