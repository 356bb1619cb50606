package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Abridge shortens the help of a command with many flags, whose sections AddSections has returned. --help
// prints the common flags, --help=all prints all flags, and --help=TOPIC prints one section.
func Abridge(c *cobra.Command, common []string, sections []Section) {
	h := &helpFlag{topics: []string{allTopics}}
	for _, s := range sections {
		if s.Topic != "" {
			h.topics = append(h.topics, s.Topic)
		}
	}
	flag := c.Flags().VarPF(h, "help", "h", "Print help; --help=TOPIC prints more.")
	flag.NoOptDefVal = "true"
	_ = c.RegisterFlagCompletionFunc("help", cobra.FixedCompletions(h.topics, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		out := c.OutOrStdout()
		width := widthOf(out)
		switch h.topic {
		case allTopics:
			fmt.Fprint(out, help(c, sections, width))
		case "":
			more := fmt.Sprintf("More flags: %s --help=all, or --help=TOPIC: %s.", c.CommandPath(), strings.Join(h.topics[1:], ", "))
			fmt.Fprintf(out, "%s\n%s\n", help(c, []Section{pick(common, sections)}, width), reflow(more, width))
		default:
			i := slices.IndexFunc(sections, func(s Section) bool { return s.Topic == h.topic })
			fmt.Fprint(out, flagsOf(sections[i], width))
		}
	})
}

// pick returns a section of the flags with these names, in this order.
func pick(names []string, sections []Section) Section {
	s := NewSection("Common flags")
	for _, name := range names {
		for _, of := range sections {
			if flag := of.Flags.Lookup(name); flag != nil {
				s.Flags.AddFlag(flag)
			}
		}
	}
	return s
}

const allTopics = "all"

// helpFlag is --help with a topic. Cobra expects that it is a bool.
type helpFlag struct {
	given  bool
	topic  string
	topics []string
}

var _ pflag.Value = (*helpFlag)(nil)

func (h *helpFlag) String() string { return strconv.FormatBool(h.given) }

func (h *helpFlag) Set(text string) error {
	given, err := strconv.ParseBool(text)
	if err == nil {
		h.given, h.topic = given, ""
		return nil
	}
	if !slices.Contains(h.topics, text) {
		return errors.New(expected(text, h.topics))
	}
	h.given, h.topic = true, text
	return nil
}

func (*helpFlag) Type() string { return "bool" }

// IsBoolFlag lets --help stand alone.
func (*helpFlag) IsBoolFlag() bool { return true }
