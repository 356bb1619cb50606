package pack

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// bufferSize is how many bytes a worker reads at a time.
const bufferSize = 256 << 10

// parallel calls do for 0 … n-1, in roughly that order, on all processors. Each worker
// has one buffer. The first error stops all workers.
func parallel(ctx context.Context, n int, do func(ctx context.Context, i int, buf []byte) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, max(2, runtime.GOMAXPROCS(0))) {
		group.Go(func() error {
			buf := make([]byte, bufferSize)
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(ctx, i, buf); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
