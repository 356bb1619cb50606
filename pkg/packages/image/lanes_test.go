package image

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// TestLanes: small things are done beside large ones, of which no more than a few are done at a time, the
// largest first; the first error ends all.
func TestLanes(t *testing.T) {
	t.Parallel()
	sizes := []int64{1, 5 * wheel.Large, 2, 4 * wheel.Large, 3, 3 * wheel.Large, wheel.Large}
	synctest.Test(t, func(t *testing.T) {
		began := make(chan int, len(sizes))
		end := make(chan bool)
		lanes := make(chan error, 1)
		go func() {
			lanes <- inLanes(t.Context(), sizes, func(_ context.Context, i int) error {
				began <- i
				if sizes[i] > wheel.Large {
					<-end
				}
				return nil
			})
		}()
		for _, want := range [][]int{{0, 1, 2, 3, 4, 6}, {5}, nil, nil} {
			synctest.Wait()
			var got []int
			for len(began) > 0 {
				got = append(got, <-began)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%v began, want %v", got, want)
			}
			select {
			case end <- true:
			case err := <-lanes:
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
	failed := errors.New("failed")
	err := inLanes(t.Context(), sizes, func(ctx context.Context, i int) error {
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
