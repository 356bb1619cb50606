// Package up is the command `kubectl kinetic up`: it creates a cluster with all that jobs need.
package up

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

type upFlags struct {
	accelerators          []string
	spot, autopilot       bool
	minNodes, maxNodes    int
	machine, profile      string
	kueue                 string
	private               bool
	authorized            []string
	network, subnetwork   string
	podRange, services    string
	yes, force, reconcile bool
	dryRun                cli.DryRun
	output                string
}

const (
	usualMachine  = "e2-standard-4"
	usualMaxNodes = 5
)

const upLong = `Create a GKE cluster with everything jobs need: APIs, service accounts with few
rights, a repository for images, buckets, a network, node pools, LeaderWorkerSet, a
namespace with its service account and Roles, a context in the kubeconfig, and a
profile.

It shows its plan and the cost, and asks for confirmation. Existing resources are not
changed: differences are shown, and fixed only with --reconcile. It can be
interrupted and repeated at any time.

Exit codes: 0 everything is there; 1 something failed, and what does not depend on it
was done, or the answer was no; 2 the command line is wrong, or the cluster may not be
used, and nothing was changed; 130 interrupted: started operations continue.`

const upExamples = `  # a cluster for jobs on CPUs
  kubectl kinetic up --project my-project --zone us-central1-a --cluster lab

  # with machines for two accelerators, which are made when a job needs them
  kubectl kinetic up --project my-project -a l4 -a v6e-8:spot

  # what would be done
  kubectl kinetic up --project my-project --dry-run`

// NewCommand returns `kubectl kinetic up`.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	c, f := stack.NewBase(streams, now), &upFlags{}
	cluster := cli.NewSection("Cluster")
	fs := cluster.Flags
	fs.StringArrayVarP(&f.accelerators, "accelerator", "a", nil, "Add a node pool for an `ACCELERATOR`, such as l4 or v6e-8. May be repeated.")
	fs.BoolVar(&f.spot, "spot", false, "Use spot capacity for these node pools.")
	cli.NumberVar(fs, &f.minNodes, 0, cli.Unbounded, "min-nodes", "Keep at least this `NUMBER` of nodes in each of them. They cost money while they are idle.")
	fs.BoolVar(&f.autopilot, "autopilot", false, "Let GKE manage the nodes. The cluster is then in the whole region.")
	fs.StringVar(&f.machine, "machine-type", usualMachine, "Machine `TYPE` for the cluster's own components.")
	f.maxNodes = usualMaxNodes
	cli.NumberVar(fs, &f.maxNodes, 1, cli.Unbounded, "max-nodes", "Maximum `NUMBER` of these machines.")
	fs.BoolVar(&f.private, "private", false, "Close the API server's IP addresses: it is reached only by its DNS name, with IAM permissions.")
	fs.StringSliceVar(&f.authorized, "authorized-networks", nil, "Let only these `NETWORKS` reach the API server's address: a comma-separated list, such as 203.0.113.0/24.")
	f.addNetwork(fs)
	fs.StringVar(&f.kueue, "kueue", "", "Set up a queue: `QUEUE`, or kinetic without a value. Kueue must be installed.")
	fs.Lookup("kueue").NoOptDefVal = "kinetic"
	fs.StringVar(&f.profile, "profile-name", "", "`NAME` of the profile to write. Default: the cluster's profile.")
	outcome := cli.NewSection("Outcome")
	fs = outcome.Flags
	fs.BoolVarP(&f.yes, "yes", "y", false, "Don't ask for confirmation.")
	f.dryRun.Add(outcome, "Print what would be done, and change nothing: none or client.")
	fs.BoolVar(&f.reconcile, "reconcile", false, "Change settings of existing resources that differ.")
	fs.BoolVar(&f.force, "force", false, "Also use a cluster that up didn't create.")
	outcome.FormatVar(&f.output, "Output `FORMAT` of the plan: yaml or json.", cli.Formats()...)
	cluster.Completions["accelerator"] = cli.CompleteInOrder(accelerator.CompletePool)
	cluster.Completions["profile-name"] = func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return connect.CompleteProfiles(cmd, nil, word)
	}
	cluster.Offer("machine-type", "e2-standard-2", usualMachine, "e2-standard-8", "e2-standard-16", "n2-standard-4", "n2-standard-8") // and many others
	connection := c.Connection.Section()
	root := &cobra.Command{
		Use: "up", Short: "Create a GKE cluster with everything jobs need", Long: upLong, Example: upExamples,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic up"},
		Args:        stack.NoArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cli.RunE(func(ctx context.Context, _ []string) error {
			o, err := f.toOptions(c, cluster.Flags.Changed)
			if err != nil {
				return cli.Usage(err)
			}
			return o.run(ctx)
		}),
	}
	cli.AddSections(root, cluster, outcome, connection)
	root.SetFlagErrorFunc(takesNoName)
	return root
}

func (f *upFlags) addNetwork(fs *pflag.FlagSet) {
	fs.StringVar(&f.network, "network", "", "Create the cluster in an existing `NETWORK`, which may be projects/PROJECT/global/networks/NAME. Default: a new one with a NAT.")
	fs.StringVar(&f.subnetwork, "subnetwork", "", "`SUBNET` of --network in the region, or projects/PROJECT/regions/REGION/subnetworks/NAME.")
	fs.StringVar(&f.podRange, "cluster-secondary-range-name", "", "`RANGE` of the subnet for pods. Default: GKE adds one, if the subnet is in the same project.")
	fs.StringVar(&f.services, "services-secondary-range-name", "", "`RANGE` of the subnet for Services. Default: GKE chooses one.")
}

type upOptions struct {
	*stack.Base
	wanted                        infra.Wanted
	settings                      google.Settings
	pools                         map[string]gke.Planned
	prices                        price.Table
	cost                          cost
	yes, force, reconcile, dryRun bool
	output                        string
}

// toOptions returns what was asked for. given reports whether a flag was typed.
func (f *upFlags) toOptions(c *stack.Base, given func(flag string) bool) (*upOptions, error) {
	if err := f.check(given); err != nil {
		return nil, err
	}
	dryRun, err := f.dryRun.On()
	if err != nil {
		return nil, err
	}
	names, err := stack.NamesOf("up", c.Connection)
	if err != nil {
		return nil, err
	}
	if f.autopilot {
		names.Zone = names.Region()
		c.Connection.Target.Zone = names.Zone // for the errors of this command
	}
	vpc, err := google.NewVPC(names, f.network, f.subnetwork, f.podRange, f.services)
	if err != nil {
		return nil, err
	}
	o := &upOptions{Base: c, settings: f.settings(given, vpc), pools: map[string]gke.Planned{},
		yes: f.yes, force: f.force, reconcile: f.reconcile, dryRun: dryRun, output: f.output}
	if err := f.plan(names, given("min-nodes"), o.pools); err != nil {
		return nil, err
	}
	o.wanted = infra.Wanted{Names: names, Autopilot: f.autopilot, OtherNetwork: vpc.Chosen(), Pools: slices.Sorted(maps.Keys(o.pools)), Queue: f.kueue, Profile: f.profile}
	if o.wanted.Profile == "" {
		if o.wanted.Profile, err = stack.ProfileOf(names); err != nil {
			return nil, err
		}
	}
	o.prices = connect.Prices(c.Streams.ErrOut)
	return o, checkProfile(o.wanted, false)
}

// checkProfile refuses the name of a profile that is for another cluster. Whether there is a cluster of
// the same name elsewhere in the project is looked up first, unless that was done: then another --zone is
// the better advice.
func checkProfile(w infra.Wanted, looked bool) error {
	n := w.Names
	wanted := config.Profile{Name: w.Profile, Project: n.Project, Zone: n.Zone, Cluster: n.Cluster, Namespace: n.Namespace}
	other, taken, err := infra.Profile{Env: os.Getenv, Wanted: wanted}.Taken()
	if err != nil || !taken || !looked && other.Project == n.Project && other.Cluster == n.Cluster {
		return err
	}
	return cli.Usagef("profile %s is for %s: choose another name with --profile-name, or remove that one with: kubectl kinetic profile rm %[1]s", other.Name, other.Place())
}

// check refuses flags that would have no effect, and a name that the profile can't have.
func (f *upFlags) check(given func(flag string) bool) error {
	if f.autopilot {
		if len(f.accelerators) > 0 {
			return cli.Usagef("--accelerator %s: Autopilot makes the nodes for each job by itself: omit --accelerator or --autopilot", f.accelerators[0])
		}
		for _, flag := range []string{"spot", "min-nodes", "machine-type", "max-nodes"} {
			if given(flag) {
				return cli.Usagef("--%s: Autopilot chooses the nodes by itself: omit --%[1]s or --autopilot", flag)
			}
		}
	}
	for _, flag := range []string{"spot", "min-nodes"} {
		if given(flag) && len(f.accelerators) == 0 {
			return cli.Usagef("--%s is about the node pools of --accelerator, and there is none: add --accelerator, or omit --%[1]s", flag)
		}
	}
	if f.private && len(f.authorized) > 0 {
		return cli.Usagef("--authorized-networks %s cannot be combined with --private, which leaves no address for these networks to use", strings.Join(f.authorized, ","))
	}
	for _, flag := range []string{"subnetwork", "cluster-secondary-range-name", "services-secondary-range-name"} {
		if given(flag) && f.network == "" {
			return cli.Usagef("--%s needs --network: add it, or omit --%[1]s", flag)
		}
	}
	if err := google.CheckNetworks(f.authorized); err != nil {
		return cli.Usagef("--authorized-networks: %v", err)
	}
	if f.kueue != "" {
		if wrong := validation.IsDNS1123Subdomain(f.kueue); len(wrong) > 0 {
			return cli.Usagef("--kueue %q: expected lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit", f.kueue)
		}
	}
	if f.profile != "" {
		if err := config.CheckProfileName(f.profile); err != nil {
			return fmt.Errorf("--profile-name: %w", err)
		}
	}
	return nil
}

func (f *upFlags) settings(given func(flag string) bool, vpc google.VPC) google.Settings {
	return google.Settings{Autopilot: f.autopilot, Machine: f.machine, MaxNodes: f.maxNodes,
		MachineGiven: given("machine-type"), MaxNodesGiven: given("max-nodes"),
		Endpoints: google.Endpoints{Private: f.private, Authorized: f.authorized}, VPC: vpc}
}

// run shows the plan, asks for confirmation and applies it.
func (o *upOptions) run(ctx context.Context) error {
	e, err := stack.New(ctx, o.Connection, o.wanted, o.settings, o.pools)
	if err != nil {
		return err
	}
	if o.dryRun {
		e.Project.Patience = 0
	}
	u := ui.New(o.Streams.ErrOut, o.Clock.Now)
	var zones located
	var asked sync.WaitGroup
	asked.Go(func() { zones.zones, zones.err = gke.Zones(ctx, e.Access, e.Names.Project, o.machines()) })
	var once sync.Once // many services may wait for the same
	e.Project.Progress = func(_ infra.ID, text string) { once.Do(func() { u.Note(text) }) }
	found, err := o.look(ctx, e)
	if err != nil {
		return stack.Interrupted(ctx, err, "repeat the command to continue", "")
	}
	if err := checkProfile(o.wanted, true); err != nil {
		return err
	}
	asked.Wait()
	if err := o.settle(ctx, u, e, found, zones); err != nil {
		return cli.Usage(err)
	}
	plan := infra.MakePlan(e.Items, found, o.reconcile)
	u.Phase("planned", fmt.Sprintf("cluster %s in %s of project %s: %s", e.Names.Cluster, e.Names.Zone, e.Names.Project, counts(plan)))
	if o.dryRun {
		return o.print(plan)
	}
	if plan.Work() > 0 {
		if err := o.confirmPlan(ctx, u, e, plan); err != nil {
			return err
		}
	} else if err := plan.Write(o.Streams.ErrOut); err != nil {
		return err
	}
	board := stack.NewProgress(u, o.Clock.Now, "creating", plan.Work())
	board.Words = words(plan)
	e.Project.Progress = board.Show
	err = infra.Apply(ctx, e.Resources, found, plan, board.Update)
	board.End()
	if err != nil {
		return stack.Interrupted(ctx, err, "repeat the command to continue", "")
	}
	u.Phase("ready", fmt.Sprintf("profile %s, context %s; try: %s", o.wanted.Profile, e.Names.Context(), o.firstJob()))
	if o.reconcile {
		for _, text := range plan.Unchanged() {
			u.Warn("--reconcile does not change " + text)
		}
	}
	if o.output != "" {
		return o.print(plan)
	}
	return nil
}

// firstJob returns the command of a first job, in a directory of its own: a run packages that in which it is
// typed, and refuses a home directory. It names the namespace if the profile has another one.
func (o *upOptions) firstJob() string {
	n, flag := o.wanted.Names, ""
	if file, err := config.ReadProfiles(os.Getenv); err == nil {
		if p, err := file.Find(o.wanted.Profile); err == nil && p.Namespace != n.Namespace {
			flag = " -n " + n.Namespace
		}
	}
	return "mkdir -p hello && cd hello && kubectl kinetic run" + flag + " --command -- echo hello"
}

func counts(p infra.Plan) string {
	text := fmt.Sprintf("%d to create, ", p.Count(infra.Create, infra.Complete, infra.Wait))
	if p.Count(infra.Create) == len(p) && len(p) > 0 {
		return text + "nothing there yet"
	}
	text += fmt.Sprintf("%d unchanged", p.Count(infra.Fine))
	if n := p.Count(infra.Change); n > 0 {
		text += fmt.Sprintf(", %d to change", n)
	}
	if n := p.Count(infra.Differs); n > 0 {
		text += fmt.Sprintf(", %d with other settings", n)
	}
	if slices.ContainsFunc(p, changeable) {
		text += "; --reconcile changes them"
	}
	return text
}

// changeable reports whether --reconcile would change something in a step.
func changeable(s infra.Step) bool {
	return s.Action == infra.Differs && slices.ContainsFunc(s.Differences, func(d infra.Difference) bool { return !d.Fixed })
}

// confirmPlan shows the plan and its price, and asks.
func (o *upOptions) confirmPlan(ctx context.Context, u *ui.UI, e *stack.Stack, plan infra.Plan) error {
	if err := plan.Write(o.Streams.ErrOut); err != nil {
		return err
	}
	u.Note(o.cost.String())
	switch e.Cluster.Maker() {
	case google.Python:
		o.tellOfAdoption(u, e)
		tellOfLifetimes(u, e)
	case google.Someone:
		tellOfLifetimes(u, e)
	}
	if o.yes {
		return nil
	}
	would := fmt.Sprintf("cluster %s in project %s: %s", e.Names.Cluster, e.Names.Project, counts(plan))
	return cli.MustConfirm(ctx, o.Streams, would, "nothing was changed", "--yes")
}

// takesNoName explains --yes of up with the name of a cluster, as down wants it.
func takesNoName(_ *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && invalid.GetFlag().Name == "yes" {
		return cli.Usagef("--yes=%s: --yes of up takes no value: use --yes alone; a cluster is named with --cluster", invalid.GetValue())
	}
	return err
}
