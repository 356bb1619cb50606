package cli

import (
	"context"
	"testing"
)

// interruptible is a context that its children notice in goroutines of their own, in any order.
type interruptible struct {
	context.Context
	done chan struct{}
}

func (c interruptible) Done() <-chan struct{} { return c.done }

func (c interruptible) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// A Ctrl-C is no hangup, whoever notices it first: a job has more time to save its work.
func TestInterruptIsNoHangup(t *testing.T) {
	for range 1000 {
		parent := interruptible{t.Context(), make(chan struct{})}
		ctx, _ := withHangup(parent)
		close(parent.done)
		<-ctx.Done()
		if HungUp(ctx) {
			t.Fatal("an interrupt is taken for a hangup")
		}
	}
}
