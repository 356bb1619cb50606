package process

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Section is a group of flags with a heading in the help.
type Section struct {
	Title string
	Flags *pflag.FlagSet
	// Completions offer values of flags to the shell, by the flag's name.
	Completions map[string]cobra.CompletionFunc
}

// NewSection makes an empty group that keeps the order in which flags are added.
func NewSection(title string) Section {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	return Section{Title: title, Flags: fs}
}

// AddSections gives a command the flags of all sections, and a help that shows
// them section by section.
func AddSections(c *cobra.Command, sections ...Section) {
	c.Flags().SortFlags = false
	for _, s := range sections {
		c.Flags().AddFlagSet(s.Flags)
	}
	completeFlags(c, sections)
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		out := c.OutOrStdout()
		fmt.Fprint(out, help(c, sections, widthOf(out)))
	})
	c.SetUsageFunc(func(c *cobra.Command) error {
		out := c.OutOrStderr()
		_, err := fmt.Fprint(out, usage(c, sections, widthOf(out)))
		return err
	})
}

// completeFlags has flags completed as their sections say. Without a word of theirs a
// shell would offer the names of files, which few of the others take.
func completeFlags(c *cobra.Command, sections []Section) {
	for _, s := range sections {
		for name, complete := range s.Completions {
			_ = c.RegisterFlagCompletionFunc(name, complete) // which fails for a flag that is not there
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if value, _ := pflag.UnquoteUsage(f); !takesFile(value) {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // which fails where there is one
		}
	})
}

// takesFile says by the word for a flag's value whether it may be on this machine.
func takesFile(value string) bool {
	return strings.Contains(value, "FILE") || strings.Contains(value, "DIR") || strings.Contains(value, "URL")
}

// numberValue is a flag that takes a whole number.
type numberValue struct {
	number *int
	// least and most are the first and the last number that it takes, words is the
	// first for people.
	least, most int
	words       string
}

// Unbounded is the most of a number that only the API server bounds.
const Unbounded = math.MaxInt32

// NumberVar defines a flag of a whole number, and which it takes. A variable that is
// less before means that it was not given.
func NumberVar(fs *pflag.FlagSet, p *int, least, most int, name, usage string) {
	fs.Var(&numberValue{p, least, most, strconv.Itoa(least)}, name, usage)
}

// LinesVar defines a flag of a number of lines, of which -1 is all, as for kubectl.
func LinesVar(fs *pflag.FlagSet, p *int, name, usage string) {
	fs.Var(&numberValue{p, -1, Unbounded, "-1 (all)"}, name, usage)
}

// Set implements pflag.Value.
func (v *numberValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.least || n > v.most {
		return fmt.Errorf("expected a whole number from %s to %d", v.words, v.most)
	}
	*v.number = n
	return nil
}

// String implements pflag.Value.
func (v *numberValue) String() string {
	if *v.number <= 0 {
		return ""
	}
	return strconv.Itoa(*v.number)
}

// Type implements pflag.Value.
func (v *numberValue) Type() string { return "number" }
