// Package choice finds the jobs that a command line means: by IDs, or by flags that choose jobs.
package choice

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// Flags say which jobs a command means, and where they are looked for.
type Flags struct {
	// Connection leads to the cluster and the store.
	Connection *connect.Flags
	// Local takes the jobs of this machine instead of a cluster's.
	Local bool
	// Last takes the job that the user submitted last.
	Last bool
	// Mine takes only jobs that the user submitted.
	Mine bool
	// Selector, when set, takes only jobs whose labels match it.
	Selector string
}

// Given reports whether any of the flags that choose jobs was given.
func (f *Flags) Given() bool { return f.Last || f.Mine || f.Selector != "" }

// Many reports whether the command line may mean several jobs: then each is printed with its
// ID, however many there are.
func (f *Flags) Many(args []string) bool { return len(args) > 1 || f.Given() && !f.Last }

// Section is the flags that choose jobs, for a command that takes IDs.
func (f *Flags) Section() process.Section {
	s := process.NewSection("Flags instead of IDs")
	s.Flags.BoolVar(&f.Last, "last", false, "The job you submitted last in this namespace.")
	f.FilterVars(s)
	return s
}

// FilterVars adds the flags that choose several jobs to a section.
func (f *Flags) FilterVars(s process.Section) {
	s.Flags.BoolVar(&f.Mine, "mine", false, "Only jobs you submitted.")
	s.Flags.StringVarP(&f.Selector, "selector", "l", "", "Only jobs whose labels match `SELECTOR`, such as app=train.")
}

// ConnectionSection is the flags that say where jobs are looked for.
func (f *Flags) ConnectionSection() process.Section {
	s := f.Connection.Section()
	s.Flags.BoolVar(&f.Local, "local", false, "Use the jobs of this machine instead of a cluster. The full ID of a local job needs no flag.")
	return s
}

// Narrow adds to a filter what the flags say. Its errors are about the flags.
func (f *Flags) Narrow(filter *job.Filter) error {
	if f.Selector != "" {
		if f.Local {
			return process.Usagef("--selector: local jobs have no labels")
		}
		var err error
		if filter.Selector, err = labels.Parse(f.Selector); err != nil {
			return process.Usagef("--selector %q: %w", f.Selector, err)
		}
	}
	if !f.Mine && !f.Last {
		return nil
	}
	if filter.User = job.CurrentUser(); filter.User == "" {
		return errors.New("--mine, --last: the name of your account on this machine is unknown")
	}
	return nil
}

// OneID checks for cobra that one job is named, by its ID or by flags.
func (f *Flags) OneID(sub *cobra.Command, args []string) error {
	if len(args) > 1 {
		return process.Usagef("%s takes one job, got %s", sub.CommandPath(), strings.Join(args, " "))
	}
	return f.SomeIDs(sub, args)
}

// SomeIDs checks for cobra that jobs are named, by their IDs or by flags.
func (f *Flags) SomeIDs(sub *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && f.Given():
		return process.Usagef("%s takes either IDs or --last, --mine and --selector, not both", sub.CommandPath())
	case len(args) == 0 && !f.Given():
		return NoID(sub)
	}
	return CheckIDs(args)
}

// NoID is the error of a command line that names no job.
func NoID(sub *cobra.Command) error {
	return process.Usagef("job ID required: %s; list jobs with kubectl kinetic jobs list, or use --last for your newest", sub.UseLine())
}

// CheckIDs checks that words can be IDs, before anything is contacted.
func CheckIDs(words []string) error {
	for _, word := range words {
		if !job.CanBeID(word) {
			return process.Usagef("%q is not a valid job ID, so nothing was done; list jobs with kubectl kinetic jobs list", word)
		}
	}
	return nil
}
