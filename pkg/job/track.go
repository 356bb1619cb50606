package job

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// PhaseNames are the names of phases, in the order of a host's life: waiting for a machine, for the image, for the packages and
// the data; running; and, once the job has ended, waiting until its value is collected.
func PhaseNames() []string { return []string{"queued", "image", "packages", "run", "collect"} }

const (
	queued = iota
	image
	packages
	run
	collect
)

// PhaseOf returns the phase that a host is in, "" for one that has ended. When the packages are there, only the end of the
// job tells: until then they belong to run.
func PhaseOf(h api.Host) string {
	switch {
	case h.State.Ended():
		return ""
	case h.State == api.Running || !h.Started.IsZero():
		return PhaseNames()[run]
	case h.Scheduled.IsZero():
		return PhaseNames()[queued]
	}
	return PhaseNames()[image]
}

// PhaseOfJob returns the phase that a job of a list is in: that of the host that is least far. It is "" for a job that has
// failed or is gone.
func PhaseOfJob(e api.JobSummary) string {
	switch {
	case e.State == api.Succeeded:
		return PhaseNames()[collect]
	case e.State.Ended():
		return ""
	}
	least := run
	if e.State == api.Pending {
		least = queued
		if len(e.Workload.Hosts) >= max(e.Hosts, 1) {
			least = image
		}
	}
	for _, h := range e.Workload.Hosts {
		if phase := slices.Index(PhaseNames(), PhaseOf(h)); phase >= 0 {
			least = min(least, phase)
		}
	}
	return PhaseNames()[least]
}

// Phase is a part of the life of a host.
type Phase struct {
	// Name is one of PhaseNames.
	Name     string
	From, To time.Time
}

// Track is the life of a host, or of all hosts in an attempt whose pods are gone.
type Track struct {
	Name   string
	Phases []Phase
}

// Tracks returns the attempts and the hosts of a job with their phases, up to now or the job's end. An attempt whose pods are
// gone has only the phases queued, which is all before its start, and run.
func Tracks(d Description, now time.Time) []Track {
	end := cmp.Or(d.Status.Finished, now)
	if d.End != nil {
		end = d.End.Finished
	}
	var tracks []Track
	begin, before := d.Handle.CreatedAt, d.Handle.CreatedAt
	for i, span := range d.Spans(end) {
		name := fmt.Sprintf("attempt %d", i+1)
		if i < len(d.Attempts) {
			name = fmt.Sprintf("attempt %d", d.Attempts[i].Attempt)
		}
		t := trackOf(name, begin, span.To, span.From, span.From, d.calledIn(span))
		tracks, before, begin = append(tracks, t), begin, span.To
	}
	if len(d.Hosts) > 0 { // their pods say more about the last attempt
		if n := len(tracks); n > 0 {
			tracks, begin = tracks[:n-1], before
		}
		for _, h := range d.Hosts {
			last := cmp.Or(h.Finished, end)
			t := trackOf(fmt.Sprintf("host %d", h.Host), begin, last, h.Scheduled, h.Started, d.calledIn(Span{h.Started, last}))
			tracks = append(tracks, t)
		}
	}
	if d.collected != nil && len(tracks) > 0 {
		tracks[len(tracks)-1].add(collect, end, d.collected.Time)
	}
	return tracks
}

// trackOf returns the phases from begin to last. ends are when the first phases ended, zero for what is not known or has not
// happened.
func trackOf(name string, begin, last time.Time, ends ...time.Time) Track {
	t := Track{Name: name}
	next := queued
	for phase, end := range ends {
		if !end.IsZero() {
			begin, next = t.add(phase, begin, end), phase+1
		}
	}
	if next == packages { // when the packages were there is only known once the job has ended
		next = run
	}
	t.add(next, begin, last)
	return t
}

// add adds a phase, unless it is empty, and returns its end.
func (t *Track) add(phase int, from, to time.Time) time.Time {
	if !to.After(from) {
		return from
	}
	t.Phases = append(t.Phases, Phase{PhaseNames()[phase], from, to})
	return to
}

// calledIn returns when the call of the last attempt began, if that is known and the attempt is the one that ran then.
func (d Description) calledIn(ran Span) time.Time {
	if d.End == nil || ran.From.IsZero() || !d.End.Called.After(ran.From) || d.End.Called.After(ran.To) {
		return time.Time{}
	}
	return d.End.Called
}

// Span is the time from the start of an attempt to its end.
type Span struct{ From, To time.Time }

// Spans returns when each attempt of the job ran. One that could not record its end has lasted until its pod was
// lost or, if the cluster doesn't know when that was, until the next began; the last one until end.
func (d Description) Spans(end time.Time) []Span {
	var all []Span
	for i, a := range d.Attempts {
		last := end
		if i < len(d.Attempts)-1 {
			last = lostAt(d.Disruptions, a.Started, d.Attempts[i+1].Started)
		}
		all = append(all, Span{a.Started, cmp.Or(a.Finished, last)})
	}
	if len(all) == 0 && !d.Status.Started.IsZero() {
		all = append(all, Span{d.Status.Started, end})
	}
	return all
}

// lostAt returns when a pod was lost between the starts of two attempts, or the second if that is not known.
func lostAt(losses []api.Disruption, began, next time.Time) time.Time {
	for _, l := range losses {
		if l.Time.After(began) && l.Time.Before(next) {
			return l.Time
		}
	}
	return next
}
