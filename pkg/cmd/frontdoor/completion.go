package frontdoor

import (
	"fmt"
	"slices"
	"strings"
)

// kubectl runs a program with this name to get the words that may come next.
// kubectl_complete-kinetic is a link to the front door, or a copy of it.
const (
	completionPrefix = "kubectl_complete-"
	pluginName       = "kubectl-kinetic"
	completionName   = completionPrefix + "kinetic"
)

// The last lines of an answer in cobra's protocol, which kubectl uses.
const (
	noFiles         = ":4\n"  // do not complete file names
	onlyDirectories = ":16\n" // complete the names of directories
)

// clientFlag is the flag of version for this program alone, and versionFlag is short for both words.
const (
	clientFlag  = "--client"
	versionFlag = "--version"
	clientOffer = clientFlag + "\tOnly this plugin, without the cluster\n"
)

// ownWords are the words that may follow those of the front door's own commands, each with
// its description.
func ownWords() map[string]string {
	return map[string]string{
		"version":                  clientOffer + "-o\tOutput FORMAT: json or yaml\n",
		"version --client":         "-o\tOutput FORMAT: json or yaml\n",
		"version --client -o":      "json\nyaml\n",
		"completion":               "install\tPut the file that kubectl needs in place\n",
		"completion install":       "--dir\tA directory on PATH\n--dry-run\tOnly print what would be done\n",
		"completion install --dir": "",
	}
}

// offers returns the answer to kubectl: words are those typed after `kubectl kinetic`. The last one is
// to be completed and may be empty. It never fails: the shell would show the error on the
// line that is being typed, or offer files.
func (p Process) offers(words []string) string {
	if len(words) < 2 {
		return completions(words)
	}
	c, _ := findCommand(words[0])
	switch {
	case c.binary != "":
		return p.askSibling(c.binary, c.line(words[1:]))
	case c.name == "version" && !slices.Contains(words[:len(words)-1], clientFlag):
		return p.versionOffers(words)
	}
	return completions(words)
}

// versionOffers adds the front door's own words to those of the sibling, which knows the
// flags that choose a cluster.
func (p Process) versionOffers(words []string) string {
	own := ""
	switch word := words[len(words)-1]; {
	case word == "" && len(words) == 2:
		own = ownWords()["version"]
	case strings.HasPrefix(word, "-"):
		own = matching(clientOffer, word)
	}
	return own + p.askSibling(clusterBinary, words)
}

// askSibling returns the answer of a binary for the words after its name.
func (p Process) askSibling(binary string, words []string) string {
	path, err := p.find(binary)
	if err != nil {
		return noFiles
	}
	said, err := p.Output(path, append([]string{"__complete"}, words...))
	if err != nil || said.Code != exitOK {
		return noFiles
	}
	return said.Stdout
}

// completions returns the answer for the words that the front door knows itself.
func completions(words []string) string {
	if len(words) == 0 {
		words = []string{""}
	}
	typed, word := words[:len(words)-1], words[len(words)-1]
	var offers string
	switch line := strings.Join(typed, " "); line {
	case "", "help":
		for _, c := range commands() {
			offers += c.name + "\t" + c.summary + "\n"
		}
	case "help jobs":
		offers = strings.Join(jobsCommands(), "\n") + "\n"
	case "completion install --dir":
		return onlyDirectories
	default:
		offers = ownWords()[line]
	}
	return matching(offers, word) + noFiles
}

func matching(lines, word string) string {
	all := slices.Collect(strings.Lines(lines))
	return strings.Join(slices.DeleteFunc(all, func(l string) bool { return !strings.HasPrefix(l, word) }), "")
}

func printCompletion(p Process, args []string) (int, error) {
	switch {
	case len(args) == 0:
		return exitOK, write(p.Stdout, completionGuide())
	case args[0] == "install":
		return exitOK, installCompletion(p, args[1:])
	}
	return 0, usageError(fmt.Sprintf("completion %q: expected install or no argument; for the shell's script, use kubectl's own (kubectl completion bash)", args[0]))
}

func completionGuide() string {
	return fmt.Sprintf(`Completion of %q uses kubectl's own. It takes two steps, once:

1. Enable kubectl's completion for your shell:

%s
2. Put the file that kubectl needs in place:

     %[1]s completion install
`, product, enabling(""))
}

// enabling returns the command that enables kubectl's completion in a shell, with a line for
// each shell if the name is that of none.
func enabling(shell string) string {
	const (
		bash       = "     echo 'source <(kubectl completion bash)' >>~/.bashrc"
		zsh        = "     echo 'source <(kubectl completion zsh)' >>~/.zshrc"
		fish       = "     echo 'kubectl completion fish | source' >>~/.config/fish/config.fish"
		powershell = "     kubectl completion powershell >>$PROFILE"
	)
	switch shell {
	case "bash":
		return bash + "\n\n   It needs the package bash-completion.\n"
	case "zsh":
		return zsh + "\n\n   It needs a line before it: autoload -Uz compinit && compinit\n"
	case "fish":
		return fish + "\n"
	case "powershell":
		return powershell + "\n"
	}
	return strings.Join([]string{
		bash + "      # with the package bash-completion", zsh + "        # after the line with compinit", fish, powershell}, "\n") + "\n"
}
