// Package fanout does the same for many items, for some of them at the same time.
package fanout

import (
	"sync"
	"sync/atomic"
)

// Each calls do with the index of each item, and the item, for limit of them at the same
// time. It returns when all calls have returned.
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

// Collect is Each for calls that can fail: an error does not stop the others. results are
// those of the calls that did not fail, and failed the errors of the others, both in the
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
