// Package top lays out jobs and their hosts as one screen of text, for `jobs top`: a pure function of what is known of them,
// the size of the screen, and the time.
package top

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Key identifies a job among those of all namespaces.
type Key struct{ Namespace, ID string }

// KeyOf returns the key of a job of a list.
func KeyOf(e api.JobSummary) Key { return Key{e.Namespace, e.ID} }

// Place is a row: that of a job, or of one of its hosts.
type Place struct {
	Key
	// Host is the number of the host, WholeJob for the row of the job.
	Host int
}

// WholeJob is the Host of the row of a job.
const WholeJob = -1

// stays is how long the row of a job stays whose workload is gone, so that it can be read how it ended.
const stays = time.Minute

// Model is what is known of some jobs, and where the user is among them. Its zero value is not ready: New makes one.
type Model struct {
	// Title says whose jobs these are: "Jobs in namespace ml".
	Title string
	// Empty is shown instead of rows if there are none.
	Empty string
	// Namespaces adds a column with the namespaces.
	Namespaces bool
	// Hosts shows the hosts of all jobs that have several, unless they are closed.
	Hosts bool
	// Meter knows prices. Its time is that of each call.
	Meter price.Meter
	// Notice is one line about what is missing or was done, "" for none.
	Notice string
	// Question replaces the line of keys, "" for none.
	Question string

	jobs    map[Key]*known
	toggled map[Key]bool // jobs whose hosts are shown if Hosts is false, and the other way round
	at      Place        // the selected row, if moved
	index   int          // of the selected row among all
	line    int          // of the selected row on the screen
	moved   bool
	height  int // of the rows on the last screen
}

type known struct {
	entry api.JobSummary
	gone  time.Time // when its workload was seen to be gone
	lines map[int]string
	uses  map[int]api.Use // by host
}

// New returns a model without jobs.
func New(m Model) *Model {
	m.jobs, m.toggled = map[Key]*known{}, map[Key]bool{}
	return &m
}

// Put takes jobs that are new or have changed, as a watch reports them.
func (m *Model) Put(entries []api.JobSummary, now time.Time) {
	for _, e := range entries {
		k := m.jobs[KeyOf(e)]
		if k == nil {
			k = &known{lines: map[int]string{}, uses: map[int]api.Use{}}
			m.jobs[KeyOf(e)] = k
		}
		k.dropOldLines(e.Workload.Hosts)
		k.entry = e
		if e.State != api.Running {
			clear(k.uses)
		}
		if e.State != api.NotFound {
			k.gone = time.Time{}
		} else if k.gone.IsZero() {
			k.gone = now
		}
	}
}

// dropOldLines drops what hosts have printed whose pods were replaced or wait. These are the hosts now.
func (k *known) dropOldLines(now []api.Host) {
	pods := map[int]string{}
	for _, h := range k.entry.Workload.Hosts {
		pods[h.Host] = h.Pod
	}
	for _, h := range now {
		if was, known := pods[h.Host]; h.State == api.Pending || known && was != h.Pod {
			delete(k.lines, h.Host)
		}
	}
}

// SetLine sets the last line that a host has printed. Host 0 prints that of its job.
func (m *Model) SetLine(p Place, line string) {
	if k := m.jobs[p.Key]; k != nil {
		k.lines[max(p.Host, 0)] = line
	}
}

// SetUse sets what a host uses, as far as it is measured: what is not known stays as it was.
func (m *Model) SetUse(p Place, u api.Use) {
	k := m.jobs[p.Key]
	if k == nil {
		return
	}
	was := k.uses[max(p.Host, 0)]
	k.uses[max(p.Host, 0)] = api.Use{CPU: cmp.Or(u.CPU, was.CPU), Memory: cmp.Or(u.Memory, was.Memory), Duty: cmp.Or(u.Duty, was.Duty)}
}

// SetUses sets what the hosts use that are found by their namespaces and pods.
func (m *Model) SetUses(of func(namespace, pod string) (api.Use, bool)) {
	for key, k := range m.jobs {
		for _, h := range k.entry.Workload.Hosts {
			if u, found := of(key.Namespace, h.Pod); found {
				m.SetUse(Place{key, h.Host}, u)
			}
		}
	}
}

// Row is a job or one of its hosts.
type Row struct {
	Place
	// Entry is the job.
	Entry api.JobSummary
	// Pod is the host, zero for the row of a job. The row of a job shows its host 0, if that has a pod.
	Pod api.Host
	// Line is the last line that was printed.
	Line string
	// Use is what the host uses; for a job it is the sum of the hosts, once all are known, and the mean of the duty.
	Use api.Use
}

// Rows returns all rows in their order: the newest job first, each before its hosts. It forgets jobs that are gone for a
// while.
func (m *Model) Rows(now time.Time) []Row {
	maps.DeleteFunc(m.jobs, func(_ Key, k *known) bool { return !k.gone.IsZero() && now.Sub(k.gone) >= stays })
	keys := slices.SortedFunc(maps.Keys(m.jobs), func(a, b Key) int {
		return cmp.Or(m.jobs[b].entry.Created.Compare(m.jobs[a].entry.Created), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Namespace, b.Namespace))
	})
	rows := make([]Row, 0, len(keys))
	for _, key := range keys {
		k := m.jobs[key]
		whole := Row{Place: Place{key, WholeJob}, Entry: k.entry, Line: k.lines[0], Use: k.use()}
		if hosts := k.entry.Workload.Hosts; len(hosts) > 0 && hosts[0].Host == 0 {
			whole.Pod = hosts[0]
		}
		rows = append(rows, whole)
		if !m.opened(key) {
			continue
		}
		for _, h := range k.entry.Workload.Hosts {
			rows = append(rows, Row{Place: Place{key, h.Host}, Entry: k.entry, Pod: h, Line: k.lines[h.Host], Use: k.uses[h.Host]})
		}
	}
	return rows
}

func (m *Model) opened(key Key) bool {
	return len(m.jobs[key].entry.Workload.Hosts) > 1 && m.Hosts != m.toggled[key]
}

// use adds up what the hosts use, once it is known of all, and takes the mean of their duties.
func (k *known) use() api.Use {
	var all api.Use
	cpu, hosts := total(k.uses, func(u api.Use) *float64 { return u.CPU })
	if hosts > 0 && hosts >= k.entry.Hosts {
		all.CPU = &cpu
	}
	memory, hosts := total(k.uses, func(u api.Use) *int64 { return u.Memory })
	if hosts > 0 && hosts >= k.entry.Hosts {
		all.Memory = &memory
	}
	if duty, hosts := total(k.uses, func(u api.Use) *float64 { return u.Duty }); hosts > 0 {
		all.Duty = new(duty / float64(hosts))
	}
	return all
}

// total adds up what is known of the hosts, and counts them.
func total[T int64 | float64](uses map[int]api.Use, of func(api.Use) *T) (sum T, known int) {
	for _, u := range uses {
		if n := of(u); n != nil {
			sum, known = sum+*n, known+1
		}
	}
	return sum, known
}
