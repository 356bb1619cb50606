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
	"github.com/kubectl-kinetic/kinetic/pkg/mapresults"
	"github.com/kubectl-kinetic/kinetic/pkg/records"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// Event is one moment in a job's life.
type Event struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
}

// Description is all that there is to tell about a job.
type Description struct {
	Handle api.Handle
	api.JobDetails
	// Status of the workload.
	Status api.Status
	// End as the store remembers it, nil before it has ended.
	End *api.End
	// Error of the call, nil where it ended well or left no result.
	Error *api.ResultError
	// Warnings are sentences about what the call has lost, and in what its value differs
	// from what it returned, as long as its result is there.
	Warnings []string
	Timeline []Event
	// Hosts are those that have a pod, once the job has ended only those that have
	// ended, too; of a map none are told.
	Hosts []api.Host
	// Inputs are those of a map, nil where Progress is.
	Inputs *mapresults.Progress
	// HasResult says that there is a result to print.
	HasResult bool
	// Pickle is the URL of the result of a job of the Python package, "" for none.
	Pickle string
	// LogBytes, Outputs and OutputBytes count what lies in the store. While the job runs, it
	// has printed more than LogBytes.
	LogBytes    int64
	Outputs     int
	OutputBytes int64

	collected *api.Collected // nil before it was
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
	result, err := optional(j.resultHead(ctx))
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
	attempts, err := j.attempts(ctx)
	if err != nil {
		return d, err
	}
	var workload api.WorkloadDetail
	// The pods of a map are no hosts, and a job that was collected has none.
	if d.Status.Unread == "" && !d.Status.Collected && j.Handle.Map == nil {
		if workload, err = j.Backend.Inspect(ctx, j.Handle, mayBeDisrupted(attempts)); err != nil {
			return d, err
		}
	}
	d.Hosts, d.Timeline = workload.Hosts, timeline(d, attempts, workload.Disruptions)
	if d.Status.State.Ended() && d.Status.UnreleasedHosts == "" {
		d.Hosts = slices.DeleteFunc(d.Hosts, func(h api.Host) bool { return !h.State.Ended() }) // its pods go
	}
	return d, j.measure(ctx, &d)
}

// mayBeDisrupted reports whether there is an attempt, other than the last, that has not said how it
// ended: a disruption may have taken its pods away.
func mayBeDisrupted(attempts []api.Attempt) bool {
	silent := slices.IndexFunc(attempts, func(a api.Attempt) bool { return a.Reason == "" })
	return silent >= 0 && silent < len(attempts)-1
}

// optional turns an object that isn't there into nil.
func optional[T any](doc T, err error) (*T, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &doc, nil
}

// attempts are the starts of the job. A map has none: its pods start each by itself.
func (j *Job) attempts(ctx context.Context) ([]api.Attempt, error) {
	if j.Handle.Map != nil {
		return nil, nil
	}
	return records.Attempts(ctx, j.Store, store.Attempts(j.ID()))
}

// Begun reports a chunk of a map whether a pod has begun with it.
func (j *Job) Begun(ctx context.Context, chunk int) (bool, error) {
	for _, err := range j.Store.List(ctx, store.AttemptsOfChunk(j.ID(), chunk), "") {
		return err == nil, err
	}
	return false, nil
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

// timeline puts what is known in the order in which it happened.
func timeline(d Description, attempts []api.Attempt, losses []api.Disruption) []Event {
	by := "kubectl kinetic " + d.Handle.Client
	if d.Handle.ByPythonTool() {
		by = "the kinetic Python package"
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
	if len(attempts) == 0 && !d.Status.Started.IsZero() { // whose runner records none
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

// forwards are events in their order, none of which is told to be before an earlier
// one: their times are of several clocks, some in whole seconds.
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

// ending says how an attempt ended by its own word: crashed, or told to end.
func ending(a api.Attempt, hosts int) string {
	switch {
	case a.Reason != "":
		return " ended: " + cmp.Or(a.Message, crash(a.Reason))
	case hosts > 1: // whose leader says which of them it was
		return " was interrupted: " + a.Message
	}
	return " was interrupted by a preemption, a drain or a deletion"
}

// lost says of an attempt that has not crashed what took its pods away before the next
// one began, as far as the cluster knows and the attempt has not said itself.
func lost(a api.Attempt, next time.Time, losses []api.Disruption) string {
	if a.Reason != "" {
		return ""
	}
	began := a.Started.Truncate(time.Second) // as the cluster's own times are
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

// crash puts the reason for the end of an attempt into words.
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
