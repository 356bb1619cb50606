package run

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
)

// completeTarget offers the functions of a Python file whose whole name was typed; before that, shells
// offer files.
func completeTarget(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	where, begin, isFunction := strings.Cut(word, ":")
	cwd, err := os.Getwd()
	if err != nil || len(args) > 0 || !isFunction && !strings.HasSuffix(word, ".py") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var offers []string
	for _, f := range call.Signatures(where, cwd) {
		if strings.HasPrefix(f.Name, begin) && (begin != "" || f.Name[0] != '_') {
			offers = append(offers, where+":"+f.Name)
		}
	}
	if !isFunction && offers != nil {
		offers = append([]string{word}, offers...)
	}
	return offers, cobra.ShellCompDirectiveKeepOrder
}

// completeArg offers the parameters of the function in TARGET that have no value yet.
func (f *flags) completeArg(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	const nothing = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	cwd, err := os.Getwd()
	if err != nil || len(args) == 0 || strings.Contains(word, "=") {
		return nil, nothing
	}
	where, function, _ := strings.Cut(args[0], ":")
	var offers []string
	for _, s := range call.Signatures(where, cwd) {
		if s.Name != function {
			continue
		}
		for _, name := range s.Params {
			given := slices.ContainsFunc(f.request.KWArgs, func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
			if strings.HasPrefix(name, word) && !given {
				offers = append(offers, name+"=")
			}
		}
	}
	return offers, nothing
}
