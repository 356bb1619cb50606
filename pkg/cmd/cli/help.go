package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/kubectl/pkg/util/term"
)

// The widths of help, in columns. Longer lines are hard to read, and shorter ones leave no
// room beside the flag names.
const (
	minWidth, maxWidth = 80, 120
	plainWidth         = 100 // if the output is not a terminal
)

// shortColumn is the column where the summaries of subcommands begin.
const shortColumn = 13

func widthOf(w io.Writer) int {
	if help, ok := w.(*helpWriter); ok {
		w = help.Writer
	}
	size := term.TTY{Out: w}.GetSize()
	if size == nil || size.Width == 0 {
		return plainWidth
	}
	return min(max(int(size.Width), minWidth), maxWidth)
}

func help(c *cobra.Command, sections []Section, width int) string {
	return reflow(cmp.Or(c.Long, c.Short), width) + "\n\n" + usage(c, sections, width)
}

func usage(c *cobra.Command, sections []Section, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND …\n\nCommands:\n", c.CommandPath())
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				short := strings.ReplaceAll(reflow(sub.Short, width-shortColumn), "\n", "\n"+strings.Repeat(" ", shortColumn))
				fmt.Fprintf(&b, "  %-*s%s\n", shortColumn-2, sub.Name(), short)
			}
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	for _, s := range sections {
		if text := flagsOf(s, width); text != "" {
			b.WriteString("\n" + text)
		}
	}
	return b.String()
}

// flagsOf returns the flags of a section below its title, "" if it shows none.
func flagsOf(s Section, width int) string {
	usages := shownFlags(s.Flags).FlagUsages()
	if usages == "" {
		return ""
	}
	return s.Title + ":\n" + laidOut(usages, width)
}

// maxUsageColumn is the last column where the usage of flags may begin. That of a flag with a longer name is below it:
// one such name would leave no room for all the others.
const maxUsageColumn = 32

// laidOut fits pflag's lines, each a flag and its usage, to a width. pflag's own way leaves lines too long that have a
// word which is longer than the room for usages, and counts bytes.
func laidOut(usages string, width int) string {
	const gap = "   " // pflag puts it between a flag and its usage
	column := 0
	var flags, texts []string
	for line := range strings.Lines(usages) {
		start := len(line) - len(strings.TrimLeft(line, " "))
		flag, text, _ := strings.Cut(line[start:], gap)
		flags, texts = append(flags, line[:start]+flag), append(texts, strings.TrimSpace(text))
		if end := utf8.RuneCountInString(line[:start] + flag + gap); end <= maxUsageColumn {
			column = max(column, end)
		}
	}
	column = cmp.Or(column, maxUsageColumn)
	below := "\n" + strings.Repeat(" ", column)
	var b strings.Builder
	for i, flag := range flags {
		b.WriteString(flag)
		if room := column - utf8.RuneCountInString(flag); room < len(gap) {
			b.WriteString(below)
		} else {
			b.WriteString(strings.Repeat(" ", room))
		}
		b.WriteString(strings.ReplaceAll(reflow(texts[i], width-column), "\n", below) + "\n")
	}
	return b.String()
}

// shownFlags returns flags as help shows them. One whose value may be omitted shows its default, as in
// kubectl: --dry-run='none'. pflag would write --dry-run client[="client"]. Without a default it shows
// that a value needs a "=": --kueue[=QUEUE].
func shownFlags(flags *pflag.FlagSet) *pflag.FlagSet {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	shown.SortFlags = flags.SortFlags
	flags.VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal == "" || f.Value.Type() == "bool" {
			shown.AddFlag(f)
			return
		}
		alone := *f
		var value string
		value, alone.Usage = pflag.UnquoteUsage(f)
		alone.Name = fmt.Sprintf("%s='%s'", f.Name, f.DefValue)
		if f.DefValue == "" {
			alone.Name = fmt.Sprintf("%s[=%s]", f.Name, value)
		}
		alone.Value, alone.NoOptDefVal, alone.DefValue = nameless{f.Value}, "", ""
		shown.AddFlag(&alone)
	})
	return shown
}

// nameless is a flag that is shown without a word for its value.
type nameless struct{ pflag.Value }

func (nameless) Type() string { return "bool" }

// IsBoolFlag tells pflag that there is no default to show.
func (nameless) IsBoolFlag() bool { return true }

// reflow fits the paragraphs of a text to a width. Indented lines, such as tables, stay as
// they are.
func reflow(text string, width int) string {
	var lines []string
	inParagraph := false
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line == "" || line[0] == ' ' {
			lines, inParagraph = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if last := len(lines) - 1; inParagraph && utf8.RuneCountInString(lines[last]+" "+word) <= width {
				lines[last] += " " + word
			} else {
				lines, inParagraph = append(lines, word), true
			}
		}
	}
	return strings.Join(lines, "\n")
}
