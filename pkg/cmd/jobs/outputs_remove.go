package jobs

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/outputs"
)

type outputRemoval struct{ all, yes, force bool }

// check checks the flags against the rest of the command line.
func (r outputRemoval) check(a outputArgs) error {
	switch {
	case a.verb != "rm" && (r.all || r.yes || r.force):
		return cli.Usagef("--all, --yes and --force are for outputs rm, not for outputs %s", a.verb)
	case a.verb == "rm" && r.all == (len(a.args) > 0):
		return cli.Usagef("outputs rm takes either PATH… or --all")
	}
	return nil
}

func (c *command) removeOutputs(ctx context.Context, j *job.Job, dir *outputs.Dir, format string, paths []string, r outputRemoval) error {
	if r.all && dir.Shared() {
		return cli.Usagef("--all: job %s has the --output-dir %s, where other jobs may have written, too: name what to delete", j.ID(), dir.URL())
	}
	status, err := j.Status(ctx)
	if err != nil {
		return err
	}
	ended := status.State.Ended()
	if !ended && !r.force {
		return cli.Usagef("job %s is %s and may need its outputs: cancel it first, or use --force", j.ID(), status.State)
	}
	files, directories, err := outputsToRemove(ctx, dir, paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return dir.None()
	}
	if err := c.confirmOutputRemoval(ctx, dir, files, r.all || directories, r.yes); err != nil {
		return err
	}
	screen := ui.New(c.streams.ErrOut, c.clock.Now)
	shown := report.NewRemoval(screen)
	err = dir.Remove(ctx, files, ended, shown.OfJob())
	shown.Done()
	if err == nil && r.all && ended {
		err = dir.Forget(ctx)
	}
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(c.streams.ErrOut, "interrupted; run the same command for the rest")
		return cli.Exit(cli.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	screen.Phase("deleted", outputAmount(files))
	if format != "json" {
		return nil
	}
	return cli.Write(c.streams.Out, cli.JSON, map[string]any{"files": len(files), "bytes": outputBytes(files)})
}

// outputsToRemove finds the files at or below paths, or all without paths. It reports whether one of the paths
// is a directory.
func outputsToRemove(ctx context.Context, dir *outputs.Dir, paths []string) (files []outputs.File, directories bool, err error) {
	if len(paths) == 0 {
		files, err = dir.List(ctx, "")
		return files, true, err
	}
	seen := map[string]bool{}
	for _, at := range paths {
		if strings.Trim(at, "/") == "" {
			return nil, false, cli.Usagef("outputs rm %q: name a file or a directory, or use --all", at)
		}
		found, err := dir.List(ctx, at)
		if err != nil {
			return nil, false, err
		}
		for _, f := range found {
			directories = directories || f.Name != at
			if !seen[f.Name] {
				seen[f.Name] = true
				files = append(files, f)
			}
		}
	}
	return files, directories, nil
}

// confirmOutputRemoval asks before more is deleted than the files that were named one by one.
func (c *command) confirmOutputRemoval(ctx context.Context, dir *outputs.Dir, files []outputs.File, several, yes bool) error {
	if yes || !several {
		return nil
	}
	question := fmt.Sprintf("%s would be deleted from %s", outputAmount(files), dir.URL())
	return cli.MustConfirm(ctx, c.streams, question, "nothing was deleted", "-y")
}

func outputAmount(files []outputs.File) string {
	return human.Count(len(files), "file") + ", " + human.Bytes(outputBytes(files))
}

func outputBytes(files []outputs.File) (bytes int64) {
	for _, f := range files {
		bytes += f.Size
	}
	return bytes
}
