package cli

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
)

func TestOnlySubcommands(t *testing.T) {
	root := &cobra.Command{Use: "pool", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic pool"}}
	root.AddCommand(&cobra.Command{Use: "list"}, &cobra.Command{Use: "describe ID"})
	root.SetOut(io.Discard)
	OnlySubcommands(root, map[string][]string{"get": {"describe", "list"}})
	for _, args := range [][]string{{}, {"-h"}, {"--help"}, {"--wide", "--help"}} {
		if err := root.RunE(root, args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	const afterwards = "flags go after the command: kubectl kinetic pool COMMAND --token"
	if err := root.RunE(root, []string{"--token=abc", "list"}); err == nil || err.Error() != afterwards || CodeOf(err) != ExitUsage {
		t.Errorf("got %v, want %s", err, afterwards)
	}
	for word, hint := range map[string]string{"lst": `did you mean "list"?`, "get": `did you mean "describe" or "list"?`, "qqq": "see kubectl kinetic pool --help"} {
		want := `unknown command "` + word + `" for "kubectl kinetic pool"; ` + hint
		if err := root.RunE(root, []string{word, "--more"}); err == nil || err.Error() != want || CodeOf(err) != ExitUsage {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
