package frontdoor

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/shell"
)

// kubectl runs a program with this name to get the words that may come next.
// kubectl_complete-kinetic is a link to the front door.
const (
	completionPrefix = "kubectl_complete-"
	pluginName       = "kubectl-kinetic"
	completionName   = completionPrefix + "kinetic"
)

// noFiles is the last line of an answer (":4" in cobra's protocol, which kubectl uses): do
// not complete file names.
const noFiles = ":4\n"

// complete answers kubectl: words are those typed after `kubectl kinetic`. The last one is
// to be completed and may be empty.
func (p Process) complete(words []string) (int, error) {
	if len(words) > 0 && words[0] == "help" {
		words = words[1:]
		if len(words) > 1 {
			return exitOK, write(p.Stdout, noFiles)
		}
	}
	if len(words) < 2 {
		return exitOK, write(p.Stdout, candidates(strings.Join(words, ""))+noFiles)
	}
	c, ok := findCommand(words[0])
	if !ok || c.binary == "" {
		return exitOK, write(p.Stdout, noFiles)
	}
	return p.handOver(c.binary, append([]string{"__complete"}, words[1:]...))
}

func candidates(prefix string) string {
	var b strings.Builder
	for _, c := range commands() {
		if strings.HasPrefix(c.name, prefix) {
			fmt.Fprintf(&b, "%s\t%s\n", c.name, c.summary)
		}
	}
	return b.String()
}

func printCompletion(p Process, args []string) (int, error) {
	if len(args) > 0 {
		return 0, usageError(fmt.Sprintf("completion takes no argument, got %q: the script is kubectl's own (kubectl completion bash); %q shows what it needs", args[0], product+" completion"))
	}
	return exitOK, write(p.Stdout, completionGuide(p.linkFolder(), runtime.GOOS))
}

// linkFolder returns the folder where PATH finds this program: krew's bin folder, the `go
// install` folder, or the program's own. A link there stays valid when an upgrade changes
// what kubectl-kinetic itself is linked to.
func (p Process) linkFolder() string {
	if path, err := exec.LookPath(pluginName); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return filepath.Dir(path)
		}
	}
	return filepath.Dir(p.Executable)
}

func completionGuide(folder, goos string) string {
	link := filepath.Join(folder, completionName)
	line := fmt.Sprintf("ln -sf %s %s", pluginName, shell.Word(link))
	if goos == "windows" {
		line = fmt.Sprintf(`mklink "%s.exe" %s.exe`, link, pluginName)
	}
	return fmt.Sprintf(`Completion of %[1]q uses kubectl's own. It takes two steps, once:

1. Enable kubectl's completion, as this explains for your shell:

     kubectl completion --help

2. Create the program that kubectl asks, a link beside the plugin. For this
   installation:

     %[2]s

   The link keeps working when krew, or whatever installed the plugin, upgrades
   it. With krew the general form is:

     ln -sf %[3]s "${KREW_ROOT:-$HOME/.krew}/bin/%[4]s"

   Without krew, use the folder on your PATH that has %[3]s.
`, product, line, pluginName, completionName)
}
