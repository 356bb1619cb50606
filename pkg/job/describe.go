package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// Event is an event in a job's life.
type Event struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
}

// Description is everything that is known about a job.
type Description struct {
	Handle api.Handle
	api.JobDetails
	// Status is what Job.Status returns.
	Status api.Status
	// End is the end in the store, nil before the job has ended.
	End *api.End
	// Error is the error of the call, nil if it succeeded or left no result.
	Error *api.ResultError
	// Warnings say what the call has lost, and how its stored value differs from what it
	// returned. They are deleted with the result.
	Warnings []string
	Timeline []Event
	// Attempts are the starts of the call, and Disruptions the losses of pods, as far as they are known.
	Attempts    []api.Attempt
	Disruptions []api.Disruption
	// Packages are what is installed for the job, as far as that is known.
	Packages []api.Package
	// Hosts are the hosts that have a pod; once the job has ended, only those that have
	// ended too. A map has none.
	Hosts []api.Host
	// Parts are those of the Pathways runtime, as Hosts are.
	Parts []api.Part
	// Inputs is what Job.Progress returns.
	Inputs *records.MapProgress
	// HasResult says that there is a result to print.
	HasResult bool
	// Pickle is the URL of the result of a job of keras-kinetic, "" if there is none.
	Pickle string
	// LogBytes, Outputs and OutputBytes count what is in the store. A job that runs has
	// printed more than LogBytes.
	LogBytes    int64
	Outputs     int
	OutputBytes int64

	collected *api.Collected // nil if the job was not collected
}

// Describe gathers everything that is known about the job.
func (j *Job) Describe(ctx context.Context) (Description, error) {
	d := Description{Handle: j.Handle, JobDetails: j.Handle.Details()}
	var err error
	if d.Status, err = j.Status(ctx); err != nil {
		return d, err
	}
	if d.End, err = optional(j.end(ctx)); err != nil {
		return d, err
	}
	result, err := optional(j.ResultHead(ctx))
	if err != nil {
		return d, err
	}
	if result != nil {
		d.HasResult, d.Error, d.Warnings = result.OK, result.Error, result.Warnings
	}
	if d.Inputs, err = j.Progress(ctx); err != nil {
		return d, err
	}
	if d.Status.Collected {
		record, err := optional(j.collected(ctx))
		if err != nil {
			return d, err
		}
		d.collected = record
	}
	if d.Packages, err = j.packages(ctx); err != nil {
		return d, err
	}
	attempts, err := j.attempts(ctx)
	if err != nil {
		return d, err
	}
	var workload api.WorkloadDetail
	// The pods of a map are not hosts, and a collected job has no pods.
	if d.Status.Unread == "" && !d.Status.Collected && j.Handle.Map == nil {
		if workload, err = j.Backend.Inspect(ctx, j.Handle, mayBeDisrupted(attempts)); err != nil {
			return d, err
		}
	}
	d.Attempts, d.Disruptions = attempts, workload.Disruptions
	d.Hosts, d.Parts, d.Timeline = workload.Hosts, workload.Parts, timeline(d, attempts, workload.Disruptions)
	if d.Status.State.Ended() && d.Status.UnreleasedHosts == "" {
		d.Hosts = slices.DeleteFunc(d.Hosts, func(h api.Host) bool { return !h.State.Ended() }) // its pods are being deleted
		d.Parts = slices.DeleteFunc(d.Parts, func(p api.Part) bool { return !p.State.Ended() })
	}
	return d, j.measure(ctx, &d)
}

// mayBeDisrupted reports whether an attempt before the last one has not recorded how it ended: a
// disruption may have removed its pods.
func mayBeDisrupted(attempts []api.Attempt) bool {
	silent := slices.IndexFunc(attempts, func(a api.Attempt) bool { return a.Reason == "" })
	return silent >= 0 && silent < len(attempts)-1
}

// optional returns nil for an object that does not exist.
func optional[T any](doc T, err error) (*T, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &doc, nil
}

// packages returns what is installed for the job: what its client chose, or else its pod.
func (j *Job) packages(ctx context.Context) ([]api.Package, error) {
	if len(j.Handle.Packages) > 0 || j.Handle.EnvironmentSHA256 == "" {
		return j.Handle.Packages, nil
	}
	type list struct {
		Wheels []api.Package `json:"wheels"`
	}
	chosen, err := optional(records.Read[list](ctx, j.Store, store.Environment(j.ID())))
	if chosen == nil || err != nil {
		return nil, err
	}
	return chosen.Wheels, nil
}

// attempts returns the attempts of the job. A map has none: each of its pods starts by itself.
func (j *Job) attempts(ctx context.Context) ([]api.Attempt, error) {
	if j.Handle.Map != nil {
		return nil, nil
	}
	return records.Attempts(ctx, j.Store, store.Attempts(j.ID()))
}

// Begun reports whether a pod has started to compute a chunk of a map.
func (j *Job) Begun(ctx context.Context, chunk int) (bool, error) {
	return store.HasAny(ctx, j.Store, store.AttemptsOfChunk(j.ID(), chunk))
}

func (j *Job) measure(ctx context.Context, d *Description) error {
	for o, err := range j.objects(ctx) {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(o.Name, store.Logs(j.ID())):
			d.LogBytes += o.Size
		case j.isOutput(o):
			d.Outputs++
			d.OutputBytes += o.Size
		case j.Handle.ByPythonTool() && o.Name == store.PythonResult(j.ID()):
			d.Pickle = j.Store.URL() + "/" + o.Name
		}
	}
	return nil
}

// timeline returns what is known, in the order in which it happened.
func timeline(d Description, attempts []api.Attempt, losses []api.Disruption) []Event {
	by := "kubectl kinetic " + d.Handle.Client
	if d.Handle.ByPythonTool() {
		by = "keras-kinetic"
	}
	events := []Event{{d.Handle.CreatedAt, "submitted by " + by}}
	var before api.Attempt
	for i, a := range attempts {
		what := "started"
		if i > 0 {
			what = "started again, attempt " + strconv.Itoa(a.Attempt) + lost(before, a.Started, losses)
		}
		before = a
		events = append(events, Event{a.Started, what})
		// The end of the job says more than that its last attempt was interrupted.
		if over := d.End == nil || i < len(attempts)-1; a.Reason != "" || over && !a.Finished.IsZero() {
			events = append(events, Event{a.Finished, "attempt " + strconv.Itoa(a.Attempt) + ending(a, d.Handle.Hosts)})
		}
	}
	if len(attempts) == 0 && !d.Status.Started.IsZero() { // its runner records no attempts
		events = append(events, Event{d.Status.Started, "started"})
	}
	switch {
	case d.End != nil:
		events = append(events, Event{d.End.Finished, d.End.Status().Outcome()})
	case !d.Status.Finished.IsZero():
		events = append(events, Event{d.Status.Finished, d.Status.Outcome()})
	}
	if d.collected != nil {
		events = append(events, Event{d.collected.Time, "collected"})
	}
	return forwards(events)
}

// forwards changes times so that no event is before an earlier one: the times come from
// several clocks, and some are in whole seconds.
func forwards(events []Event) []Event {
	var latest time.Time
	for i, e := range events {
		if e.Time.Before(latest) {
			events[i].Time = latest
		}
		latest = events[i].Time
	}
	return events
}

// ending says how an attempt ended according to its own record: it crashed, or was told to end.
func ending(a api.Attempt, hosts int) string {
	switch {
	case a.Reason != "":
		return " ended: " + cmp.Or(a.Message, crash(a.Reason))
	case hosts > 1: // the leader's message says which of them it was
		return " was interrupted: " + a.Message
	}
	return " was interrupted by a preemption, a drain or a deletion"
}

// lost says why an attempt that did not crash lost its pods before the next one began, if
// the cluster knows that or the attempt has not recorded its end.
func lost(a api.Attempt, next time.Time, losses []api.Disruption) string {
	if a.Reason != "" {
		return ""
	}
	began := a.Started.Truncate(time.Second) // like the cluster's times
	for _, l := range losses {
		if !l.Time.Before(began) && l.Time.Before(next) {
			return "; attempt " + strconv.Itoa(a.Attempt) + " was lost: " + l.Why
		}
	}
	if !a.Finished.IsZero() {
		return ""
	}
	return "; attempt " + strconv.Itoa(a.Attempt) + " was deleted, or lost its node"
}

func crash(r api.Reason) string {
	switch r {
	case api.Killed:
		return "killed, probably out of memory"
	case api.RunnerFailure:
		return "the runner or the store failed"
	default:
		return string(r)
	}
}
