package price

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// Bound says how exact a Cost is.
type Bound string

// The values of Bound.
const (
	// About leaves out only what is short: that a node was held before its pod began, and after it ended.
	About Bound = "about"
	// AtLeast means that pods may have run before the first one that is known.
	AtLeast Bound = "at least"
	// AtMost counts time in which the job may have waited for machines.
	AtMost Bound = "at most"
)

// Cost is the accelerator time of a job so far, and its list price.
type Cost struct {
	Kind api.AcceleratorKind `json:"kind"`
	// Chips is how many the job has at a time. ChipHours is for how long it had them.
	Chips     int     `json:"chips"`
	ChipHours float64 `json:"chipHours"`
	Bound     Bound   `json:"bound"`
	Spot      bool    `json:"spot"`
	// PerHour is the price of all chips for an hour, and USD that of ChipHours; null if unknown.
	PerHour *float64 `json:"pricePerHour"`
	USD     *float64 `json:"usd"`
	// Basis says where and when the prices held.
	Basis string `json:"priceBasis,omitempty"`
}

// Meter measures jobs.
type Meter struct {
	Prices Table
	// Region is where jobs are that don't say it themselves, "" if it is unknown.
	Region string
	Now    time.Time
}

// Rate returns the list price in USD of a shape for an hour, nil if it is unknown, and where and when it
// holds. Flex-start has prices of its own, and a compute class chooses machines.
func Rate(prices Table, a api.Accelerator, capacity api.CapacityKind, zone string) (perHour *float64, basis string) {
	if capacity == api.CapacityFlexStart || capacity == api.CapacityClass {
		return nil, ""
	}
	usd, basis, known := prices.Accelerator(a, config.Region(zone))
	if !known {
		return nil, ""
	}
	return &usd, basis
}

// OfSummary returns the cost of a job of a list, nil for one that holds no accelerators or has not
// started.
func (m Meter) OfSummary(e api.JobSummary) *Cost {
	t := ofStatus(e.Status, e.Map, e.Workload.MayHaveEarlierPods, m.Now)
	if pods := e.Workload.PodTime; pods != nil && e.Hosts > 0 {
		t = ofPods(*pods, e.Hosts, m.Now)
	}
	return m.cost(heldIn(e), t)
}

// OfJob returns the cost of a job whose attempts are not known.
func (m Meter) OfJob(h api.Handle, s api.Status) *Cost {
	return m.cost(heldBy(h), ofStatus(s, h.Map != nil, false, m.Now))
}

// OfHistory returns the cost of a job with its attempts, and the times at which it lost pods.
func (m Meter) OfHistory(h api.Handle, s api.Status, attempts []api.Attempt, losses []api.Disruption) *Cost {
	if h.Map != nil || len(attempts) == 0 {
		return m.OfJob(h, s)
	}
	return m.cost(heldBy(h), ofAttempts(attempts, losses, s, m.Now))
}

// held is what a job occupies.
type held struct {
	accelerator string
	spot        bool
	capacity    api.CapacityKind
	pods        int // at a time, 0 if unknown
	isMap       bool
	zone        string
}

func heldIn(e api.JobSummary) held {
	return held{accelerator: e.Accelerator, spot: e.Capacity == api.CapacitySpot, capacity: e.Capacity, pods: e.Hosts, isMap: e.Map}
}

func heldBy(h api.Handle) held {
	what := held{accelerator: h.Accelerator, spot: h.Spot, capacity: h.Capacity, pods: h.Machines(), isMap: h.Map != nil, zone: h.Zone}
	if h.Backend == api.BackendLocal {
		what.accelerator = string(api.CPU)
	}
	if h.Map != nil {
		what.pods = min(h.Map.Chunks(), h.Map.Parallelism)
	}
	return what
}

// shape returns the shape that the pods share, and how many of them there are.
func (h held) shape() (a api.Accelerator, times float64, known bool) {
	a, err := accelerator.Parse(h.accelerator, accelerator.Options{Spot: h.spot, Backend: api.BackendLWS})
	if err == nil && a.Hosts > 1 && (h.isMap || h.pods == 0 || h.pods%a.Hosts != 0) { // the same slice exists on one host, too
		a, err = accelerator.Parse(h.accelerator, accelerator.Options{Spot: h.spot})
	}
	if err != nil || a.Kind == api.CPU {
		return a, 0, false
	}
	if h.pods == 0 {
		return a, 1, true
	}
	return a, float64(h.pods) / float64(a.Hosts), true
}

func (m Meter) cost(what held, t taken) *Cost {
	a, times, known := what.shape()
	if !known || t.time <= 0 {
		return nil
	}
	hours := t.time.Hours()
	c := &Cost{Kind: a.Kind, Chips: int(math.Round(times * float64(a.Chips))), Bound: t.bound, Spot: a.Spot}
	c.ChipHours = Round(times * float64(a.Chips) * hours)
	if perHour, basis := Rate(m.Prices, a, what.capacity, cmp.Or(what.zone, m.Region)); perHour != nil {
		all := Round(times * *perHour)
		usd := Round(all * hours)
		c.PerHour, c.USD, c.Basis = &all, &usd, basis
	}
	return c
}

// Time returns the accelerator time for people: "about 8.3 chip-hours".
func (c Cost) Time() string {
	noun := "chip"
	if c.Kind == api.GPU {
		noun = "GPU"
	}
	return fmt.Sprintf("%s %s %s-hours", c.Bound, strconv.FormatFloat(c.ChipHours, 'f', digits(c.ChipHours), 64), noun)
}

// digits returns how many decimals say enough of a number.
func digits(x float64) int {
	switch {
	case x < 1:
		return 3
	case x < 100:
		return 1
	}
	return 0
}

// Text returns the time and the price for people: "about 8.3 chip-hours, $22.32 (list price, spot,
// us-central1, 2026)".
func (c Cost) Text() string {
	if c.USD == nil {
		return c.Time() + ", price unknown"
	}
	return fmt.Sprintf("%s, %s (%s)", c.Time(), Dollars(*c.USD), Words(c.Spot, c.Basis))
}

// Cell returns the price for a table: "~$22.32"; "" if it is unknown, or there is none.
func (c *Cost) Cell() string {
	if c == nil || c.USD == nil {
		return ""
	}
	return map[Bound]string{About: "~", AtLeast: ">=", AtMost: "<="}[c.Bound] + Dollars(*c.USD)
}

// Entry is a job of a list with its cost.
type Entry struct {
	api.JobSummary

	// Cost is null for a job that holds no accelerators or has not started.
	Cost *Cost `json:"cost"`
}

// Entries adds the costs to a list. It is never nil, so that programs get an empty list.
func (m Meter) Entries(jobs []api.JobSummary) []Entry {
	all := make([]Entry, 0, len(jobs))
	for _, e := range jobs {
		all = append(all, Entry{e, m.OfSummary(e)})
	}
	return all
}
