package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/fanout"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// choice is the flags that choose jobs in place of IDs.
type choice struct {
	last, mine bool
	selector   string
}

// given reports whether any of the flags was given.
func (o choice) given() bool { return o.last || o.mine || o.selector != "" }

// section is the flags, for a command that takes IDs.
func (o *choice) section() process.Section {
	s := process.NewSection("Flags instead of IDs")
	s.Flags.BoolVar(&o.last, "last", false, "The job you submitted last in this namespace.")
	o.filterVars(s)
	return s
}

// filterVars adds the flags that choose several jobs.
func (o *choice) filterVars(s process.Section) {
	s.Flags.BoolVar(&o.mine, "mine", false, "Only jobs you submitted.")
	s.Flags.StringVarP(&o.selector, "selector", "l", "", "Only jobs whose labels match `SELECTOR`, such as app=train.")
}

// applyTo completes a filter with what the flags say.
func (o choice) applyTo(f *job.Filter, local bool) error {
	if o.selector != "" {
		if local {
			return process.Usagef("--selector: local jobs have no labels")
		}
		var err error
		if f.Selector, err = labels.Parse(o.selector); err != nil {
			return process.Usagef("--selector %q: %w", o.selector, err)
		}
	}
	if !o.mine && !o.last {
		return nil
	}
	if f.User = job.CurrentUser(); f.User == "" {
		return errors.New("--mine, --last: the name of your account on this machine is unknown")
	}
	return nil
}

// noID is the error of a command line that names no job.
func noID(sub *cobra.Command) error {
	return process.Usagef("job ID required: %s; list jobs with kubectl kinetic jobs list, or use --last for your newest", sub.UseLine())
}

// oneID checks that one job is named, by its ID or by flags.
func (c *command) oneID(sub *cobra.Command, args []string) error {
	if len(args) > 1 {
		return process.Usagef("%s takes one job, got %s", sub.CommandPath(), strings.Join(args, " "))
	}
	return c.someIDs(sub, args)
}

// someIDs checks that jobs are named, by their IDs or by flags.
func (c *command) someIDs(sub *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && c.choice.given():
		return process.Usagef("%s takes either IDs or --last, --mine and --selector, not both", sub.CommandPath())
	case len(args) == 0 && !c.choice.given():
		return noID(sub)
	}
	return checkIDs(args)
}

// checkIDs checks that words can be IDs, before anything is contacted.
func checkIDs(words []string) error {
	for _, word := range words {
		if !job.CanBeID(word) {
			return process.Usagef("%q is not a valid job ID, so nothing was done; list jobs with kubectl kinetic jobs list", word)
		}
	}
	return nil
}

// severalWanted reports whether the command line may name several jobs: then each is printed
// with its ID, however many there are.
func (c *command) severalWanted(args []string) bool {
	return len(args) > 1 || c.choice.given() && !c.choice.last
}

// one finds the job that the arguments or the flags name.
func (c *command) one(ctx context.Context, args []string) (*job.Job, error) {
	if len(args) == 1 {
		return c.attach(ctx, args[0])
	}
	jobs, failed, err := c.flagged(ctx, job.Filter{})
	switch {
	case err != nil:
		return nil, err
	case len(failed) > 0:
		return nil, errors.Join(failed...)
	case len(jobs) == 1:
		return jobs[0], nil
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.ID())
	}
	return nil, process.Usagef("%d jobs match, but this command takes one: %s", len(jobs), strings.Join(ids, ", "))
}

// several finds the jobs that the arguments or the flags name. failed are the errors of those
// that can't be found. Of a single ID that is the last result.
func (c *command) several(ctx context.Context, ids []string) (found []*job.Job, failed []error, err error) {
	switch len(ids) {
	case 0:
		return c.flagged(ctx, job.Filter{})
	case 1:
		j, err := c.attach(ctx, ids[0])
		return []*job.Job{j}, nil, err
	}
	jobs, errs := make([]*job.Job, len(ids)), make([]error, len(ids))
	var others []string
	var at []int
	for i, id := range ids {
		if jobs[i] = c.localJob(ctx, id); jobs[i] == nil {
			others, at = append(others, id), append(at, i)
		}
	}
	if len(others) > 0 {
		rest, unfound := c.attachEach(ctx, others)
		for k, i := range at {
			jobs[i], errs[i] = rest[k], unfound[k]
		}
	}
	for i, j := range jobs {
		switch {
		case errs[i] != nil:
			failed = append(failed, errs[i])
		case !slices.ContainsFunc(found, func(other *job.Job) bool { return other.ID() == j.ID() }):
			found = append(found, j)
		}
	}
	return found, failed, nil
}

// attachEach finds jobs of the registry, or of the store where there is no cluster.
func (c *command) attachEach(ctx context.Context, ids []string) ([]*job.Job, []error) {
	registry, err := c.registry()
	if err == nil {
		return registry.AttachEach(ctx, ids)
	}
	jobs, errs := make([]*job.Job, len(ids)), make([]error, len(ids))
	for i, id := range ids {
		if jobs[i] = c.storedJob(ctx, id, err); jobs[i] == nil {
			errs[i] = ofJob(id, err)
		}
	}
	return jobs, errs
}

// flagged finds the jobs that the flags and a filter choose, the newest first. That there is
// none is an error.
func (c *command) flagged(ctx context.Context, f job.Filter) (found []*job.Job, failed []error, err error) {
	if err := c.choice.applyTo(&f, c.local); err != nil {
		return nil, nil, err
	}
	registry, err := c.registry()
	if err != nil {
		return nil, nil, err
	}
	if c.choice.last {
		j, err := registry.Newest(ctx, f)
		if errors.Is(err, job.ErrNoJob) {
			err = fmt.Errorf("%w of %s%s", err, f.User, whereOf(registry))
		}
		return []*job.Job{j}, nil, err
	}
	entries, unread := registry.Entries(ctx, f, api.ListStates)
	if len(entries) == 0 && unread != nil {
		return nil, nil, unread
	}
	if len(entries) == 0 {
		return nil, nil, fmt.Errorf("%w%s", job.ErrNoJob, whereOf(registry))
	}
	found, failed = fanout.Collect(atATime, entries, func(e api.JobSummary) (*job.Job, error) { return registry.Open(ctx, e) })
	if unread != nil {
		failed = append(failed, unread)
	}
	return found, failed, nil
}

// whereOf says where the jobs of a registry are: " in namespace ml".
func whereOf(registry job.Registry) string {
	switch {
	case registry.Kind == api.BackendLocal:
		return " on this machine"
	case registry.Namespace == "":
		return " in any namespace"
	default:
		return " in namespace " + registry.Namespace
	}
}

// each calls do for all jobs, some at the same time, and returns what it returns, in order.
func each[T any](jobs []*job.Job, do func(*job.Job) (T, error)) ([]T, []error) {
	results, errs := make([]T, len(jobs)), make([]error, len(jobs))
	fanout.Each(atATime, jobs, func(i int, j *job.Job) {
		var err error
		if results[i], err = do(j); err != nil {
			errs[i] = ofJob(j.ID(), err)
		}
	})
	return results, errs
}

// ofJob returns an error that names its job: err itself where its text begins so already.
func ofJob(id string, err error) error {
	name := "job " + id
	if text := err.Error(); strings.HasPrefix(text, name+":") || strings.HasPrefix(text, name+" ") {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// localHint says how many local jobs there are, for a list of a cluster's jobs that is empty.
func localHint(registry job.Registry) string {
	if registry.Kind == api.BackendLocal {
		return ""
	}
	switch n := backend.LocalJobs(); n {
	case 0:
		return ""
	case 1:
		return "; 1 local job exists: add --local"
	default:
		return fmt.Sprintf("; %s exist: add --local", ui.Count(n, "local job"))
	}
}
