package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

const removeExamples = `  kubectl kinetic pool remove gpu-l4-1-4197

  # in a script, whether it is there or not
  kubectl kinetic pool remove gpu-l4-1-4197 --yes --ignore-not-found`

type removeFlags struct{ force, yes, ignoreMissing bool }

func (c *command) remove() *cobra.Command {
	f := &removeFlags{}
	own := cli.NewSection("Flags")
	own.Flags.BoolVar(&f.force, "force", false, "Remove pools on which jobs or other pods use accelerators, too. They lose their machines.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't ask.")
	own.Flags.BoolVar(&f.ignoreMissing, "ignore-not-found", false, "A pool that doesn't exist is not an error.")
	return c.finish(&cobra.Command{
		Use: "remove NAME…", Aliases: []string{"rm"}, Short: "Remove node pools",
		Long:    "Remove node pools with all of their nodes. Pools on which jobs run, or other pods use accelerators, are kept unless --force is given.",
		Example: removeExamples, Args: somePools, ValidArgsFunction: c.completeNames,
		RunE: cli.RunE(func(ctx context.Context, args []string) error { return c.runRemove(ctx, args, *f) }),
	}, own)
}

func somePools(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("name a node pool; `kubectl kinetic pool list` lists them")
	}
	return nil
}

func (c *command) runRemove(ctx context.Context, names []string, f removeFlags) error {
	cluster, t, err := c.cluster() // once: jobs are looked for, and pools removed, in the same cluster
	if err != nil {
		return err
	}
	client, err := c.client(ctx, cluster)
	if err != nil {
		return err
	}
	pools, err := client.Pools(ctx)
	if err != nil {
		return err
	}
	names, left, err := split(ctx, client, pools, names)
	if err != nil {
		return err
	}
	chosen, err := choose(pools, cluster, names, f)
	if err != nil || len(chosen)+len(left) == 0 {
		return err
	}
	look := func() error {
		if len(chosen) == 0 || f.force {
			return nil
		}
		return c.refuse(ctx, chosen, t)
	}
	if err := look(); err != nil {
		return err
	}
	if !f.yes {
		if err := cli.MustConfirm(ctx, c.Streams, question(cluster, chosen, left), "nothing was removed", "--yes"); err != nil {
			return err
		}
		if err := look(); err != nil { // a job may have started before the answer came
			return err
		}
	}
	return c.delete(ctx, client, append(namesOf(chosen), left...), left)
}

// split takes those names out that are of pools whose removal was cut off, so that only something of them
// is left.
func split(ctx context.Context, client *gke.Client, pools []*container.NodePool, names []string) (others, left []string, err error) {
	there := namesOf(pools)
	for _, name := range names {
		if slices.Contains(there, name) {
			others = append(others, name)
			continue
		}
		has, err := client.HasLeft(ctx, name)
		switch {
		case err != nil:
			return nil, nil, err
		case has:
			left = append(left, name)
		default:
			others = append(others, name)
		}
	}
	return others, left, nil
}

// delete removes pools, several at a time, and what is left of those that are gone.
func (c *command) delete(ctx context.Context, client *gke.Client, names, left []string) error {
	u := ui.New(c.Streams.ErrOut, c.Clock.Now)
	told := stack.NewProgress(u, c.Clock.Now, "removing", len(names))
	told.Quiet = true
	errs := make([]error, len(names))
	parallel.Each(poolsAtATime, names, func(i int, name string) {
		own := *client
		id := infra.ID{Kind: infra.KindPool, Name: name}
		own.Progress = func(text string) { told.Show(id, text) }
		told.Update(infra.Event{ID: id})
		remove, what := own.Delete, name
		if slices.Contains(left, name) { // someone may have added such a pool again
			remove, what = own.DeleteLeft, name+": its placement policy"
		}
		outcome, err := remove(ctx, name)
		told.Update(infra.Event{ID: id, Done: true, Err: err})
		errs[i] = err
		if err == nil {
			u.Phase(string(outcome), what)
		}
	})
	told.End()
	return c.first(ctx, errs)
}

func choose(pools []*container.NodePool, cluster gke.Cluster, names []string, f removeFlags) ([]*container.NodePool, error) {
	var chosen []*container.NodePool
	for _, name := range names {
		p, err := find(pools, cluster, name)
		if err != nil && f.ignoreMissing {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, accelerated := gke.Shape(p); !accelerated && !f.force {
			return nil, cli.Usagef("node pool %s has no accelerators and may run the cluster's own components; use --force to remove it anyway", name)
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

// refuse returns an error if jobs run on one of the pools, or other pods use its accelerators, or if that is not known.
func (c *command) refuse(ctx context.Context, chosen []*container.NodePool, t config.Target) error {
	used, err := c.occupied(ctx, t)
	if err != nil {
		return fmt.Errorf("removing node pools: can't tell whether jobs run on them: %w; to remove them anyway, use --force", err)
	}
	for _, p := range chosen {
		jobs, others := used[p.Name].Jobs, used[p.Name].Others
		if len(jobs) > 0 {
			return &cli.Error{Code: cli.ExitFailed, Next: "kubectl kinetic jobs cancel " + ids(jobs, " "),
				Err: fmt.Errorf("removing node pool %s: jobs are running on it: %s; wait for them, cancel them with `kubectl kinetic jobs cancel`, or use --force", p.Name, ids(jobs, ", "))}
		}
		if len(others) > 0 {
			const most = 3
			text := strings.Join(others[:min(most, len(others))], ", ")
			if more := len(others) - most; more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			return fmt.Errorf("removing node pool %s: other pods use its accelerators: %s; delete them first, or use --force", p.Name, text)
		}
	}
	return nil
}

func ids(jobs []joblist.Ref, separator string) string {
	var all []string
	for _, j := range jobs {
		all = append(all, j.ID)
	}
	return strings.Join(all, separator)
}

func namesOf(pools []*container.NodePool) []string {
	var names []string
	for _, p := range pools {
		names = append(names, p.Name)
	}
	return names
}

func question(cluster gke.Cluster, chosen []*container.NodePool, left []string) string {
	var parts []string
	if len(chosen) > 0 {
		parts = append(parts, fmt.Sprintf("%s of cluster %s with all nodes: %s", human.Count(len(chosen), "node pool"), cluster.Name, strings.Join(namesOf(chosen), ", ")))
	}
	for _, name := range left {
		parts = append(parts, fmt.Sprintf("the placement policy of node pool %s, which is gone", name))
	}
	return "This would remove " + strings.Join(parts, "; and ")
}
