package cmd_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/buildimage"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/jobs"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/pool"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/run"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// roots makes the commands with other streams than those of this process.
func roots(streams genericiooptions.IOStreams) []*cobra.Command {
	now := clock.RealClock{}
	all := []*cobra.Command{run.NewCommand(streams, now), jobs.NewCommand(streams, now), buildimage.NewCommand(streams, now), pool.NewCommand(streams, now)}
	for _, each := range pool.Others() {
		all = append(all, each.New(streams, now))
	}
	return all
}

// completed returns what a root command, by its number, answers to kubectl.
func completed(t *testing.T, number int, words ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code := cli.Run(t.Context(), roots(streams)[number], append([]string{cobra.ShellCompRequestCmd}, words...), streams)
	if code != 0 || errOut.Len() > 0 {
		t.Errorf("%q: exit code %d, it said %q", words, code, &errOut)
	}
	return out.String()
}

// TestFlagCompletion compares what is offered for the value of every flag with a golden file:
// words, names of files, or nothing.
func TestFlagCompletion(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KINETIC_PROFILES_FILE", filepath.Join(t.TempDir(), "none"))
	var page strings.Builder
	for number, root := range roots(genericiooptions.NewTestIOStreamsDiscard()) {
		for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
			if c != root && c.Hidden || c.HasSubCommands() {
				continue
			}
			var words []string
			if c != root {
				words = []string{c.Name()}
			}
			fmt.Fprintf(&page, "%s\n", c.CommandPath())
			nothing := ""
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Hidden || f.Value.Type() == "bool" {
					return
				}
				switch what := offered(completed(t, number, append(slices.Clone(words), "--"+f.Name+"=")...)); what {
				case "-":
					nothing += " --" + f.Name
				default:
					fmt.Fprintf(&page, "  --%s: %s\n", f.Name, what)
				}
			})
			if nothing != "" {
				fmt.Fprintf(&page, "  nothing for%s\n", nothing)
			}
		}
	}
	golden.Check(t, "testdata/completion.golden", page.String())
}

// offered describes an answer in a few words.
func offered(answer string) string {
	var words []string
	for line := range strings.Lines(answer) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words = append(words, word)
	}
	directive := words[len(words)-1]
	switch words = words[:len(words)-1]; {
	case slices.Contains(words, "PATH"):
		return "environment variables"
	case len(words) > 20:
		return fmt.Sprintf("%s and many more", strings.Join(words[:3], " "))
	case len(words) > 0:
		return strings.Join(words, " ")
	case directive == ":0":
		return "files"
	}
	return "-"
}

// Completion of a wrong line is no error: the shell would show it on the line that is being
// typed. What is right on the line still counts, and files are not offered for what is wrong.
func TestCompletionOfWrongLines(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	const target, unknown = "files", "-" // unknown is what cobra can't parse
	for number, lines := range []map[string]string{{
		"--nosuch x ":                   unknown,
		"--hosts many ":                 unknown,
		"--nosuch":                      unknown,
		"--dry-run=nosuch ":             target,
		"--kubeconfig ":                 "files",
		"--nosuch --kubeconfig ":        unknown,
		"--hosts many --kubeconfig=":    unknown,
		"x.py y.py --acc":               "--accelerator",
		"--context nosuch --namespace ": "-",
		"-a nosuch ":                    target,
		"-a nosuch --backend ":          "auto gke lws pathways local",
	}, {
		"nosuch x ":              unknown,
		"nosuch ":                unknown,
		"outputs x cp a ":        "files",
		"outputs x cp --tail ":   unknown,
		"status --nosuch ":       unknown,
		"logs --context nosuch ": "-",
		"outputs nosuch cat ":    "-",
		"tail nosuch --host ":    "-",
		"list --limit x --stat":  unknown,
		"logs nosuch --t":        "--tail --timestamps",
	}} {
		for line, want := range lines {
			if got := offered(completed(t, number, strings.Split(line, " ")...)); got != want {
				t.Errorf("%q: offered %q, want %q", line, got, want)
			}
		}
	}
}

// Each shape is offered once, in the first of its spellings that begins with what is typed.
func TestAcceleratorsAreOfferedOnce(t *testing.T) {
	for word, want := range map[string][]string{
		"":           {"cpu", "l4", "l4x2", "tpu-v6e-8", "tpu-v6e-256", "tpu7x-8"},
		"gpu-l4":     {"gpu-l4", "gpu-l4x2", "gpu-l4:spot"},
		"tpu-v6e-2":  {"tpu-v6e-2x2", "tpu-v6e-2x4", "tpu-v6e-256"},
		"v6e-2":      {"v6e-2x2", "v6e-2x4", "v6e-256"},
		"v6e-8":      {"v6e-8", "v6e-8x8", "v6e-8:spot"},
		"tpu-v6e-2x": {"tpu-v6e-2x2", "tpu-v6e-2x4"},
	} {
		t.Run(word, func(t *testing.T) {
			names := map[string]string{} // by what they describe
			for line := range strings.Lines(completed(t, 0, "-a", word)) {
				name, description, _ := strings.Cut(line, "\t")
				if other := names[description]; other != "" {
					t.Errorf("%s and %s are both %s", other, name, description)
				}
				names[description] = name
			}
			all := slices.Collect(maps.Values(names))
			for _, name := range want {
				if !slices.Contains(all, name) {
					t.Errorf("%s is not among %q", name, all)
				}
			}
		})
	}
}
