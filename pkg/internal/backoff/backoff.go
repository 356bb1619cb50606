// Package backoff waits between attempts at something that fails.
package backoff

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Timer waits longer each time, first not at all. The zero value is ready to use; assign it
// to start over.
type Timer struct {
	// First is the second wait, 50 ms if it is 0; it doubles up to Longest, which is 2 s if
	// it is 0.
	First, Longest time.Duration

	sleeps int
}

const (
	first   = 50 * time.Millisecond
	longest = 2 * time.Second
)

// Sleep waits, and returns early with the error of ctx if that is done.
func (t *Timer) Sleep(ctx context.Context) error {
	d := time.Duration(0)
	if t.sleeps > 0 {
		d = min(cmp.Or(t.First, first)<<min(t.sleeps-1, 10), cmp.Or(t.Longest, longest))
	}
	t.sleeps++
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Retry tries a call again after errors that are transient, for some time. It returns the call's
// last error, joined with that of the context if it ends meanwhile.
func Retry(ctx context.Context, limit time.Duration, transient func(error) bool, call func() error) error {
	wait := Timer{}
	var err error
	for begin := time.Now(); time.Since(begin) <= limit; {
		if sleepErr := wait.Sleep(ctx); sleepErr != nil {
			return errors.Join(sleepErr, err)
		}
		if err = call(); err == nil || !transient(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// Attempts makes a call up to a number of times, while its errors are passing. It returns the call's last error, or why
// the context has ended.
func (t *Timer) Attempts(ctx context.Context, most int, passing func(error) bool, call func() error) error {
	for n := 1; ; n++ {
		if t.Sleep(ctx) != nil {
			return context.Cause(ctx)
		}
		switch err := call(); {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case n == most || !passing(err):
			return err
		}
	}
}

// Passing marks an error that may not happen again.
func Passing(err error) error { return &passingError{err} }

type passingError struct{ error }

func (e *passingError) Unwrap() error { return e.error }

// IsPassing reports whether an error is marked so.
func IsPassing(err error) bool {
	var passing *passingError
	return errors.As(err, &passing)
}
