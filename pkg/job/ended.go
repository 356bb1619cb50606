package job

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// endedTime is how long a hint about ended jobs may take: in a large store it is not worth more.
const endedTime = 2 * time.Second

// Ended counts the newest jobs that the filter chooses and that only the store has. It reads few of them and for a short
// time: unsure means that there may be more.
func (reg Registry) Ended(ctx context.Context, f Filter) (n int, unsure bool) {
	ctx, cancel := context.WithTimeout(ctx, endedTime)
	defer cancel()
	ids, err := store.IDs(ctx, reg.Store, "")
	if err != nil {
		return 0, ctx.Err() != nil // a store that can't be read has told so
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(store.TimeOf(b).Compare(store.TimeOf(a)), cmp.Compare(a, b)) })
	if len(ids) > maxRecalled {
		ids, unsure = ids[:maxRecalled], true
	}
	var chosen atomic.Int64
	parallel.Each(Parallel, ids, func(_ int, id string) {
		e, err := reg.storedEntry(ctx, id, Filter{})
		if err == nil && e != nil && e.EndKnown() && f.wants(*e) && (f.User == "" || e.User == f.User) {
			chosen.Add(1)
		}
	})
	return int(chosen.Load()), unsure || ctx.Err() != nil
}
