// Package down is the command `kubectl kinetic down`: it deletes a cluster and what belongs to it.
package down

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/api/container/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

type downFlags struct {
	yes, profile, output string
	force, deleteData    bool
	dryRun               cli.DryRun
}

const downLong = `Delete a cluster that ` + "`kubectl kinetic up`" + ` created, and its resources. The buckets, with
the results of all jobs, are kept unless --delete-data is given. The project's APIs stay
enabled.

It lists what will be deleted and what is kept, and asks for the name of the cluster. It
refuses while jobs are running or waiting. It can be interrupted and repeated, and also
deletes what an interrupted up created.

Exit codes: 0 what was to be deleted is gone; 1 something could not be deleted, or the
name was not typed; 2 the command line is wrong, or the cluster may not be deleted, and
nothing was changed; 130 interrupted: started operations continue.`

const downExamples = `  kubectl kinetic down --project my-project --zone us-central1-a --cluster lab

  # without a question, with all results
  kubectl kinetic down --cluster lab --yes=lab --delete-data`

// NewCommand returns `kubectl kinetic down`.
func NewCommand(streams genericiooptions.IOStreams, now clock.PassiveClock) *cobra.Command {
	c, f := stack.NewBase(streams, now), &downFlags{}
	own := cli.NewSection("Flags")
	fs := own.Flags
	fs.StringVar(&f.yes, "yes", "", "Don't ask for confirmation. The value is the cluster's `NAME`: --yes=NAME.")
	fs.BoolVar(&f.deleteData, "delete-data", false, "Delete the buckets, too, with the results of all jobs.")
	fs.BoolVar(&f.force, "force", false, "Delete even if jobs run, wait or can't be listed, or if up didn't create the cluster.")
	fs.StringVar(&f.profile, "profile-name", "", "`NAME` of the profile to remove. Default: the cluster's profile.")
	f.dryRun.Add(own, "Print what would be deleted, and delete nothing: none or client.")
	own.FormatVar(&f.output, "Output `FORMAT` of the plan: yaml or json.", cli.Formats()...)
	root := &cobra.Command{
		Use: "down", Short: "Delete a cluster and its resources", Long: downLong, Example: downExamples,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic down"},
		Args:        stack.NoArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cli.RunE(func(ctx context.Context, _ []string) error {
			o, err := f.toOptions(c)
			if err != nil {
				return cli.Usage(err)
			}
			return o.run(ctx)
		}),
	}
	cli.AddSections(root, own, c.Connection.Section())
	root.SetFlagErrorFunc(needsName)
	return root
}

type downOptions struct {
	*stack.Base
	wanted             infra.Wanted
	yes, force, dryRun bool
	output             string
}

func (f *downFlags) toOptions(c *stack.Base) (*downOptions, error) {
	dryRun, err := f.dryRun.On()
	if err != nil {
		return nil, err
	}
	names, err := stack.NamesOf("down", c.Connection)
	if err != nil {
		return nil, err
	}
	if f.yes != "" && f.yes != names.Cluster {
		return nil, cli.Usagef("--yes=%s: the cluster is %s in %s of project %s: confirm with --yes=%s", f.yes, names.Cluster, names.Zone, names.Project, names.Cluster)
	}
	w := infra.Wanted{Names: names, Profile: f.profile, Down: true, DeleteData: f.deleteData}
	if w.Profile == "" {
		if w.Profile, err = stack.ProfileOf(names); err != nil {
			return nil, err
		}
	}
	return &downOptions{Base: c, wanted: w, yes: f.yes != "", force: f.force, dryRun: dryRun, output: f.output}, nil
}

// run looks, asks and deletes.
func (o *downOptions) run(ctx context.Context) error {
	e, err := stack.New(ctx, o.Connection, o.wanted, google.Settings{}, nil)
	if err != nil {
		return err
	}
	e.Project.Patience = 0
	// What is in the cluster goes with it: it need not answer.
	e.Resources = slices.DeleteFunc(e.Resources, func(r infra.Resource) bool { return r.Within.Kind == infra.KindCluster })
	e.Items = slices.DeleteFunc(e.Items, func(i infra.Item) bool { return i.Within.Kind == infra.KindCluster })
	u := ui.New(o.Streams.ErrOut, o.Clock.Now)
	found, err := infra.Read(ctx, e.Resources)
	if err != nil {
		return stack.Interrupted(ctx, err, "continue with: "+o.again(), o.again())
	}
	if err := refuseShared(ctx, e); err != nil {
		return err
	}
	if err := o.refuse(ctx, e); err != nil {
		return err
	}
	e.AddPools(found)
	disks := o.disks(ctx, u, e)
	plan := withDisks(infra.PlanRemoval(e.Items, found, o.force), disks)
	u.Phase("planned", fmt.Sprintf("cluster %s in %s of project %s: %d to delete, %s", e.Names.Cluster, e.Names.Zone, e.Names.Project,
		goes(plan), stays(plan.Count(infra.Stays))))
	if plan.Count(infra.Deleted) == 0 {
		return o.nothing(ctx, u, e, plan)
	}
	if o.dryRun {
		return o.print(plan)
	}
	if err := o.confirm(ctx, e, plan); err != nil {
		return err
	}
	board := stack.NewProgress(u, o.Clock.Now, "deleting", goes(plan))
	board.Parts = plan.Parts(e.Items)
	e.Project.Progress = board.Show
	err = infra.Remove(ctx, e.Resources, plan, board.Update)
	board.End()
	if err != nil {
		if e.Cluster.Deleting() { // the next run can't list them
			tellOfDisks(u, "GKE may leave behind disks of volumes, which cost money; once the cluster is gone, delete them with: ", disks)
		}
		return stack.Interrupted(ctx, err, "continue with: "+o.again(), o.again())
	}
	if plan.KeepsData() {
		o.wanted.DeleteData = true
		u.Note("buckets stay; to delete them, too: " + o.again())
	}
	tellOfDisks(u, "GKE may have left behind disks of volumes, which cost money; delete them with: ", disks)
	return o.report(plan)
}

// nothing says that there is nothing to delete, and which clusters there are: the name may be wrong.
func (o *downOptions) nothing(ctx context.Context, u *ui.UI, e *stack.Stack, plan infra.Removals) error {
	text := "there is nothing to delete"
	last := o.report
	if o.dryRun {
		last = o.print
	} else if err := o.write(o.Streams.ErrOut, plan); err != nil { // what stays
		return err
	}
	if e.Cluster.Last() == nil {
		if others := e.Others(ctx); len(others) > 0 {
			text += ": " + e.Missing(others)
		}
	}
	u.Note(text)
	return last(plan)
}

// again returns the command with all that it needs to know, also without a profile or a context.
func (o *downOptions) again() string {
	n := o.wanted.Names
	text := fmt.Sprintf("kubectl kinetic down --project %s --zone %s --cluster %s", n.Project, n.Zone, n.Cluster)
	if o.wanted.Profile != n.Cluster {
		text += " --profile-name " + o.wanted.Profile
	}
	if o.wanted.DeleteData {
		text += " --delete-data"
	}
	if o.force {
		text += " --force"
	}
	return text
}

// goes returns how many resources a plan deletes, also within others.
func goes(plan infra.Removals) int { return plan.Count(infra.Deleted) + plan.Count(infra.Goes) }

func stays(n int) string {
	if n == 1 {
		return "1 stays"
	}
	return fmt.Sprintf("%d stay", n)
}

// refuseShared returns an error if another cluster uses what would be deleted, whatever --force says.
func refuseShared(ctx context.Context, e *stack.Stack) error {
	others, listed, err := e.Project.Others(ctx)
	n, exists := e.Names, e.Cluster.Last() != nil
	switch {
	case err != nil:
		return err
	case listed && !exists:
		return fmt.Errorf("GKE lists cluster %s in %s of project %s, but reports it as not found when it is read: nothing was deleted; repeat this command", n.Cluster, n.Zone, n.Project)
	case len(others) == 0:
		return nil
	}
	for _, c := range others {
		if !exists && c.Name == n.Cluster {
			return cli.Usagef("there is no cluster %s in %s of project %s, but there is one in %s: use --zone %s", n.Cluster, n.Zone, n.Project, c.Location, c.Location)
		}
	}
	advice := "delete that one first"
	if exists {
		advice += fmt.Sprintf(", or this one alone with: gcloud container clusters delete %s --location=%s --project=%s", n.Cluster, n.Zone, n.Project)
	}
	return cli.Usagef("cluster %s in %s of project %s uses the service accounts, the network or the buckets of cluster %s in %s: %s",
		others[0].Name, others[0].Location, n.Project, n.Cluster, n.Zone, advice)
}

// refuse returns why the cluster must not be deleted.
func (o *downOptions) refuse(ctx context.Context, e *stack.Stack) error {
	if o.force {
		return nil
	}
	if m := e.Cluster.Maker(); m == google.Someone || m == google.Python {
		return cli.Usagef("cluster %s in %s of project %s was not made by `kubectl kinetic up`: delete it with the tool that created it, or use --force", e.Names.Cluster, e.Names.Zone, e.Names.Project)
	}
	if !hasJobs(e.Cluster.Last()) {
		return nil
	}
	jobs, err := o.unfinished(ctx, e)
	if err != nil {
		return fmt.Errorf("looking for jobs in cluster %s: %w; to delete it without looking, use --force", e.Names.Cluster, err)
	}
	if len(jobs) == 0 {
		return nil
	}
	const most = 3
	text := strings.Join(jobs[:min(most, len(jobs))], ", ")
	if more := len(jobs) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return cli.Usagef("cluster %s has %s: %s: wait until they end, cancel them with `kubectl kinetic jobs cancel`, or use --force",
		e.Names.Cluster, human.Count(len(jobs), "unfinished job"), text)
}

// hasJobs reports whether a cluster may have jobs, and volumes.
func hasJobs(c *container.Cluster) bool {
	return c != nil && !slices.Contains([]string{"PROVISIONING", "STOPPING", "ERROR"}, c.Status)
}

// unfinished returns the IDs of the jobs that run or wait, sorted.
func (o *downOptions) unfinished(ctx context.Context, e *stack.Stack) ([]string, error) {
	config, err := e.Connect(ctx)
	if err != nil {
		return nil, err
	}
	all, err := joblist.Read(ctx, config, o.Connection.Notice)
	if err != nil {
		return nil, err
	}
	return joblist.IDs(all.Jobs, api.Running, api.Pending), all.LeftOut
}

// confirm shows what goes, asks for the name of the cluster, and then looks for jobs again.
func (o *downOptions) confirm(ctx context.Context, e *stack.Stack, plan infra.Removals) error {
	if err := o.write(o.Streams.ErrOut, plan); err != nil {
		return err
	}
	if o.yes {
		return nil
	}
	name := e.Names.Cluster
	if why := cli.CannotAsk(o.Streams); why != "" {
		return cli.Usagef("cluster %s in project %s would be deleted; %s: confirm with --yes=%s", name, e.Names.Project, why, name)
	}
	if err := askForName(ctx, o.Streams, name); err != nil {
		return err
	}
	return o.refuse(ctx, e) // a job may have started before the answer came
}

// askForName returns nil if the name of the cluster is typed.
func askForName(ctx context.Context, streams genericiooptions.IOStreams, name string) error {
	const otherwise = "nothing was deleted"
	typed, err := cli.AskFor(ctx, streams, "To delete this, type the name of the cluster", "")
	switch {
	case err != nil:
		fmt.Fprintln(streams.ErrOut, otherwise)
		return err
	case typed != name:
		fmt.Fprintln(streams.ErrOut, otherwise)
		return cli.Exit(cli.ExitFailed)
	}
	return nil
}

type removal struct {
	Project string         `json:"project"`
	Zone    string         `json:"zone"`
	Cluster string         `json:"cluster"`
	Plan    infra.Removals `json:"plan"`
}

// report prints the plan if a program reads it.
func (o *downOptions) report(plan infra.Removals) error {
	if o.output == "" {
		return nil
	}
	return o.print(plan)
}

func (o *downOptions) print(plan infra.Removals) error {
	if o.output == "" {
		return o.write(o.Streams.Out, plan)
	}
	n := o.wanted.Names
	return cli.Write(o.Streams.Out, o.output, removal{n.Project, n.Zone, n.Cluster, plan})
}

// write writes a plan, fitted into a terminal.
func (o *downOptions) write(w io.Writer, plan infra.Removals) error {
	var text strings.Builder
	if err := plan.Write(&text); err != nil {
		return err
	}
	_, err := io.WriteString(w, ui.Wrap(ui.Detect(w), text.String()))
	return err
}

// needsName explains -y, and --yes without its value, which are answers in other commands.
func needsName(_ *cobra.Command, err error) error {
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	if errors.As(err, &missing) && missing.GetSpecifiedName() == "yes" || errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "y" {
		return cli.Usagef("--yes needs the name of the cluster: --yes=NAME")
	}
	return err
}
