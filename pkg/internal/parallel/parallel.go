// Package parallel does the same for many items, several at a time, and shares the newest value
// of something with all goroutines that wait for it.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls do for every item, with its index, up to limit at a time. It returns when all
// calls have returned.
func Each[T any](limit int, items []T, do func(i int, item T)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(limit, len(items)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(items); i = int(next.Add(1)) - 1 {
				do(i, items[i])
			}
		})
	}
	workers.Wait()
}

// Collect is Each for calls that can fail. An error does not stop the other calls. Collect
// returns the results of the calls that succeeded and the errors of the others, each in the
// order of the items.
func Collect[T, R any](limit int, items []T, do func(T) (R, error)) (results []R, failed []error) {
	all, errs := make([]R, len(items)), make([]error, len(items))
	Each(limit, items, func(i int, item T) { all[i], errs[i] = do(item) })
	for i, err := range errs {
		if err != nil {
			failed = append(failed, err)
		} else {
			results = append(results, all[i])
		}
	}
	return results, failed
}
