package cli

import (
	"errors"
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
	// Topic is the word of --help=TOPIC for the group, in the help of a command that has Abridge.
	Topic string
	Flags *pflag.FlagSet
	// Completions offer values of flags to the shell, keyed by the flag's name. Use NewSection
	// to have a map here.
	Completions map[string]cobra.CompletionFunc
	// check, if set, is called before a command that has the flags.
	check func() error
	// Explain, if set, completes an error of a command that has the flags.
	Explain func(error) error
}

// NewSection returns an empty group that keeps the order in which flags are added.
func NewSection(title string) Section {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	return Section{Title: title, Flags: fs, Completions: map[string]cobra.CompletionFunc{}}
}

// Offer completes the value of a flag with some words. A word may have a description, after a
// tab.
func (s Section) Offer(flag string, words ...string) {
	s.Completions[flag] = cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
}

// FormatVar defines --output, whose value is one of some words. It is "" if the flag is not given.
func (s *Section) FormatVar(p *string, usage string, words ...string) {
	s.Flags.StringVarP(p, "output", "o", "", usage)
	s.Offer("output", words...)
	s.check = func() error {
		if *p == "" {
			return nil
		}
		return OneOf("--output", *p, words)
	}
}

// AddSections gives a command the flags of all sections, and help that lists them by
// section. Every command has --events. AddSections returns all sections.
func AddSections(c *cobra.Command, sections ...Section) []Section {
	sections = append(sections, eventsSection())
	c.Flags().SortFlags = false
	for _, s := range sections {
		c.Flags().AddFlagSet(s.Flags)
	}
	completeFlags(c, sections)
	wrapRun(c, sections)
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		out := c.OutOrStdout()
		fmt.Fprint(out, help(c, sections, widthOf(out)))
	})
	c.SetUsageFunc(func(c *cobra.Command) error {
		out := c.OutOrStderr()
		_, err := fmt.Fprint(out, usage(c, sections, widthOf(out)))
		return err
	})
	return sections
}

// wrapRun lets sections check their flags before a command runs, and explain its error.
func wrapRun(c *cobra.Command, sections []Section) {
	for _, s := range sections {
		if run := c.RunE; run != nil && s.Explain != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				if err := run(c, args); err != nil {
					return s.Explain(err)
				}
				return nil
			}
		}
		if run := c.RunE; run != nil && s.check != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				if err := s.check(); err != nil {
					return err
				}
				return run(c, args)
			}
		}
	}
}

// completeFlags registers the completions of the sections. It turns off file names for the
// other flags, which a shell would offer by default but few of them take.
func completeFlags(c *cobra.Command, sections []Section) {
	for _, s := range sections {
		for name, complete := range s.Completions {
			_ = c.RegisterFlagCompletionFunc(name, complete) // fails if the flag does not exist
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if value, _ := pflag.UnquoteUsage(f); !takesFile(value) {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // fails if there is one
		}
	})
}

// takesFile reports whether a flag takes a path on this machine, judging by the word for
// its value.
func takesFile(value string) bool {
	return strings.Contains(value, "FILE") || strings.Contains(value, "DIR") || strings.Contains(value, "URL")
}

// flagValue is a flag that is read from a text. Its zero value is shown as no text.
type flagValue[T comparable] struct {
	p    *T
	kind string // for help
	read func(string) (T, error)
	text func(T) string
}

func (v flagValue[T]) Set(s string) error {
	got, err := v.read(s)
	if err == nil {
		*v.p = got
	}
	return err
}

func (v flagValue[T]) String() string {
	if *v.p == *new(T) {
		return ""
	}
	return v.text(*v.p)
}

func (v flagValue[T]) Type() string { return v.kind }

// Unbounded is the largest value of a number that only the API server limits.
const Unbounded = math.MaxInt32

// NumberVar defines a flag for a whole number from least to most. To detect that it was not
// given, initialize *p to less than least.
func NumberVar(fs *pflag.FlagSet, p *int, least, most int, name, usage string) {
	fs.Var(numberValue(p, least, most, strconv.Itoa(least)), name, usage)
}

// LinesVar defines a flag for a number of lines; -1 means all, as for kubectl.
func LinesVar(fs *pflag.FlagSet, p *int, name, usage string) {
	fs.Var(numberValue(p, -1, Unbounded, "-1 (all)"), name, usage)
}

// numberValue is a whole number from least, which is words for people, to most.
func numberValue(p *int, least, most int, words string) flagValue[int] {
	read := func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("expected a whole number from %s to %d", words, most)
		}
		return n, nil
	}
	text := func(n int) string {
		if n < 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	return flagValue[int]{p, "number", read, text}
}

// NoArguments refuses arguments. The error says what to do instead with more, which may be "".
func NoArguments(more string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usagef("%s takes no argument, got %q%s", c.Name(), args[0], more)
		}
		return nil
	}
}

// DollarsVar defines a flag for a positive amount of US dollars, with or without a $. Zero means that it was not given.
func DollarsVar(fs *pflag.FlagSet, p *float64, name, usage string) {
	fs.Var(flagValue[float64]{p, "amount", parseDollars, func(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }}, name, usage)
}

func parseDollars(s string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
	if err != nil || !(usd > 0) || usd > 1e9 {
		return 0, errors.New("expected an amount of US dollars, such as 5 or 2.50")
	}
	return usd, nil
}
