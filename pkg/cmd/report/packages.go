package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// Package is a package that is installed for a job, in the version of its wheel.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	api.Package
}

// Packages returns what wheels install, sorted by name.
func Packages(wheels []api.Package) []Package {
	var all []Package
	for _, w := range wheels {
		p := Package{Name: w.File, Package: w}
		if parsed, err := wheel.ParseName(w.File); err == nil {
			p.Name, p.Version = parsed.Project(), parsed.Version
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Package) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// The size of a list of packages for people.
const (
	listWidth = 90  // bytes of a line
	listed    = 100 // packages
)

// PackageLines returns the names and versions of packages in a few lines.
func PackageLines(packages []Package) []string {
	words := make([]string, 0, listed)
	for _, p := range packages[:min(len(packages), listed)] {
		words = append(words, strings.TrimSpace(p.Name+" "+p.Version))
	}
	lines := []string{human.Number(len(packages)) + ":"}
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if last := len(lines) - 1; len(lines[last])+1+len(word) <= listWidth {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	if more := len(packages) - listed; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more (-o json prints all)", human.Number(more)))
	}
	return lines
}
