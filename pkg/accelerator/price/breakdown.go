package price

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Breakdown is what the jobs of a list cost in some days, three times: by person, by pool and by day.
type Breakdown struct {
	// From and To are the first and the last day, in UTC.
	From string `json:"from"`
	To   string `json:"to"`
	Total
	Persons []PersonTotal `json:"byPerson"`
	Pools   []PoolTotal   `json:"byPool"`
	Days    []DayTotal    `json:"byDay"`
	// Bound says how exact the totals are for these jobs.
	Bound Bound `json:"bound"`
	// Bases say where and when the prices hold.
	Bases []string `json:"priceBases"`
}

// Total is what some jobs cost. OnDemand has all that is not spot capacity.
type Total struct {
	Jobs      int     `json:"jobs"`
	ChipHours float64 `json:"chipHours"`
	OnDemand  Sum     `json:"onDemand"`
	Spot      Sum     `json:"spot"`
}

// PersonTotal is the total of one person, "" for jobs that don't say whose they are.
type PersonTotal struct {
	Person string `json:"person"`
	Total
}

// PoolTotal is the total of a shape in a node pool, whose name is "" if it is not known.
type PoolTotal struct {
	Pool        string `json:"pool"`
	Accelerator string `json:"accelerator"`
	Total
}

// DayTotal is the total of one day, such as 2026-11-22, in UTC.
type DayTotal struct {
	Day string `json:"day"`
	Total
}

// Origins say what a list doesn't know about its jobs.
type Origins struct {
	// Person returns whose a job is, "" if that is not known.
	Person func(api.JobSummary) string
	// Pool returns the name of the node pool in which a job has a shape, "" if that is not known.
	Pool func(api.JobSummary, api.Accelerator) string
}

// Breakdown adds up what jobs have cost in the last days, today included.
func (m Meter) Breakdown(jobs []api.JobSummary, days int, from Origins) Breakdown {
	since := midnight(m.Now).AddDate(0, 0, 1-days)
	b := &breakdown{persons: map[string]*Total{}, pools: map[[2]string]*Total{}, days: map[string]*Total{}, bounds: map[Bound]bool{}}
	for _, e := range jobs {
		c := m.OfSummary(e)
		if c == nil {
			continue
		}
		begin, end := e.Status.Started.UTC(), endOf(e.Status, m.Now).UTC()
		whole := end.Sub(begin)
		if begin.Before(since) {
			begin = since
		}
		if !end.After(begin) {
			continue
		}
		b.add(used{*c, whole}, begin, end, m.pool(e, from), from.Person(e))
	}
	return b.sorted(since, m.Now)
}

// pool returns the name of a job's node pool and its shape.
func (m Meter) pool(e api.JobSummary, from Origins) [2]string {
	a, _, _ := heldIn(e).shape()
	text := accelerator.TextByChips(a)
	if e.Capacity != api.CapacityOnDemand || a.Spot {
		text += ":" + string(cmp.Or(e.Capacity, api.CapacitySpot))
	}
	return [2]string{from.Pool(e, a), text}
}

// breakdown collects the totals.
type breakdown struct {
	all     Total
	persons map[string]*Total
	pools   map[[2]string]*Total // by name and shape
	days    map[string]*Total
	bounds  map[Bound]bool
	bases   []string
}

// used is the cost of a job in its whole time.
type used struct {
	Cost
	whole time.Duration
}

// add adds the time of one job.
func (b *breakdown) add(c used, begin, end time.Time, pool [2]string, person string) {
	for _, t := range []*Total{&b.all, of(b.persons, person), of(b.pools, pool)} {
		t.add(c, end.Sub(begin))
	}
	for at := begin; at.Before(end); {
		next := midnight(at).AddDate(0, 0, 1)
		if next.After(end) {
			next = end
		}
		of(b.days, at.Format(time.DateOnly)).add(c, next.Sub(at))
		at = next
	}
	b.bounds[c.Bound] = true
	if c.Basis != "" && !slices.Contains(b.bases, c.Basis) {
		b.bases = append(b.bases, c.Basis)
	}
}

// add adds a part of the time of a job.
func (t *Total) add(c used, part time.Duration) {
	t.Jobs++
	share := float64(part) / float64(c.whole)
	t.ChipHours += c.ChipHours * share
	var usd *float64
	if c.USD != nil {
		some := *c.USD * share
		usd = &some
	}
	if c.Spot {
		t.Spot.Add(usd)
	} else {
		t.OnDemand.Add(usd)
	}
}

// of returns the total of a key, a new one if there is none.
func of[K comparable](totals map[K]*Total, key K) *Total {
	if totals[key] == nil {
		totals[key] = &Total{}
	}
	return totals[key]
}

// sorted returns the breakdown: who used most first, days in order.
func (b *breakdown) sorted(since, now time.Time) Breakdown {
	r := Breakdown{From: since.Format(time.DateOnly), To: now.UTC().Format(time.DateOnly), Total: b.all.rounded(),
		Persons: []PersonTotal{}, Pools: []PoolTotal{}, Days: []DayTotal{}, Bound: b.bound(), Bases: append([]string{}, b.bases...)}
	for person, t := range b.persons {
		r.Persons = append(r.Persons, PersonTotal{person, t.rounded()})
	}
	for pool, t := range b.pools {
		r.Pools = append(r.Pools, PoolTotal{pool[0], pool[1], t.rounded()})
	}
	for day, t := range b.days {
		r.Days = append(r.Days, DayTotal{day, t.rounded()})
	}
	slices.SortFunc(r.Persons, func(x, y PersonTotal) int {
		return cmp.Or(cmp.Compare(y.ChipHours, x.ChipHours), cmp.Compare(x.Person, y.Person))
	})
	slices.SortFunc(r.Pools, func(x, y PoolTotal) int {
		return cmp.Or(cmp.Compare(y.ChipHours, x.ChipHours), cmp.Compare(x.Pool, y.Pool), cmp.Compare(x.Accelerator, y.Accelerator))
	})
	slices.SortFunc(r.Days, func(x, y DayTotal) int { return cmp.Compare(x.Day, y.Day) })
	slices.Sort(r.Bases)
	return r
}

func (t Total) rounded() Total {
	t.ChipHours = round(t.ChipHours)
	return t
}

// bound returns what holds for a sum: with errors on both sides, nothing but about.
func (b *breakdown) bound() Bound {
	switch {
	case b.bounds[AtMost] && !b.bounds[AtLeast]:
		return AtMost
	case b.bounds[AtLeast] && !b.bounds[AtMost]:
		return AtLeast
	}
	return About
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
