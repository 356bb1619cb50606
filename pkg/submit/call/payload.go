package call

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// parsePayload recognises a pickled call. Its TARGET is only a file of the project.
func parsePayload(w api.Invocation, cwd string) (Target, error) {
	has := ": the payload has the function and its arguments"
	switch {
	case w.Command:
		return Target{}, fmt.Errorf("--payload %s cannot be combined with --command%s", w.Payload, has)
	case w.Module:
		return Target{}, fmt.Errorf("--payload %s cannot be combined with -m %s%s", w.Payload, w.Target, has)
	case len(w.KWArgs) > 0:
		return Target{}, fmt.Errorf("--payload %s cannot be combined with --arg %s%s", w.Payload, w.KWArgs[0], has)
	case len(w.Args) > 0:
		return Target{}, fmt.Errorf("--payload %s cannot be combined with arguments after --, got %q%s", w.Payload, w.Args, has)
	case w.Target == "":
		return Target{Kind: api.CallPickle}, nil
	case !strings.HasSuffix(w.Target, ".py"):
		return Target{}, fmt.Errorf("TARGET %s: with --payload, TARGET is a Python file of the project, such as train.py, or omitted%s", w.Target, has)
	}
	path, err := pythonFile(w.Target, cwd)
	return Target{Kind: api.CallPickle, Path: path}, err
}
