package submit

import (
	"fmt"
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/call"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// checkDecorator returns an error for a parameter that kinetic.run does not have: the job would end at the decorator.
func checkDecorator(target string, given []call.Parameter) error {
	if len(given) == 0 {
		return nil
	}
	all := runner.Parameters()
	for _, p := range given {
		if !slices.ContainsFunc(all, func(known runner.Parameter) bool { return known.Name == p.Name }) {
			return fmt.Errorf("%s: '%s' is not a parameter of kinetic.run%s", target, p.Name, meantParameter(p.Name, all))
		}
	}
	return nil
}

// meantParameter asks, in the words of the Python package, whether another parameter was meant.
func meantParameter(name string, all []runner.Parameter) string {
	names := make([]string, len(all))
	for i, p := range all {
		if slices.Contains(p.Also, name) {
			return fmt.Sprintf(": did you mean '%s'?", p.Name)
		}
		names[i] = p.Name
	}
	for _, near := range human.Nearest(name, names, 1) {
		return fmt.Sprintf(": did you mean '%s'?", near)
	}
	return ""
}
