package human

import (
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// ofCluster matches the beginning of a command of kubectl about a cluster, in a command line or a sentence.
const ofCluster = `\bkubectl ((apply|create|delete|describe|get|logs|patch) |(api-resources|cluster-info|config view)\b)`

// AddToKubectl returns a text in which the commands of kubectl have the flags that choose a cluster, " --context=dev";
// "" for none. Commands of plugins, such as kubectl kinetic, stay as they are: they have flags of their own.
func AddToKubectl(text, flags string) string {
	if flags == "" || !strings.Contains(text, "kubectl ") {
		return text
	}
	return lazyregexp.Of(ofCluster).ReplaceAllStringFunc(text, func(command string) string {
		return "kubectl" + flags + strings.TrimPrefix(command, "kubectl")
	})
}
