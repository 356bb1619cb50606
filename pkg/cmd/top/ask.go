package top

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Kind is what is asked of a host.
type Kind int

// The kinds: the last line of the log, and what the host uses.
const (
	LastLine Kind = iota
	Usage
)

// Ask is a question about a host.
type Ask struct {
	Row
	Kind Kind
}

// perSecond is how many requests are made for rows.
const perSecond = 5

type question struct {
	place Place
	kind  Kind
}

// questionOf identifies a question. The row of a job asks its host 0.
func questionOf(r Row, kind Kind) question {
	r.Host = max(r.Host, 0)
	return question{r.Place, kind}
}

// Asker chooses what is asked next: of the rows that can be seen only, and a few questions a second.
type Asker struct {
	// Wants reports whether a question makes sense for a row.
	Wants func(Row, Kind) bool
	// Once asks nothing a second time.
	Once bool

	limiter *rate.Limiter
	asked   map[question]time.Time
	open    map[question]bool // without an answer so far
}

// NewAsker returns an Asker.
func NewAsker(wants func(Row, Kind) bool) *Asker {
	return &Asker{Wants: wants, limiter: rate.NewLimiter(perSecond, 1), asked: map[question]time.Time{}, open: map[question]bool{}}
}

// Next returns what to ask now, false if that is nothing: the question about one of the rows that has waited longest.
func (a *Asker) Next(rows []Row, now time.Time) (next Ask, found bool) {
	next, found = a.due(rows, now)
	if !found || !a.Allow(now) {
		return Ask{}, false
	}
	q := questionOf(next.Row, next.Kind)
	a.asked[q], a.open[q] = now, true
	return next, true
}

// due returns the question that has waited longest.
func (a *Asker) due(rows []Row, now time.Time) (next Ask, found bool) {
	var oldest time.Time
	goodFor := [...]time.Duration{LastLine: 2 * time.Second, Usage: 10 * time.Second}
	for _, row := range rows {
		if row.Entry.State != api.Running || row.Host != WholeJob && row.Pod.State != api.Running {
			continue
		}
		for kind := range Kind(len(goodFor)) {
			q := questionOf(row, kind)
			at := a.asked[q]
			if a.open[q] || a.Once && !at.IsZero() || now.Sub(at) < goodFor[kind] || found && !at.Before(oldest) || !a.Wants(row, kind) {
				continue
			}
			next, oldest, found = Ask{row, kind}, at, true
		}
	}
	return next, found
}

// Allow reports whether another request may be made now. It counts as one of those.
func (a *Asker) Allow(now time.Time) bool { return a.limiter.AllowN(now, 1) }

// Answered says that a question has its answer.
func (a *Asker) Answered(q Ask) { delete(a.open, questionOf(q.Row, q.Kind)) }

// Done reports whether all questions about rows have their answers, for now.
func (a *Asker) Done(rows []Row, now time.Time) bool {
	_, more := a.due(rows, now)
	return !more && len(a.open) == 0
}
