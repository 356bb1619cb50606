// Package initialize is the command `kubectl kinetic init`: it asks which cluster, and hands over to profile, up
// and doctor.
package initialize

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/doctor"
	profilecmd "github.com/kubectl-kinetic/kinetic/pkg/cmd/profile"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/up"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

const long = `Set up this machine for a cluster, from a menu: connect to an existing cluster, create
one, or find out what keeps jobs from running. To skip the menu, give its word as an
argument.

connect asks for the project, the cluster and the namespace, saves them as a profile,
makes it the current one, adds the cluster to the kubeconfig if it is not there, and
runs "kubectl kinetic doctor". A profile of that name and cluster keeps its namespace
and its store unless you give others. The kubeconfig's current context stays as it is.
Without a project it asks for a context of the kubeconfig and a store instead, for a
cluster outside of Google Cloud. create asks for the project, the zone and the name of
the cluster, and hands over to "kubectl kinetic up", which shows its plan. troubleshoot
is "kubectl kinetic doctor", and asks nothing.

--yes never prompts: values come from flags, variables and the current settings. If
none of them names a cluster, connect lists the project's clusters and chooses none.

Exit codes: 0 done; 1 it failed, or doctor found something wrong, also after connect has
saved the profile; 2 the command line is wrong, or a question has no answer; 130
interrupted.`

const examples = `  # the menu
  kubectl kinetic init

  # in a script: a profile for a cluster that exists
  kubectl kinetic init connect --project my-project --zone us-central1-a --cluster kinetic-cluster --yes

  # the same for a cluster that is not in Google Cloud
  kubectl kinetic init connect --context kind-dev --store gs://my-bucket --yes`

type setup struct {
	streams    genericiooptions.IOStreams
	now        clock.PassiveClock
	env        func(string) string
	connection *connect.Flags
	flags      *pflag.FlagSet // all
	profile    string
	yes        bool
}

// NewCommand returns the command `kubectl kinetic init`.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	s := &setup{streams: streams, now: now, env: os.Getenv, connection: connect.NewFlags()}
	c := &cobra.Command{
		Use:         "init [connect|create|troubleshoot] [flags]",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic init"},
		Short:       "Connect to a cluster, create one, or troubleshoot, from a menu",
		Long:        long,
		Example:     examples,
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return nil
			case 1:
				return cli.OneOf("init", args[0], words())
			}
			return cli.Usagef("init takes one word, got %q and %q", args[0], args[1])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return words(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: cli.RunE(s.run),
	}
	s.flags = c.Flags()
	cli.AddSections(c, s.section(), s.connection.Section())
	return c
}

func (s *setup) section() cli.Section {
	own := cli.NewSection("Flags")
	own.Flags.StringVar(&s.profile, "profile-name", "", "Save the cluster as the profile `NAME`. Default: the name of the cluster.")
	own.Flags.BoolVarP(&s.yes, "yes", "y", false, "Don't prompt.")
	return own
}

func words() []string { return []string{"connect", "create", "troubleshoot"} }

func (s *setup) run(ctx context.Context, args []string) error {
	word := ""
	if len(args) == 1 {
		word = args[0]
	} else if s.yes {
		word = "connect"
	}
	if why := cli.CannotAsk(s.streams); why != "" && !s.yes && word != "troubleshoot" {
		return cli.Usagef("init asks questions, but %s: use --yes and flags, as in "+
			"`kubectl kinetic init connect --project PROJECT --zone ZONE --cluster CLUSTER --namespace NAMESPACE --yes`", why)
	}
	if s.profile != "" {
		if err := config.CheckProfileName(s.profile); err != nil {
			return cli.Usage(err)
		}
	}
	if word == "" {
		i, err := cli.Choose(ctx, s.streams, "What do you want to do?", []string{"connect: use an existing cluster",
			"create: create a GKE cluster with everything jobs need (kubectl kinetic up)", "troubleshoot: find out what keeps jobs from running (kubectl kinetic doctor)"}, 0)
		if err != nil {
			return err
		}
		word = words()[i]
	}
	switch word {
	case "create":
		return s.create(ctx)
	case "troubleshoot":
		return doctor.Run(ctx, s.streams, s.now, s.connection)
	}
	return s.connect(ctx)
}

// create asks for the project, the zone and the name of a new cluster, and hands over to up, which shows its plan
// and asks.
func (s *setup) create(ctx context.Context) error {
	if !s.yes {
		if err := s.askPlace(ctx); err != nil {
			return err
		}
	}
	return cli.Exit(cli.Run(ctx, up.NewCommand(s.streams, s.now), s.upArguments(), s.streams))
}

func (s *setup) askPlace(ctx context.Context) error {
	where, err := profilecmd.Place(s.connection)
	if err != nil {
		return err
	}
	t, cluster := &s.connection.Target, config.DefaultCluster
	if t.Profile != "" || s.connection.Context() != "" { // they name the cluster, perhaps
		cluster = cmp.Or(where.Cluster, cluster)
	}
	return profilecmd.AskFor(ctx, s.streams, s.connection,
		profilecmd.Question{What: "Google Cloud project", Value: where.Project, From: where.From.Project, Flag: &t.Project},
		profilecmd.Question{What: "zone, or region of a regional cluster", Value: where.Zone, From: where.From.Zone, Flag: &t.Zone},
		profilecmd.Question{What: "name of the new cluster", Value: cluster, From: where.From.Cluster, Flag: &t.Cluster})
}

func (s *setup) upArguments() []string {
	var args []string
	for _, name := range []string{"kubeconfig", "context", "profile", "project", "zone", "cluster", "namespace", "profile-name"} {
		if value := s.flags.Lookup(name).Value.String(); value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	if s.yes {
		args = append(args, "--yes")
	}
	return args
}
