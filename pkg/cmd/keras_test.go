package cmd_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/frontdoor"
)

// where are the flags of keras-kinetic that say which cluster.
const where = "--project --zone --cluster"

// kept are the commands of keras-kinetic with their flags that this command line has, too.
var kept = map[string]string{
	"init":           where + " --profile-name --namespace --yes -y",
	"up":             where + " --accelerator --min-nodes --profile-name --namespace --yes -y",
	"down":           where + " --yes",
	"status":         where,
	"config":         "",
	"accelerators":   where + " --live",
	"pool add":       where + " --accelerator --min-nodes --spot --reservation --yes -y",
	"pool remove":    where + " --yes -y",
	"pool list":      where,
	"jobs list":      where + " --namespace",
	"jobs status":    where,
	"jobs logs":      where + " --follow -f --tail",
	"jobs result":    where + " --timeout --cleanup",
	"jobs cancel":    where,
	"jobs cleanup":   where + " --k8s --gcs",
	"jobs debug":     where + " --port",
	"build-image":    where + " --repo --category --tag --dockerfile --yes -y",
	"profile create": where + " --namespace --force",
	"profile ls":     "",
	"profile use":    "",
	"profile unset":  "",
	"profile show":   "",
	"profile rm":     "--yes -y",
}

// changed maps command lines of keras-kinetic to the advice that their errors give.
var changed = map[string]string{
	"--profile ml jobs list":                       "kubectl kinetic jobs list --profile ml",
	"up --preview":                                 "write --dry-run.",
	"up --force-destroy":                           "buckets are kept unless kubectl kinetic down --delete-data deletes them",
	"up --no-force-destroy":                        "buckets are kept unless kubectl kinetic down --delete-data deletes them",
	"down --yes":                                   "--yes needs the name of the cluster: --yes=NAME",
	"down -y":                                      "--yes needs the name of the cluster: --yes=NAME",
	"pool add --preview":                           "write --dry-run.",
	"pool remove --preview":                        "omit it: the command shows what it will change, and asks first.",
	"jobs logs cpu-a -n 100":                       "for the last lines of a log, write --tail 100",
	"jobs result cpu-a --no-cleanup":               "write --cleanup=false.",
	"jobs result cpu-a --cleanup-timeout=9":        "omit it",
	"jobs result cpu-a --cleanup-poll-interval=9":  "omit it",
	"jobs cancel cpu-a --cleanup-timeout=9":        "omit it",
	"jobs cancel cpu-a --cleanup-poll-interval=9":  "omit it",
	"jobs cleanup cpu-a --no-k8s":                  "write --k8s=false.",
	"jobs cleanup cpu-a --no-gcs":                  "write --gcs=false.",
	"jobs cleanup cpu-a --cleanup-timeout=9":       "omit it",
	"jobs cleanup cpu-a --cleanup-poll-interval=9": "omit it",
	"build-image --update-credentials":             "omit it: the credentials of docker login and gcloud are used.",
}

// TestKerasKinetic holds that nothing of keras-kinetic's command line is silently different: a command line of
// it works, or its error names the new form.
func TestKerasKinetic(t *testing.T) {
	streams := genericiooptions.NewTestIOStreamsDiscard()
	for command, flags := range kept {
		found := find(t, streams, command)
		for _, flag := range strings.Fields(flags) {
			name, isLong := strings.CutPrefix(flag, "--")
			if isLong && found.Flag(name) == nil || !isLong && found.Flags().ShorthandLookup(flag[1:]) == nil && found.InheritedFlags().ShorthandLookup(flag[1:]) == nil {
				t.Errorf("%s has no %s", command, flag)
			}
		}
	}
	for line, told := range changed {
		t.Run(line, func(t *testing.T) {
			code, said := typed(t, strings.Fields(line))
			if code != cli.ExitUsage || !strings.Contains(said, told) {
				t.Errorf("exit code %d, %q; want %q", code, said, told)
			}
		})
	}
}

// find returns a command by the words that users type.
func find(t *testing.T, streams genericiooptions.IOStreams, words string) *cobra.Command {
	t.Helper()
	first, rest, _ := strings.Cut(words, " ")
	for _, root := range roots(streams) {
		if !strings.HasSuffix(root.CommandPath(), " "+first) {
			continue
		}
		found, _, err := root.Find(strings.Fields(rest))
		if err != nil || rest != "" && found == root {
			t.Fatalf("there is no command %s: %v", words, err)
		}
		return found
	}
	t.Fatalf("there is no command %s", words)
	return nil
}

// typed returns the exit code of a command line, and what it prints on standard error.
func typed(t *testing.T, words []string) (int, string) {
	t.Helper()
	var said bytes.Buffer
	if strings.HasPrefix(words[0], "-") {
		p := frontdoor.Process{Args: slices.Concat([]string{"kubectl-kinetic"}, words), Stdout: &said, Stderr: &said}
		return p.Run(), said.String()
	}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &said, ErrOut: &said}
	for _, root := range roots(streams) {
		if strings.HasSuffix(root.CommandPath(), " "+words[0]) {
			return cli.Run(t.Context(), root, words[1:], streams), said.String()
		}
	}
	t.Fatalf("there is no command %s", words[0])
	return 0, ""
}
