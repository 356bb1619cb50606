package pool

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	container "google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

const setExamples = `  # keep two machines ready
  kubectl kinetic pool set gpu-l4-1-4197 --min-nodes 2

  # what that would cost
  kubectl kinetic pool set gpu-l4-1-4197 --min-nodes 2 --dry-run

  # back to none while no job runs, and at most 20
  kubectl kinetic pool set gpu-l4-1-4197 --min-nodes 0 --max-nodes 20`

type setFlags struct {
	size   gke.Size
	yes    bool
	dryRun cli.DryRun
}

// notGiven is the value of a number that no flag has set.
const notGiven = -1

func (c *command) set() *cobra.Command {
	f := &setFlags{size: gke.Size{Min: notGiven, Max: notGiven}}
	own := cli.NewSection("Flags")
	cli.NumberVar(own.Flags, &f.size.Min, 0, cli.Unbounded, "min-nodes", "Keep at least this `NUMBER` of nodes. They cost money while they are idle.")
	cli.NumberVar(own.Flags, &f.size.Max, 1, cli.Unbounded, "max-nodes", "Have at most this `NUMBER` of nodes.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't ask whether more nodes may stay on while no job runs (--min-nodes).")
	f.dryRun.Add(own, "Print what would change, and the cost of idle nodes, without changing anything: none or client. It reads the pool.")
	return c.finish(&cobra.Command{
		Use: "set NAME", Short: "Change how many nodes a pool has",
		Long: "Change how many nodes a pool has at least and at most. Nothing else about a pool can be changed:\n" +
			"add another one, and remove the old one.",
		Example: setExamples, Args: onePool, ValidArgsFunction: c.completeNames,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			if f.size.Min == notGiven && f.size.Max == notGiven {
				return cli.Usagef("nothing to change: use --min-nodes or --max-nodes")
			}
			dryRun, err := f.dryRun.On()
			if err != nil {
				return err
			}
			return c.runSet(ctx, args[0], f.size, f.yes, dryRun)
		}),
	}, own)
}

func onePool(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one node pool; `kubectl kinetic pool list` lists them")
	}
	return nil
}

func (c *command) runSet(ctx context.Context, name string, size gke.Size, yes, dryRun bool) error {
	cluster, client, pools, err := c.pools(ctx)
	if err != nil {
		return err
	}
	p, err := find(pools, cluster, name)
	if err != nil {
		return err
	}
	limits := gke.Limits(p)
	if size, err = wantedSize(p, name, size); err != nil {
		return err
	}
	u := ui.New(c.Streams.ErrOut, c.Clock.Now)
	on := []kept{{pool: p, nodes: size.Min}}
	if dryRun {
		if gke.HasLimits(p, size) {
			u.Note(fmt.Sprintf("would leave node pool %s unchanged: %s", name, size))
		} else {
			u.Note(fmt.Sprintf("would change node pool %s: %s, now %s", name, size, limits))
		}
		if text := standing(connect.Prices(c.Streams.ErrOut), cluster.Location, on); text != "" {
			u.Note("would run even without jobs: " + text)
		}
		return nil
	}
	if size.Min > limits.Min {
		if err := c.confirmStanding(ctx, cluster.Location, on, yes, "nothing was changed"); err != nil {
			return err
		}
	}
	id := infra.ID{Kind: infra.KindPool, Name: name}
	told := stack.NewProgress(u, c.Clock.Now, "changing", 1)
	told.Quiet = true
	told.Update(infra.Event{ID: id})
	client.Progress = func(text string) { told.Show(id, text) }
	outcome, err := client.Resize(ctx, p, size)
	told.End()
	if err != nil {
		return c.interrupted(ctx, err)
	}
	u.Phase(string(outcome), fmt.Sprintf("%s: %d to %s", name, size.Min, human.Count(size.Max, "node")))
	if size.Min > limits.Min {
		u.Note(startsNone(cluster, p.Name, size.Min))
	}
	return nil
}

// startsNone tells how to start the nodes that a pool should keep. GKE's autoscaler starts none because of a larger
// minimum: it waits for a job (docs.cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler).
func startsNone(cluster gke.Cluster, pool string, least int) string {
	return fmt.Sprintf("GKE keeps %s once there are that many, but starts none now; if there are fewer, start them with: gcloud container clusters resize %s --node-pool=%s --num-nodes=NODES_OF_EACH_ZONE --location=%s --project=%s",
		human.Count(least, "node"), cluster.Name, pool, cluster.Location, cluster.Project)
}

// wantedSize fills in what was not given from the limits that p has, and
// refuses a size that p cannot take.
func wantedSize(p *container.NodePool, name string, size gke.Size) (gke.Size, error) {
	limits := gke.Limits(p)
	if size.Min == notGiven {
		size.Min = limits.Min
	}
	if size.Max == notGiven {
		size.Max = max(limits.Max, 1)
	}
	if size.Min > size.Max {
		return size, cli.Usagef("node pool %s: --min-nodes %d is more than --max-nodes %d", name, size.Min, size.Max)
	}
	if a, ok := gke.Shape(p); ok {
		if err := gke.CheckSlice(a, size.Min, size.Max); err != nil {
			return size, cli.Usage(fmt.Errorf("node pool %s: %w", name, err))
		}
	}
	if size.Min > limits.Min && gke.Capacity(p) == api.CapacityFlexStart {
		return size, cli.Usagef("node pool %s: --min-nodes %d: a pool with flex-start keeps no nodes while no job runs; use 0", name, size.Min)
	}
	return size, nil
}
