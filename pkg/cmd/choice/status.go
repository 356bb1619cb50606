package choice

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// StateNames lists the states of jobs for people.
func StateNames() string { return strings.Join(states(), ", ") }

func states() []string {
	var names []string
	for _, s := range api.States() {
		names = append(names, string(s))
	}
	return names
}

// statusWords are the values of --status: all words that lists show in the column STATUS.
func statusWords() []string { return append(states(), api.CancelledWord) }

// StatusVar adds --status to a section, with completion of its values. usage is what its help
// begins with, such as "Only jobs with status `STATE`".
func StatusVar(s *process.Section, words *[]string, usage string) {
	s.Flags.StringSliceVar(words, "status", nil, usage+": "+strings.Join(statusWords(), ", ")+".")
	s.Completions = map[string]cobra.CompletionFunc{"status": cobra.FixedCompletions(statusWords(), cobra.ShellCompDirectiveNoFileComp)}
}

// ByStatus is the filter of the jobs that --status chooses by some words, in any case.
func ByStatus(words []string) (job.Filter, error) {
	var f job.Filter
	for _, w := range words {
		word := strings.ToUpper(w)
		switch {
		case word == api.CancelledWord:
			f.Cancelled = true
		case slices.Contains(states(), word):
			f.States = append(f.States, api.State(word))
		default:
			return f, process.OneOf("--status", w, statusWords())
		}
	}
	return f, nil
}
