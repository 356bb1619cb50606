package submit

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// gitWithin bounds what looking for changes in a large repository may cost.
const gitWithin = time.Second

// findOrigin says who submits what commit. It contacts nothing, and leaves out
// what cannot be found quickly.
func findOrigin(ctx context.Context, root string) api.Origin {
	o := api.Origin{User: job.CurrentUser()}
	ctx, cancel := context.WithTimeout(ctx, gitWithin)
	defer cancel()
	// No program that the repository names is run, and no lock is taken.
	git := exec.CommandContext(ctx, "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "--ignore-submodules", "--", ".")
	git.Dir, git.WaitDelay = root, gitWithin
	if out, err := git.Output(); err == nil {
		o.Commit, o.Dirty = gitStatus(string(out))
	}
	return o
}

// gitStatus reads the answer of git status.
func gitStatus(out string) (commit string, dirty bool) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if oid, found := strings.CutPrefix(line, "# branch.oid "); found && oid != "(initial)" {
			commit = oid
		}
		dirty = dirty || !strings.HasPrefix(line, "#")
	}
	return commit, dirty && commit != ""
}
