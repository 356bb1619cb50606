package price

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Breakdown is what the jobs of a list cost in some days, in total and by person.
type Breakdown struct {
	// From and To are the first and the last day, in UTC.
	From string `json:"from"`
	To   string `json:"to"`
	Total
	// Persons begin with who used most.
	Persons []PersonTotal `json:"byPerson"`
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

// Breakdown adds up what jobs have cost in the last days, today included. person returns whose a job is, ""
// if that is not known.
func (m Meter) Breakdown(jobs []api.JobSummary, days int, person func(api.JobSummary) string) Breakdown {
	since := m.Now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	b := Breakdown{From: since.Format(time.DateOnly), To: m.Now.UTC().Format(time.DateOnly), Persons: []PersonTotal{}, Bound: About, Bases: []string{}}
	bounds := map[Bound]bool{}
	for _, e := range jobs {
		c, begin, end := m.OfSummary(e), e.Status.Started, endOf(e.Status, m.Now)
		if c == nil || !end.After(since) {
			continue
		}
		if begin.Before(since) {
			c.take(float64(end.Sub(since)) / float64(end.Sub(begin)))
		}
		who := person(e)
		i := slices.IndexFunc(b.Persons, func(p PersonTotal) bool { return p.Person == who })
		if i < 0 {
			i = len(b.Persons)
			b.Persons = append(b.Persons, PersonTotal{Person: who})
		}
		b.add(*c)
		b.Persons[i].add(*c)
		bounds[c.Bound] = true
		if c.Basis != "" {
			b.Bases = append(b.Bases, c.Basis)
		}
	}
	if bounds[AtMost] != bounds[AtLeast] { // with errors on both sides, a sum is nothing but about
		b.Bound = AtLeast
		if bounds[AtMost] {
			b.Bound = AtMost
		}
	}
	slices.Sort(b.Bases)
	b.Bases = slices.Compact(b.Bases)
	slices.SortFunc(b.Persons, func(x, y PersonTotal) int {
		return cmp.Or(cmp.Compare(y.ChipHours, x.ChipHours), cmp.Compare(x.Person, y.Person))
	})
	return b
}

func (c *Cost) take(share float64) {
	c.ChipHours *= share
	if c.USD != nil {
		*c.USD *= share
	}
}

func (t *Total) add(c Cost) {
	t.Jobs++
	t.ChipHours = Round(t.ChipHours + c.ChipHours)
	if c.Spot {
		t.Spot.Add(c.USD)
	} else {
		t.OnDemand.Add(c.USD)
	}
}
