package frontdoor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// product is what users type before the command.
const product = "kubectl kinetic"

// poolBinary has the commands about clusters and their settings.
const poolBinary = "kubectl-kinetic_pool"

// command is one word after `kubectl kinetic`, run by another binary or by the front door
// itself.
type command struct {
	name, summary string
	binary        string // the binary that runs it; empty for the front door's own
	word          string // by which the binary knows the command; empty if it is its main one
	// For the front door's own commands: what comes after the name, more about the
	// command, and what runs it.
	usage, details string
	own            func(p Process, args []string) (int, error)
}

// commands lists the commands of this version, in the order of the help.
func commands() []command {
	return []command{
		{name: "run", binary: "kubectl-kinetic_run", summary: "Run a Python function, script, module or any command as a job"},
		{name: "jobs", binary: "kubectl-kinetic_jobs", summary: "List, follow, cancel and clean up jobs, and fetch their results"},
		{name: "top", binary: "kubectl-kinetic_jobs", word: "top", summary: "Watch jobs and their hosts on one screen; the same as jobs top"},
		{name: "pool", binary: poolBinary, summary: "Add, list, change and remove node pools with accelerators"},
		{name: "accelerators", binary: poolBinary, word: "accelerators", summary: "List the accelerators that jobs can request"},
		{name: "up", binary: poolBinary, word: "up", summary: "Create a GKE cluster with everything jobs need"},
		{name: "down", binary: poolBinary, word: "down", summary: "Delete a cluster and its resources"},
		{name: "status", binary: poolBinary, word: "status", summary: "Show node pools, jobs, idle nodes and cost of a cluster"},
		{name: "init", binary: poolBinary, word: "init", summary: "Connect to a cluster, create one, or troubleshoot, from a menu"},
		{name: "doctor", binary: poolBinary, word: "doctor", summary: "Check what jobs need, and show how to fix problems"},
		{name: "config", binary: poolBinary, word: "config", summary: "Print the settings in effect, and where each comes from"},
		{name: "profile", binary: poolBinary, word: "profile", summary: "Manage profiles: named clusters that replace flags"},
		{name: "build-image", binary: "kubectl-kinetic_run", word: "build-image", summary: "Build base images for jobs"},
		{name: "version", usage: "version [--client] [-o json|yaml] [flags of kubectl, such as --context]", own: printVersion,
			summary: "Print the versions of this plugin and of the cluster's components", details: versionDetails},
		{name: "help", usage: "help [COMMAND]", own: printHelp, summary: "Print this list, or the help of a command"},
		{name: "completion", usage: "completion [install [--dir DIR] [--dry-run]]", details: installDetails, own: printCompletion, summary: "Enable shell completion"},
	}
}

// jobsCommands are the words after `kubectl kinetic jobs`. Many users forget the jobs.
func jobsCommands() []string {
	return []string{"list", "top", "status", "logs", "tail", "result", "wait", "cancel", "cleanup", "describe", "outputs", "prune", "debug", "stacks", "shell", "forward", "warm"}
}

// line returns the command line of the binary for the words after the command.
func (c command) line(words []string) []string {
	if c.word == "" {
		return words
	}
	return append([]string{c.word}, words...)
}

func findCommand(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func commandNames() []string {
	all := commands()
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	return names
}

const versionDetails = `
For the cluster, print the versions of Kubernetes, LeaderWorkerSet and Kueue,
and of the runners in the namespace. Each version of the plugin that starts jobs
there adds its own runner. If the cluster does not answer within a second, print
why, and exit with 0.

Flags:
  --client                 Print only the version of this plugin, and contact no cluster.
  -o, --output FORMAT      Output FORMAT: json or yaml.
  --context, --kubeconfig, -n, --cluster, --profile, ...
                           Which cluster and namespace, as for other commands.
`

func printHelp(p Process, _ []string) (int, error) {
	return exitOK, write(p.Stdout, overview())
}

func overview() string {
	var b strings.Builder
	b.WriteString("Run Python on the accelerators of a Kubernetes cluster, as jobs\nthat kubectl can see.\n\n")
	fmt.Fprintf(&b, "Usage:\n  %s COMMAND [flags]\n\nCommands:\n", product)
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-13s%s\n", c.name, c.summary)
	}
	fmt.Fprintf(&b, "\nUse \"%s help COMMAND\" for the flags and examples of a command.\n", product)
	return b.String()
}

// ownHelp returns what --help prints for a command of the front door.
func ownHelp(c command) string {
	return fmt.Sprintf("%s.\n\nUsage:\n  %s %s\n%s", c.summary, product, c.usage, c.details)
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	if unwritten, ok := errors.AsType[*fs.PathError](err); ok { // which calls standard output by a path
		err = unwritten.Err
	}
	if err != nil {
		return fmt.Errorf("writing standard output: %w", err)
	}
	return nil
}
