package image

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/wheel"
)

// TestLanes: small things are done beside large ones, of which no more than a few are done at a time, the
// largest first; the first error ends all.
func TestLanes(t *testing.T) {
	t.Parallel()
	sizes := []int64{1, 5 * wheel.Large, 2, 4 * wheel.Large, 3, 3 * wheel.Large, wheel.Large}
	var mu sync.Mutex
	var large, most int
	var began []int
	var small sync.WaitGroup
	small.Add(4)
	err := inLanes(t.Context(), sizes, func(_ context.Context, i int) error {
		if sizes[i] <= wheel.Large {
			small.Done()
			return nil
		}
		mu.Lock()
		began = append(began, i)
		large++
		most = max(most, large)
		mu.Unlock()
		small.Wait()
		mu.Lock()
		large--
		mu.Unlock()
		return nil
	})
	if err != nil || most > largeMakers || len(began) != 3 || began[2] != 5 {
		t.Errorf("%d large ones at a time, in the order %v; %v", most, began, err)
	}
	failed := errors.New("failed")
	err = inLanes(t.Context(), sizes, func(ctx context.Context, i int) error {
		if i == 0 {
			return failed
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, failed) {
		t.Errorf("err = %v, want %v", err, failed)
	}
}
