package doctor

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config/profile"
)

const initLong = `Set up this machine for a cluster, by a menu: connect to a cluster that exists,
create one, or find out what keeps jobs from running. The word of the menu may be
given as an argument.

connect asks for the project, the cluster and the namespace, saves them as a profile,
makes it the current one, adds the cluster to the kubeconfig if it is not there, and
runs doctor. The kubeconfig's current context stays as it is. Without a project it asks
for a context of the kubeconfig and a store instead, for a cluster outside of Google
Cloud. create asks for the project, the zone and the name of the cluster, and hands over
to "kubectl kinetic up", which shows its plan. troubleshoot is "kubectl kinetic doctor",
and asks nothing.

--yes never prompts: values come from flags, variables and the current settings. If these
allow several clusters of the project, connect names them and chooses none.

Exit codes: 0 done; 1 it failed, or doctor found something wrong, also after connect has
saved the profile; 2 the command line is wrong, or a question has no answer; 130
interrupted.`

const initExamples = `  # the menu
  kubectl kinetic init

  # in a script: a profile for a cluster that exists
  kubectl kinetic init connect --project my-project --zone us-central1-a --cluster kinetic-cluster --yes

  # the same for a cluster that is not in Google Cloud
  kubectl kinetic init connect --context kind-dev --store gs://my-bucket --yes`

// The words of the menu.
const (
	wordConnect      = "connect"
	wordCreate       = "create"
	wordTroubleshoot = "troubleshoot"
)

func menu() []cli.Choice {
	return []cli.Choice{
		{Word: wordConnect, About: "use a cluster that exists"},
		{Word: wordCreate, About: "create a cluster with all that jobs need (kubectl kinetic up)"},
		{Word: wordTroubleshoot, About: "find out what keeps jobs from running (kubectl kinetic doctor)"},
	}
}

// initFlags are the flags of init, as typed.
type initFlags struct {
	profile    string
	yes        bool
	connection *connect.Flags
}

// NewInit returns the command `kubectl kinetic init`.
func NewInit(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	f := &initFlags{connection: connect.NewFlags()}
	own := cli.NewSection("Flags")
	own.Flags.StringVar(&f.profile, "profile-name", "", "Save the cluster as the profile `NAME`. Default: the name of the cluster.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't prompt.")
	c := &cobra.Command{
		Use:               "init [connect|create|troubleshoot] [flags]",
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic init"},
		Short:             "Connect to a cluster, create one, or troubleshoot, by a menu",
		Long:              initLong,
		Example:           initExamples,
		Args:              oneOfMenu,
		ValidArgsFunction: completeMenu,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			return (&setup{initFlags: f, streams: streams, now: now, env: os.Getenv, asks: !f.yes}).run(ctx, args)
		}),
	}
	cli.AddSections(c, own, f.connection.Section())
	return c
}

func words() []string {
	var words []string
	for _, c := range menu() {
		words = append(words, c.Word)
	}
	return words
}

func oneOfMenu(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return nil
	case 1:
		return cli.OneOf("init", args[0], words())
	}
	return cli.Usagef("init takes one word, got %q and %q", args[0], args[1])
}

func completeMenu(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for _, c := range menu() {
		offers = append(offers, c.Word+"\t"+c.About)
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// setup is one run of init.
type setup struct {
	*initFlags
	streams genericiooptions.IOStreams
	now     clock.PassiveClock
	env     func(string) string
	// asks reports whether someone answers questions.
	asks bool
	// listed are the clusters that were listed last.
	listed listing
}

func (s *setup) run(ctx context.Context, args []string) error {
	asks := s.asks && !slices.Equal(args, []string{wordTroubleshoot})
	if why := cli.CannotAsk(s.streams); asks && why != "" {
		return cli.Usagef("init asks questions, but %s: use --yes and say the rest with flags, as in "+
			"`kubectl kinetic init connect --project PROJECT --zone ZONE --cluster CLUSTER --namespace NAMESPACE --yes`", why)
	}
	if s.profile != "" {
		if err := profile.CheckName(s.profile); err != nil {
			return cli.Usage(err)
		}
	}
	word := wordConnect
	switch {
	case len(args) == 1:
		word = args[0]
	case s.asks:
		i, err := cli.Choose(ctx, s.streams, "What do you want to do?", menu(), 0)
		if err != nil {
			return err
		}
		word = menu()[i].Word
	}
	switch word {
	case wordCreate:
		return s.create(ctx)
	case wordTroubleshoot:
		_, err := s.doctor(ctx)
		return err
	}
	return s.connect(ctx)
}

// doctor checks what is in force, and returns what was found.
func (s *setup) doctor(ctx context.Context) (*options, error) {
	o, err := (&flags{connection: s.connection}).toOptions(s.streams, s.now)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return o, o.run(ctx)
}
