package status

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

func (s status) write(streams genericiooptions.IOStreams, label string) error {
	out := streams.Out
	var facts strings.Builder
	lines := ui.NewTable(&facts, 2)
	mode := ""
	if s.Autopilot {
		mode = " Autopilot,"
	}
	lines.Row("cluster", fmt.Sprintf("%s in %s of project %s: %s,%s Kubernetes %s", s.Cluster, s.Zone, s.Project, strings.ToLower(s.State), mode, s.Version))
	lines.Row("jobs", s.jobsText())
	for _, b := range s.Buckets {
		lines.Row("bucket", b.Bucket+": "+sizeText(b))
	}
	lines.Row("nodes", s.nodesText())
	if s.Cost != nil {
		lines.Row("cost", costText(*s.Cost))
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	if _, err := io.WriteString(out, ui.WrapBelow(ui.Detect(out), len("cluster   "), facts.String())); err != nil {
		return err
	}
	for _, e := range s.Errors {
		fmt.Fprintf(streams.ErrOut, "warning: %s\n", ui.Clean(e))
	}
	if len(s.Pools) > 0 {
		if err := s.writePools(out); err != nil {
			return err
		}
	}
	if s.Cost == nil || s.Cost.Jobs == 0 {
		return nil
	}
	if err := writePersons(out, s.Cost.Persons); err != nil {
		return err
	}
	if slices.ContainsFunc(s.Cost.Persons, func(t price.PersonTotal) bool { return t.Person == "" }) {
		fmt.Fprintf(streams.ErrOut, "some jobs have no label %s, so their owner is unknown; set it with: kubectl kinetic run --label %s=NAME\n", label, label)
	}
	return nil
}

func sizeText(s google.Size) string {
	switch {
	case s.Bytes == nil && s.Unknown != "":
		return "size not known: " + ui.Clean(s.Unknown)
	case s.Bytes == nil:
		return "size not known"
	}
	text := human.Bytes(*s.Bytes) + " in " + human.Count(*s.Objects, "object")
	if s.More {
		return "more than " + text
	}
	return text
}

func (s status) jobsText() string {
	running, waiting := unknown, unknown
	if s.Running != nil {
		running = strconv.Itoa(len(s.Running))
	}
	if s.Waiting != nil {
		waiting = strconv.Itoa(len(s.Waiting))
	}
	return running + " running, " + waiting + " waiting"
}

func (s status) nodesText() string {
	switch {
	case s.Autopilot:
		return "GKE's own, which Autopilot bills by what pods request: their price is not known"
	case s.PerHour == nil:
		return "not known"
	case !slices.ContainsFunc(s.Pools, func(p poolStatus) bool { return *p.Nodes > 0 }):
		return "none"
	}
	text := s.PerHour.String()
	if text == unknown {
		return "their price is not known"
	}
	text += " an hour"
	if idle := s.IdlePerHour.String(); idle == unknown {
		text += ", and some are idle"
	} else {
		text += ", " + idle + " of it for idle ones"
	}
	return text + " (" + price.Words(false, s.Bases...) + ")"
}

func (s status) writePools(out io.Writer) error {
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	columns := ui.Columns("pool", "accelerator", "capacity", "nodes", "min", "max", "jobs", "usd/h", "idle")
	for i, c := range columns {
		columns[i].Varies = slices.Contains([]string{"capacity", "min", "max"}, c.Header)
		columns[i].Spare, columns[i].Text = columns[i].Varies, c.Header == "pool"
	}
	pools := ui.NewFitted(out, ui.Detect(out), true, columns...)
	for _, p := range s.Pools {
		perHour, idle := unknown, unknown
		if p.PricePerHour != nil {
			perHour = strconv.FormatFloat(*p.PricePerHour, 'f', 2, 64)
		}
		if p.Idle {
			idle = "idle"
		}
		pools.Row(p.Name, cmp.Or(p.Accelerator, "cpu"), p.capacity, number(p.Nodes), strconv.Itoa(p.Min), strconv.Itoa(p.Max), number(p.Jobs), perHour, idle)
	}
	return pools.Flush()
}

func costText(c price.Breakdown) string {
	days := fmt.Sprintf("from %s to %s UTC", c.From, c.To)
	if c.Jobs == 0 {
		return "the jobs still in the cluster used no accelerators " + days
	}
	text := fmt.Sprintf("%s on demand, %s on spot, for %s still in the cluster, %s", amount(c.OnDemand), amount(c.Spot), human.Count(c.Jobs, "job"), days)
	if c.Bound != price.About {
		text += ", " + string(c.Bound)
	}
	return text + " (" + price.Words(false, c.Bases...) + ")"
}

func amount(s price.Sum) string {
	if text := s.String(); text != unknown {
		return text
	}
	return "an unknown price"
}

func writePersons(out io.Writer, persons []price.PersonTotal) error {
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	t := ui.NewFitted(out, ui.Detect(out), true, ui.Columns("person", "jobs", "chip-hours", "on demand", "spot")...)
	for _, p := range persons {
		t.Row(cmp.Or(p.Person, unknown), strconv.Itoa(p.Jobs), strconv.FormatFloat(p.ChipHours, 'f', 1, 64), p.OnDemand.String(), p.Spot.String())
	}
	return t.Flush()
}

// unknown stands in a table for what is not known or not there.
const unknown = "-"

func number(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}
