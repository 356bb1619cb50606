package jobs

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// jobFlags choose jobs, and say where to search for them.
type jobFlags struct {
	// Connection chooses the cluster and the store.
	Connection *connect.Flags
	// Local chooses the jobs of this machine instead of a cluster's.
	Local bool
	// AllNamespaces searches all namespaces of the cluster.
	AllNamespaces bool
	// Last chooses the newest of the user's jobs.
	Last bool
	// Mine chooses only jobs that the user submitted.
	Mine bool
	// Selector, unless it is empty, chooses only jobs whose labels match.
	Selector string
}

// Any reports whether any of the flags that choose jobs was given.
func (f *jobFlags) Any() bool { return f.Last || f.Mine || f.Selector != "" }

// MayBeSeveral reports whether the command line can name several jobs. Output then includes the ID of each
// job, even if only one is found.
func (f *jobFlags) MayBeSeveral(args []string) bool { return len(args) > 1 || f.Any() && !f.Last }

// Section returns the flags that choose jobs, for a command that takes IDs.
func (f *jobFlags) Section() cli.Section {
	s := cli.NewSection("Flags instead of IDs")
	s.Flags.BoolVar(&f.Last, "last", false, "The job you submitted last in this namespace.")
	f.FilterVars(s)
	return s
}

// FilterVars adds the flags that choose several jobs to a section.
func (f *jobFlags) FilterVars(s cli.Section) {
	s.Flags.BoolVar(&f.Mine, "mine", false, "Only jobs you submitted.")
	s.Flags.StringVarP(&f.Selector, "selector", "l", "", "Only jobs whose labels match `SELECTOR`, such as app=train.")
}

// ConnectionSection returns the flags that say where to search for jobs.
func (f *jobFlags) ConnectionSection() cli.Section {
	s := f.Connection.Section()
	s.Flags.BoolVar(&f.Local, "local", false, "Use the jobs of this machine instead of a cluster. The full ID of a local job needs no flag, unless one chooses a cluster.")
	return s
}

// StoreOf returns the URL of the store of a registry if --store was typed, which then chooses only
// jobs in it: whoever types it to delete jobs means no others. It returns "" otherwise.
func (f *jobFlags) StoreOf(registry job.Registry) string {
	if f.Connection.Target.Store == "" {
		return ""
	}
	return registry.Store.URL()
}

// ApplyTo adds the choice of the other flags to a filter.
func (f *jobFlags) ApplyTo(filter *job.Filter) error {
	if f.Selector != "" {
		if f.Local {
			return cli.Usagef("--selector: local jobs have no labels")
		}
		var err error
		if filter.Selector, err = labels.Parse(f.Selector); err != nil {
			return cli.Usagef("--selector %q: %w", f.Selector, err)
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

// OneID is a cobra.PositionalArgs for commands that take one job, by its ID or by flags.
func (f *jobFlags) OneID(sub *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("%s takes one job, got %s", sub.CommandPath(), strings.Join(args, " "))
	}
	return f.SomeIDs(sub, args)
}

// SomeIDs is a cobra.PositionalArgs for commands that take jobs, by their IDs or by flags.
func (f *jobFlags) SomeIDs(sub *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && f.Any():
		return cli.Usagef("%s takes either IDs or --last, --mine and --selector, not both", sub.CommandPath())
	case len(args) == 0 && !f.Any():
		return f.NoID(sub)
	}
	return f.CheckIDs(args)
}

// NoID returns the error for a command line that names no job.
func (f *jobFlags) NoID(sub *cobra.Command) error {
	return cli.Usagef("job ID required: %s; list jobs with %s, or use --last for your newest", sub.UseLine(), f.listCommand())
}

// listCommand returns the command that lists the jobs among which an ID would be looked for.
func (f *jobFlags) listCommand() string {
	if f.Local {
		return "kubectl kinetic jobs list --local"
	}
	return "kubectl kinetic jobs list"
}

// CheckIDs checks the form of IDs, without contacting anything.
func (f *jobFlags) CheckIDs(words []string) error {
	for _, word := range words {
		if !job.CanBeID(word) {
			return cli.Usagef("%q is not a valid job ID, so nothing was done; list jobs with %s", word, f.listCommand())
		}
	}
	return nil
}
