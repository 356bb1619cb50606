package submit

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// gitWithin limits the time spent on looking for changes in a large repository.
const gitWithin = time.Second

// findOrigin returns who submits which commit. It contacts nothing, and omits what it
// can't find quickly.
func findOrigin(ctx context.Context, root string) api.Origin {
	o := api.Origin{User: job.CurrentUser()}
	ctx, cancel := context.WithTimeout(ctx, gitWithin)
	defer cancel()
	// This runs no program that the repository names, and takes no lock.
	git := exec.CommandContext(ctx, "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "--ignore-submodules", "--", ".")
	git.Dir, git.WaitDelay = root, gitWithin
	if out, err := git.Output(); err == nil {
		o.Commit, o.Dirty = gitStatus(string(out))
	}
	return o
}

// gitStatus parses the output of git status.
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
