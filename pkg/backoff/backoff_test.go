package backoff

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timer Timer
		var slept []time.Duration
		for range 20 {
			begin := time.Now()
			if err := timer.Sleep(t.Context()); err != nil {
				t.Fatal(err)
			}
			slept = append(slept, time.Since(begin))
		}
		if !slices.IsSorted(slept) || slept[0] != 0 || slept[1] != first || slept[19] != longest {
			t.Errorf("slept %v", slept)
		}
	})
}

func TestTimerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	timer := Timer{sleeps: 5}
	if err := timer.Sleep(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
