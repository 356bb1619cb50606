package status

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// costText says in a line what jobs have cost, and on which days.
func costText(c price.Breakdown) string {
	days := fmt.Sprintf("from %s to %s UTC", c.From, c.To)
	if c.Jobs == 0 {
		return "no job that the cluster still has used accelerators " + days
	}
	text := fmt.Sprintf("%s on demand, %s on spot, for %s that the cluster still has, %s", amount(c.OnDemand), amount(c.Spot), human.Count(c.Jobs, "job"), days)
	switch c.Bound {
	case price.AtMost:
		text += "; at most, because some may have waited in this time"
	case price.AtLeast:
		text += "; at least, because earlier pods of some may be gone"
	}
	return text + " (" + price.Words(false, c.Bases...) + ")"
}

func amount(s price.Sum) string {
	if text := s.String(); text != unknown {
		return text
	}
	return "an unknown price"
}

// writeCost writes a table for each way to add up the cost of jobs.
func writeCost(out io.Writer, c price.Breakdown) error {
	var people, pools, days [][]string
	for _, t := range c.Persons {
		people = append(people, append([]string{orDash(t.Person)}, cells(t.Total)...))
	}
	for _, t := range c.Pools {
		pools = append(pools, append([]string{orDash(t.Pool), t.Accelerator}, cells(t.Total)...))
	}
	for _, t := range c.Days {
		days = append(days, append([]string{t.Day}, cells(t.Total)...))
	}
	for _, table := range []struct {
		headers []string
		rows    [][]string
	}{{[]string{"person"}, people}, {[]string{"pool", "accelerator"}, pools}, {[]string{"day"}, days}} {
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
		t := ui.NewTable(out, append(table.headers, "jobs", "chip-hours", "on demand", "spot")...)
		for _, row := range table.rows {
			t.Row(row...)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// cells returns the columns of a total.
func cells(t price.Total) []string {
	return []string{strconv.Itoa(t.Jobs), strconv.FormatFloat(t.ChipHours, 'f', 1, 64), t.OnDemand.String(), t.Spot.String()}
}
