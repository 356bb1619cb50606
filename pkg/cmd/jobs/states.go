package jobs

import (
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// stateNames returns the states of jobs, separated by commas.
func stateNames() string { return strings.Join(states(), ", ") }

func states() []string {
	var names []string
	for _, s := range api.States() {
		names = append(names, string(s))
	}
	return names
}

// statusWords returns the values of --status, which are those of the column STATUS of a list.
func statusWords() []string { return append(states(), api.CancelledWord) }

// statusVar adds --status and its completion to a section. usage is the beginning of its help,
// such as "Only jobs with status `STATE`".
func statusVar(s cli.Section, words *[]string, usage string) {
	s.Flags.StringSliceVar(words, "status", nil, usage+": "+strings.Join(statusWords(), ", ")+".")
	s.Offer("status", statusWords()...)
}

// byStatus returns a filter for the values of --status, which may be in lower case.
func byStatus(words []string) (job.Filter, error) {
	var f job.Filter
	for _, w := range words {
		word := strings.ToUpper(w)
		switch {
		case word == api.CancelledWord:
			f.Cancelled = true
		case slices.Contains(states(), word):
			f.States = append(f.States, api.State(word))
		default:
			return f, cli.OneOf("--status", w, statusWords())
		}
	}
	return f, nil
}
