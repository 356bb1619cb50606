// Package pool is the command `kubectl kinetic pool`: it adds, lists, changes and removes the
// node pools of a cluster in GKE.
package pool

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

const long = `Add, list, change and remove node pools: the machines with accelerators that a
cluster in GKE makes when a job needs them, and removes when none does.

Exit codes: 0 it was done; 1 it failed; 2 the command line is wrong, and nothing was
changed; 130 interrupted: started operations continue.`

type command struct{ *stack.Base }

// NewCommand returns `kubectl kinetic pool`.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	c := &command{stack.NewBase(streams, now)}
	// otherWords are the names that other tools have for our commands.
	otherWords := map[string][]string{
		"create": {"add"}, "new": {"add"}, "up": {"add"}, "delete": {"remove"}, "rm": {"remove"}, "down": {"remove"},
		"ls": {"list"}, "get": {"list"}, "show": {"list"}, "describe": {"list"}, "resize": {"set"}, "scale": {"set"}, "update": {"set"},
	}
	root := &cobra.Command{
		Use:         "pool",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic pool"},
		Short:       "Add, list, change and remove node pools with accelerators",
		Long:        long,
	}
	cli.OnlySubcommands(root, otherWords)
	root.AddCommand(c.add(), c.list(), c.set(), c.remove())
	cli.AddSections(root)
	return root
}

func (c *command) finish(sub *cobra.Command, sections ...cli.Section) *cobra.Command {
	cli.AddSections(sub, append(sections, c.Connection.Section())...)
	return sub
}

// cluster returns the cluster in GKE that the command line, the environment or the kubeconfig
// names, and all that is known about it. It contacts nothing.
func (c *command) cluster() (gke.Cluster, config.Target, error) {
	t, err := stack.TargetOf("pool", "; outside GKE, ask the cluster's administrator to add nodes", c.Connection)
	return gke.Cluster{Project: t.Project, Location: t.Zone, Name: t.Cluster}, t, err
}

// client returns a client for a cluster. It contacts nothing.
func (c *command) client(ctx context.Context, cluster gke.Cluster) (*gke.Client, error) {
	access, err := gcp.New(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	return gke.New(ctx, access, cluster)
}

// pools returns the cluster, a client for it, and its node pools.
func (c *command) pools(ctx context.Context) (gke.Cluster, *gke.Client, []*container.NodePool, error) {
	cluster, _, err := c.cluster()
	if err != nil {
		return cluster, nil, nil, err
	}
	client, err := c.client(ctx, cluster)
	if err != nil {
		return cluster, nil, nil, err
	}
	pools, err := client.Pools(ctx)
	return cluster, client, pools, err
}

func find(pools []*container.NodePool, cluster gke.Cluster, name string) (*container.NodePool, error) {
	i := slices.IndexFunc(pools, func(p *container.NodePool) bool { return p.Name == name })
	if i >= 0 {
		return pools[i], nil
	}
	names := namesOf(pools)
	hint := human.DidYouMean(name, names)
	if hint == "" {
		hint = "it has " + strings.Join(names, ", ")
	}
	return nil, cli.Usagef("cluster %s has no node pool %q; %s", cluster.Name, name, hint)
}

// interrupted returns the error for a change that was interrupted, err itself for other errors.
// What GKE has begun continues.
func (c *command) interrupted(ctx context.Context, err error) error {
	look := "kubectl kinetic pool list" + c.Connection.Given()
	return stack.Interrupted(ctx, err, "check with: "+look, look)
}

func (c *command) completeNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	pools, _ := cli.Promptly(cmd.Context(), func(ctx context.Context) ([]*container.NodePool, error) {
		_, _, pools, err := c.pools(ctx)
		return pools, err
	})
	var names []string
	for _, p := range pools {
		if !slices.Contains(args, p.Name) {
			names = append(names, p.Name+"\t"+describe(p))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// first returns the error of a change that was interrupted, or all errors.
func (c *command) first(ctx context.Context, errs []error) error {
	for _, err := range errs {
		if stopped := c.interrupted(ctx, err); stopped != err { //nolint:errorlint // whether it is another one
			return stopped
		}
	}
	return errors.Join(errs...)
}

func describe(p *container.NodePool) string {
	limits := gke.Limits(p)
	a, ok := gke.Shape(p)
	if !ok {
		return limits.String() + " without accelerators"
	}
	return accelerator.Describe(a) + ", " + limits.String()
}
