package top

import (
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Selected returns the selected row; false if there are no rows.
func (m *Model) Selected(now time.Time) (Row, bool) {
	rows := m.Rows(now)
	if len(rows) == 0 {
		return Row{}, false
	}
	m.settle(rows)
	return rows[m.index], true
}

// Move selects a row some rows down, or up for a negative number, as far as there are any.
func (m *Model) Move(down int, now time.Time) {
	rows := m.Rows(now)
	if len(rows) == 0 {
		return
	}
	m.settle(rows)
	before := m.index
	m.index = min(max(m.index+down, 0), len(rows)-1)
	m.line += m.index - before
	m.at, m.moved = rows[m.index].Place, true
}

// Page selects a row some screens down.
func (m *Model) Page(down int, now time.Time) { m.Move(down*max(m.height-1, 1), now) }

// MoveToEnd selects the first row, or the last.
func (m *Model) MoveToEnd(last bool, now time.Time) {
	rows := len(m.Rows(now))
	if !last {
		rows = -rows
	}
	m.Move(rows, now)
	m.moved = last // from the first row on, new jobs come on top again
}

// Toggle shows the hosts of the selected job, or no longer. It reports whether the job has several.
func (m *Model) Toggle(now time.Time) bool {
	row, found := m.Selected(now)
	if !found || len(row.Entry.Workload.Hosts) < 2 {
		return false
	}
	m.toggled[row.Key] = !m.toggled[row.Key]
	if row.Host != WholeJob {
		m.line -= 1 + slices.IndexFunc(row.Entry.Workload.Hosts, func(h api.Host) bool { return h.Host == row.Host })
		m.at = Place{row.Key, WholeJob}
	}
	return true
}

// settle finds the selected row among rows that have changed. Until the user has moved, it is the first. If it is gone, it
// is that of its job, or the one that is in its place.
func (m *Model) settle(rows []Row) {
	if !m.moved {
		m.index, m.line, m.at = 0, 0, rows[0].Place
		return
	}
	index := slices.IndexFunc(rows, func(r Row) bool { return r.Place == m.at })
	if index < 0 {
		index = slices.IndexFunc(rows, func(r Row) bool { return r.Key == m.at.Key })
	}
	if index < 0 {
		index = min(m.index, len(rows)-1)
	}
	m.index, m.at = index, rows[index].Place
}

// window returns the first row of those on the screen. The selected row stays on its line of the screen while rows come
// and go above it.
func (m *Model) window(rows []Row, height int) int {
	m.height = height
	if len(rows) == 0 {
		return 0
	}
	m.settle(rows)
	m.line = min(max(m.line, 0), height-1, m.index)
	first := max(min(m.index-m.line, len(rows)-height), 0)
	m.line = m.index - first
	return first
}
