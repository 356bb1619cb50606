package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestNoCommand(t *testing.T) {
	root := &cobra.Command{Use: "pool", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic pool"}}
	root.AddCommand(&cobra.Command{Use: "list"}, &cobra.Command{Use: "describe ID"})
	check := NoCommand(map[string][]string{"get": {"describe", "list"}})
	if err := check(root, nil); err != nil {
		t.Errorf("without a word: %v", err)
	}
	for word, hint := range map[string]string{"lst": `did you mean "list"?`, "get": `did you mean "describe" or "list"?`, "qqq": "see kubectl kinetic pool --help"} {
		want := `unknown command "` + word + `" for "kubectl kinetic pool"; ` + hint
		if err := check(root, []string{word, "more"}); err == nil || err.Error() != want || CodeOf(err) != ExitUsage {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
