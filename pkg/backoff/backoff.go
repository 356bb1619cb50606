// Package backoff waits between attempts at something that fails.
package backoff

import (
	"context"
	"time"
)

// Timer waits longer each time: first not at all, at most two seconds. The zero value is
// ready to use; assign it to start over.
type Timer struct{ sleeps int }

const (
	first   = 50 * time.Millisecond
	longest = 2 * time.Second
)

// Sleep waits, and returns early with the error of ctx if that is done.
func (t *Timer) Sleep(ctx context.Context) error {
	d := time.Duration(0)
	if t.sleeps > 0 {
		d = min(first<<min(t.sleeps-1, 10), longest)
	}
	t.sleeps++
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
