package runner

import (
	_ "embed" // for the table
	"regexp"
	"strings"
)

// table is the module that has all parameters. It belongs to the client, so that Sources lacks it.
//
//go:embed kinetic/client/parameters.py
var table string

// Parameter is a parameter of the Python package's kinetic.run.
type Parameter struct {
	Name string
	// Flag is the flag of `kubectl kinetic run` that it becomes, without dashes; "" if there is none.
	Flag string
	// Also are words that others use for it.
	Also []string
}

// Parameters returns the parameters of kinetic.run, in the order of the reference. It reads them where the package itself
// has them, so that they stand in one place.
func Parameters() []Parameter {
	var all []Parameter
	for _, p := range regexp.MustCompile(`(?m)^    Parameter\("(\w+)", "(?:--)?([\w-]*)"(?:.*, also="([\w ]+)")?`).FindAllStringSubmatch(table, -1) {
		all = append(all, Parameter{Name: p[1], Flag: p[2], Also: strings.Fields(p[3])})
	}
	return all
}
