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
	for timer, want := range map[Timer][2]time.Duration{
		{}: {first, longest},
		{First: time.Second, Longest: 30 * time.Second}: {time.Second, 30 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var slept []time.Duration
			for range 20 {
				begin := time.Now()
				if err := timer.Sleep(t.Context()); err != nil {
					t.Fatal(err)
				}
				slept = append(slept, time.Since(begin))
			}
			if !slices.IsSorted(slept) || slept[0] != 0 || slept[1] != want[0] || slept[19] != want[1] {
				t.Errorf("slept %v", slept)
			}
		})
	}
}

func TestTimerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	timer := Timer{sleeps: 5}
	if err := timer.Sleep(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
