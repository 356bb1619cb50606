package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/versions"
	"github.com/kubectl-kinetic/kinetic/runner"
)

// versionTimeout limits the time that the cluster has to answer.
const versionTimeout = time.Second

type versionFlags struct {
	output, frontDoor string
}

// newVersionCommand returns the part of version about the cluster: the front door prints the part about the client, and runs
// this one as jobs version. Help does not list it, because users type it without jobs.
func newVersionCommand(streams genericiooptions.IOStreams) *cobra.Command {
	f, connection := &versionFlags{}, connect.NewFlags()
	own := cli.NewSection("Flags")
	own.FormatVar(&f.output, "Output `FORMAT`: json or yaml.", cli.Formats()...)
	own.Flags.StringVar(&f.frontDoor, "front-door", "", "`VERSION` of the front door, which runs this.")
	_ = own.Flags.MarkHidden("front-door") // fails if there is no such flag
	c := &cobra.Command{
		Use:               "version",
		Short:             "Show component versions in the cluster",
		Hidden:            true,
		Annotations:       map[string]string{cli.PathAnnotation: "kubectl kinetic version"},
		Args:              cli.NoArguments(""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cli.RunE(func(ctx context.Context, _ []string) error {
			return f.toOptions(streams, connection).run(ctx)
		}),
	}
	cli.AddSections(c, own, connection.Section())
	return c
}

func (f *versionFlags) toOptions(streams genericiooptions.IOStreams, connection *connect.Flags) *versionOptions {
	if ours := version.String(); f.frontDoor != "" && f.frontDoor != ours {
		fmt.Fprintf(streams.ErrOut, "warning: kubectl-kinetic_jobs is %s, and kubectl-kinetic is %s: "+
			"the plugin's binaries must be in one directory: reinstall it\n", ours, f.frontDoor)
	}
	return &versionOptions{streams.Out, connection, f.output, versionTimeout}
}

type versionOptions struct {
	out        io.Writer
	connection *connect.Flags
	output     string
	within     time.Duration
}

type clusterVersions struct {
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	versions.Inventory
}

func (o *versionOptions) run(ctx context.Context) error {
	c := o.read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.output != "" {
		return cli.Write(o.out, o.output, c)
	}
	return c.print(o.out)
}

// read asks the cluster. If there is none, or it does not answer, the result says so.
func (o *versionOptions) read(ctx context.Context) clusterVersions {
	where, err := o.connection.ResolveJobs()
	if errors.Is(err, config.ErrNoContext) {
		return clusterVersions{Inventory: versions.Inventory{Error: "none: the kubeconfig has no current context"}}
	}
	if err != nil {
		return clusterVersions{Inventory: versions.Inventory{Error: err.Error()}}
	}
	c := clusterVersions{Context: cmp.Or(where.Context, where.From.Context), Namespace: where.Namespace}
	config, err := o.connection.REST(where)
	if err != nil {
		c.Error = err.Error()
		return c
	}
	c.Inventory = versions.Read(ctx, config, versions.Options{
		Namespace: where.Namespace, Within: o.within,
		Client: versions.Client{Version: version.String(), Runners: []string{runner.SHA256(), runner.WarmSHA256()}},
	})
	return c
}

// print writes a line for each part.
func (c clusterVersions) print(out io.Writer) error {
	table := ui.NewTable(out, 2)
	where := c.Context
	if c.Namespace != "" {
		where += ", namespace " + c.Namespace
	}
	if c.Error != "" {
		if where != "" {
			where += ": "
		}
		table.Row("cluster", where+c.Error)
		return table.Flush()
	}
	table.Row("cluster", where)
	server := c.Errors[versions.PartServer]
	if c.Server != nil {
		server = "Kubernetes " + c.Server.GitVersion
	}
	table.Row("server", server)
	table.Row("LeaderWorkerSet", addOn(c.LeaderWorkerSet, c.Errors[versions.PartLeaderWorkerSet]))
	table.Row("Kueue", addOn(c.Kueue, c.Errors[versions.PartKueue]))
	if why := c.Errors[versions.PartRunners]; why != "" {
		table.Row("runner", why)
	} else if len(c.Runners) == 0 {
		table.Row("runner", "none: the next job installs it")
	}
	for _, r := range c.Runners {
		table.Row("runner", fmt.Sprintf("%s (%s)", cmp.Or(r.Version, "of an unknown version"), relation(r.Relation)))
	}
	return table.Flush()
}

func relation(r versions.Relation) string {
	switch r {
	case versions.Current:
		return "this client's"
	case versions.Different:
		return "another build"
	}
	return string(r)
}

func addOn(a *versions.AddOn, why string) string {
	switch {
	case a == nil:
		return why
	case !a.Installed:
		return "not installed"
	case a.Version == "":
		return "installed, API " + a.APIVersion
	}
	return a.Version + ", API " + a.APIVersion
}
