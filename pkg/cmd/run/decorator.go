package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// settled returns a function that reports whether a parameter of a decorator could not change the job: its flag was typed, the
// job asks for spot capacity anyway, or a local job ignores it.
func (f *flags) settled(c *cobra.Command, spot, local bool) func(flag string) bool {
	same := map[string][]string{"image": {"container-image"}, "local": {"backend"}, "backend": {"local"}}
	return func(flag string) bool {
		if flag == "spot" && spot {
			return true
		}
		return slices.ContainsFunc(append(same[flag], flag), c.Flags().Changed) || local && slices.Contains(f.podOnly, flag)
	}
}

// flagsOfParameters returns the flags that the parameters of @kinetic.run become, "" for those that have none.
func flagsOfParameters() map[string]string {
	flags := map[string]string{}
	for _, p := range runner.Parameters() {
		flags[p.Name] = p.Flag
	}
	return flags
}

// unusedParameters returns a note about the parameters of the decorator of a TARGET that this command does not use, with flags in
// their place.
func unusedParameters(target string, given []call.Parameter, settled func(flag string) bool) []string {
	if len(given) == 0 {
		return nil
	}
	var names, words []string
	flags := flagsOfParameters()
	for _, p := range given {
		flag := flags[p.Name]
		off := p.Value != nil && *p.Value == "false"
		if off || p.Name == "logs" || flag != "" && settled(flag) {
			continue
		}
		names = append(names, p.Name)
		if flag != "" && p.Value != nil {
			words = append(words, typed(flag, *p.Value))
		}
	}
	if names == nil {
		return nil
	}
	function := target[strings.LastIndexByte(target, ':')+1:]
	note := fmt.Sprintf("this command does not use the parameters of @kinetic.run on %s: %s", function, strings.Join(names, ", "))
	if words != nil {
		note += "; to use them, add " + strings.Join(words, " ")
	}
	return []string{note}
}

func typed(flag, value string) string {
	switch {
	case flag == "accelerator":
		return "-a " + human.Quote(value)
	case value == "true":
		return "--" + flag
	default:
		return "--" + flag + " " + human.Quote(value)
	}
}
