package jobs

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/process"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
)

// otherWords are what other tools call our commands.
var otherWords = map[string][]string{
	"delete": {"cleanup", "cancel"}, "remove": {"cleanup", "cancel"}, "rm": {"cleanup", "cancel"},
	"kill": {"cancel"}, "stop": {"cancel"}, "get": {"describe", "list"}, "ps": {"list"},
	"info": {"describe"}, "inspect": {"describe"}, "show": {"describe"},
	"attach": {"logs"}, "follow": {"logs"},
}

func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, sub := range root.Commands() {
		names = append(names, sub.Name())
	}
	hint := nearest.Sentence(word, names)
	switch meant := otherWords[word]; {
	case meant != nil:
		hint = `did you mean "` + strings.Join(meant, `" or "`) + `"?`
	case hint == "":
		hint = "see kubectl kinetic jobs --help"
	}
	return process.Usagef("unknown command %q for %q; %s", word, "kubectl kinetic jobs", hint)
}
