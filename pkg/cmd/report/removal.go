package report

import (
	"fmt"
	"sync"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// manyObjects is how many objects are shown being deleted; fewer are gone before anybody
// wonders.
const manyObjects = 500

// Removal shows the progress of deleting what jobs have in the store, if that is much. It
// is safe for concurrent use.
type Removal struct {
	ui *ui.UI

	mu          sync.Mutex
	done, total int          // of all jobs
	bar         *ui.Progress // nil until there are many objects
}

// NewRemoval returns a Removal that shows its progress on u.
func NewRemoval(u *ui.UI) *Removal { return &Removal{ui: u} }

// OfJob returns a callback for one job, which takes how many of its objects are deleted,
// and of how many.
func (r *Removal) OfJob() func(done, total int) {
	var before, known int
	return func(done, total int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done += done - before
		r.total += total - known
		before, known = done, total
		r.show()
	}
}

func (r *Removal) show() {
	text := fmt.Sprintf("%s/%s objects", human.Number(r.done), human.Number(r.total))
	switch {
	case r.bar != nil:
		r.bar.Count(r.done, r.total, text)
	case r.total >= manyObjects:
		r.bar = r.ui.ProgressCount("removing", r.done, r.total, text)
	}
}

// Done removes what is shown.
func (r *Removal) Done() {
	if r.bar != nil {
		r.bar.Done()
	}
}
