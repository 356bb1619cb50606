package choice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
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

// StatusVar adds --status to a section, with completion of its values.
func StatusVar(s *process.Section, words *[]string, usage string) {
	s.Flags.StringSliceVar(words, "status", nil, usage)
	s.Completions = map[string]cobra.CompletionFunc{"status": cobra.FixedCompletions(states(), cobra.ShellCompDirectiveNoFileComp)}
}

// ParseStates reads the values of --status, in any case.
func ParseStates(words []string) ([]api.State, error) {
	var found []api.State
	for _, w := range words {
		s := api.State(strings.ToUpper(w))
		if !slices.Contains(api.States(), s) {
			msg := fmt.Sprintf("--status %q: expected one of %s", w, StateNames())
			if near := nearest.Sentence(w, states()); near != "" {
				msg += "; " + near
			}
			return nil, process.Usagef("%s", msg)
		}
		found = append(found, s)
	}
	return found, nil
}
