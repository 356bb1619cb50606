package parallel

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestEach(t *testing.T) {
	items := []string{"a", "b", "c", "d", "e", "f", "g"}
	for limit, want := range map[int]int64{1: 1, 3: 3, 20: 7} {
		synctest.Test(t, func(t *testing.T) {
			var running atomic.Int64
			step, done := make(chan bool), make(chan bool)
			got := make([]string, len(items))
			go func() {
				Each(limit, items, func(i int, item string) {
					running.Add(1)
					<-step
					got[i] = item
					running.Add(-1)
				})
				close(done)
			}()
			var most int64
			for range items {
				synctest.Wait()
				most = max(most, running.Load())
				step <- true
			}
			<-done
			if !slices.Equal(got, items) || most != want {
				t.Errorf("limit %d: got %v, %d at the same time, want %d", limit, got, most, want)
			}
		})
	}
	Each(4, nil, func(int, string) { t.Error("called without an item") })
}

func TestCollect(t *testing.T) {
	results, failed := Collect(2, []int{1, 2, 3, 4, 5}, func(n int) (string, error) {
		if n%2 == 0 {
			return "", fmt.Errorf("%d is even", n)
		}
		return fmt.Sprint(n), nil
	})
	if !slices.Equal(results, []string{"1", "3", "5"}) || errors.Join(failed...).Error() != "2 is even\n4 is even" {
		t.Errorf("got %v, failed %v", results, failed)
	}
}
