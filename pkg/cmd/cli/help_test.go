package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestReflow(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a line that fits":      {"one two", "one two"},
		"lines are joined":      {"one\ntwo", "one two"},
		"and broken":            {"one two three four", "one two\nthree four"},
		"exactly the width":     {"twelve ching", "twelve ching"},
		"letters are counted":   {"éééééé ééééé", "éééééé ééééé"},
		"a word that is longer": {"a kubernetes-cluster b", "a\nkubernetes-cluster\nb"},
		"paragraphs stay":       {"one\n\ntwo\n", "one\n\ntwo"},
		"a table stays":         {"one\n  a    first of the rows\n  b    second\ntwo", "one\n  a    first of the rows\n  b    second\ntwo"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, reflow(tt.text, 12)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A flag whose value may be omitted is shown as by kubectl, and parsed as before.
func TestShownFlags(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	mode, yes := flags.String("dry-run", "none", "Print as `MODE` says."), flags.Bool("yes", false, "Don't ask.")
	flags.Lookup("dry-run").NoOptDefVal = "client"
	flags.String("kueue", "", "Set up a `QUEUE`.")
	flags.Lookup("kueue").NoOptDefVal = "kinetic"
	const want = "      --dry-run='none'   Print as MODE says.\n      --kueue[=QUEUE]    Set up a QUEUE.\n      --yes              Don't ask.\n"
	if got := shownFlags(flags).FlagUsages(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := flags.Parse([]string{"--dry-run", "--yes"}); err != nil || *mode != "client" || !*yes {
		t.Errorf("%v, %q, %v", err, *mode, *yes)
	}
}

// No word, no long name and no letter of several bytes makes lines too long, or moves what stands beside it.
func TestFlagsFitTheWidth(t *testing.T) {
	s := NewSection("Flags")
	s.Flags.String("keys", "", "Add `KEY,…` to it.")
	s.Flags.String("network", "", "Create it in a `NETWORK` such as projects/PROJECT/global/networks/NAME. Default: a new one.")
	s.Flags.String("services-secondary-range-name", "", "Use this `RANGE`.")
	const want = "Flags:\n" +
		"      --keys KEY,…        Add KEY,… to it.\n" +
		"      --network NETWORK   Create it in a NETWORK such as\n" +
		"                          projects/PROJECT/global/networks/NAME.\n" +
		"                          Default: a new one.\n" +
		"      --services-secondary-range-name RANGE\n" +
		"                          Use this RANGE.\n"
	if diff := cmp.Diff(want, flagsOf(s, 66)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAbridge(t *testing.T) {
	code, placement := NewSection("What runs"), NewSection("Where it runs")
	placement.Topic = "placement"
	for _, f := range []struct {
		in   Section
		name string
	}{{code, "arg"}, {code, "rare"}, {placement, "spot"}, {placement, "zone"}} {
		f.in.Flags.String(f.name, "", "Set it.")
	}
	for _, tt := range []struct {
		arg           string
		shown, hidden []string
		err           string
	}{
		{arg: "--help", shown: []string{"Does it.", "--arg", "--zone", "--help=TOPIC: placement."}, hidden: []string{"--rare", "--spot"}},
		{arg: "-h", shown: []string{"--arg"}, hidden: []string{"--rare"}},
		{arg: "--help=all", shown: []string{"Does it.", "What runs:", "--rare", "--spot", "--events"}},
		{arg: "--help=placement", shown: []string{"Where it runs:", "--spot"}, hidden: []string{"Does it.", "--arg"}},
		{arg: "--help=place", err: `did you mean "placement"?`},
	} {
		var out strings.Builder
		c := &cobra.Command{Use: "it", Long: "Does it.", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
			t.Error(tt.arg + ": the command runs")
			return nil
		}}
		c.SetOut(&out)
		Abridge(c, []string{"arg", "zone"}, AddSections(c, code, placement))
		c.SetArgs([]string{tt.arg})
		if err := c.Execute(); (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got error %v, want %q", tt.arg, err, tt.err)
		}
		for _, text := range tt.shown {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: %q is missing in\n%s", tt.arg, text, out.String())
			}
		}
		for _, text := range tt.hidden {
			if strings.Contains(out.String(), text) {
				t.Errorf("%s: %q is in\n%s", tt.arg, text, out.String())
			}
		}
	}
}
