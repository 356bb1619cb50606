package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/prune"
)

type pruneFlags struct {
	olderThan                time.Duration
	withOutputs, yes, dryRun bool
	output                   string
}

func (c *command) prune() *cobra.Command {
	f := &pruneFlags{}
	own := cli.NewSection("Flags")
	cli.DurationVar(own.Flags, &f.olderThan, "older-than", "Delete only what is older than this. Default: 10d, or 1h in a local store without running jobs. Less is safe only while no job is being submitted.")
	own.Flags.BoolVar(&f.withOutputs, "outputs", false, "Also delete the outputs of jobs that were cleaned up without them.")
	own.Flags.BoolVar(&f.dryRun, "dry-run", false, "Only print what would be deleted.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't ask for confirmation.")
	own.Flags.StringVarP(&f.output, "output", "o", "", "Output `FORMAT`: json or name.")
	own.Offer("output", "json", "name")
	return c.finish(&cobra.Command{
		Use:   "prune",
		Short: "Delete stored code and data that no job needs any more",
		Long: "Delete stored code and data that no job needs any more.\n\n" +
			"Jobs share what was uploaded for them, so cleanup deletes none of it. prune reads what\n" +
			"all jobs of the store need, and deletes the rest, if it is old enough. It deletes\n" +
			"nothing if it can't read a job. It lists outputs of jobs that were cleaned up, and\n" +
			"deletes them only with --outputs.",
		Example: "  # print how much would be deleted\n  kubectl kinetic jobs prune --dry-run\n\n" +
			"  # delete it without asking\n  kubectl kinetic jobs prune -y\n\n" +
			"  # the same for local jobs\n  kubectl kinetic jobs prune -y --local",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              runE(c, f.toOptions),
	}, own)
}

// pruneOptions are the options of prune.
type pruneOptions struct {
	*command
	pruneFlags
}

func (f *pruneFlags) toOptions(c *command, _ []string) (*pruneOptions, error) {
	return &pruneOptions{c, *f}, checkFormat(f.output, "json", "name")
}

func (o *pruneOptions) run(ctx context.Context) error {
	registry, err := o.registry()
	if err != nil {
		return err
	}
	age, err := o.age(ctx, registry)
	if err != nil {
		return err
	}
	plan, err := o.find(ctx, registry.Store, age)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(o.streams.ErrOut, "interrupted; nothing was deleted")
		return cli.Exit(cli.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	objects, bytes := o.amount(plan)
	if o.dryRun || objects == 0 {
		return o.print(registry.Store, plan, objects, bytes)
	}
	if err := o.confirm(ctx, registry.Store, plan, objects, bytes); err != nil {
		return err
	}
	return o.delete(ctx, registry.Store, plan)
}

// registry returns the place of the jobs. It takes no cluster: the store tells everything.
func (o *pruneOptions) registry() (job.Registry, error) {
	if o.choice.Local {
		return o.choice.Registry()
	}
	return backend.StoredRegistry(o.choice.Connection, nil)
}

// busyAge is the least age in a local store with running jobs. They have everything they need, or its
// name is in their handle; but somebody is at work, and nothing is urgent.
const busyAge = 10 * 24 * time.Hour

// age returns how old an object must be to be deleted.
func (o *pruneOptions) age(ctx context.Context, registry job.Registry) (time.Duration, error) {
	least, why := registry.Store.PruneAge(), "a job that is being submitted now may lose what it needs"
	if o.choice.Local {
		jobs, err := registry.Backend.List(ctx, api.ListStates)
		if err != nil {
			return 0, err
		}
		if i := slices.IndexFunc(jobs, func(e api.JobSummary) bool { return !e.State.Ended() }); i >= 0 {
			least, why = busyAge, fmt.Sprintf("job %s is %s", jobs[i].ID, jobs[i].State)
		}
	}
	if o.olderThan > 0 && o.olderThan < least {
		fmt.Fprintf(o.streams.ErrOut, "warning: --older-than is less than %s: %s\n", inUnits(least), why)
	}
	return cmp.Or(o.olderThan, least), nil
}

// inUnits returns an age as --older-than takes it.
func inUnits(age time.Duration) string {
	const day = 24 * time.Hour
	if age >= day {
		return fmt.Sprintf("%dd", age/day)
	}
	return fmt.Sprintf("%dh", age/time.Hour)
}

func (o *pruneOptions) find(ctx context.Context, s store.Store, age time.Duration) (*prune.Plan, error) {
	screen := ui.New(o.streams.ErrOut, o.clock.Now)
	var bar *ui.Progress
	defer func() {
		if bar != nil {
			bar.Done()
		}
	}()
	return prune.Find(ctx, s, age, func(p prune.Progress) {
		text := human.Count(p.Listed, "object")
		if p.Total > 0 {
			text += fmt.Sprintf(", %s/%s jobs", human.Number(p.Jobs), human.Number(p.Total))
		}
		switch {
		case bar != nil:
			bar.Count(p.Jobs, p.Total, text)
		case p.Listed+p.Total >= manyObjects:
			bar = screen.ProgressCount("reading", p.Jobs, p.Total, text)
		}
	})
}

// manyObjects is how many objects and jobs take so long that progress is shown.
const manyObjects = 1000

// amount returns how much of a plan is to be deleted.
func (o *pruneOptions) amount(plan *prune.Plan) (objects int, bytes int64) {
	objects, bytes = plan.Objects, plan.Bytes
	for _, left := range plan.Outputs {
		if o.withOutputs {
			objects += left.Objects
			bytes += left.Bytes
		}
	}
	return objects, bytes
}

// print prints a plan that is not carried out.
func (o *pruneOptions) print(s store.Store, plan *prune.Plan, objects int, bytes int64) error {
	if o.output != "" {
		return o.printItems(s, plan, false, objects, bytes)
	}
	if err := o.printOutputs(plan); err != nil {
		return err
	}
	said := fmt.Sprintf("%s, %s, would be deleted from %s", human.Count(objects, "object"), human.Bytes(bytes), s.URL())
	if objects == 0 {
		said = "nothing to delete in " + s.URL()
	}
	_, err := fmt.Fprintln(o.streams.Out, said)
	return err
}

// pruned is what prune prints with -o json.
type pruned struct {
	Store string `json:"store"`
	// Deleted is false if nothing was to be deleted, or only with another flag.
	Deleted bool `json:"deleted"`
	// Objects and Bytes include outputs only if they are deleted, too.
	Objects int             `json:"objects"`
	Bytes   int64           `json:"bytes"`
	Items   []prune.Item    `json:"items"`
	Outputs []prune.Outputs `json:"outputs"`
}

func (o *pruneOptions) printItems(s store.Store, plan *prune.Plan, deleted bool, objects int, bytes int64) error {
	if o.output == "json" {
		items := append([]prune.Item{}, slices.Collect(plan.Items())...)
		return report.PrintJSON(o.streams.Out, pruned{Store: s.URL(), Deleted: deleted, Objects: objects, Bytes: bytes,
			Items: items, Outputs: append([]prune.Outputs{}, plan.Outputs...)})
	}
	for item := range plan.Items() {
		if _, err := fmt.Fprintln(o.streams.Out, s.URL()+"/"+item.Name); err != nil {
			return err
		}
	}
	for _, left := range plan.Outputs {
		if !o.withOutputs {
			break
		}
		if _, err := fmt.Fprintln(o.streams.Out, left.URL); err != nil {
			return err
		}
	}
	return nil
}

// printOutputs lists the outputs of jobs that were cleaned up.
func (o *pruneOptions) printOutputs(plan *prune.Plan) error {
	if len(plan.Outputs) == 0 {
		return nil
	}
	said := "outputs of jobs that were cleaned up, which --outputs deletes:"
	if o.withOutputs {
		said = "outputs of jobs that were cleaned up:"
	}
	if _, err := fmt.Fprintln(o.streams.Out, said); err != nil {
		return err
	}
	t := ui.NewTable(o.streams.Out, "id", "objects", "size")
	for _, left := range plan.Outputs {
		t.Row(left.ID, human.Number(left.Objects), human.Bytes(left.Bytes))
	}
	return t.Flush()
}

// confirm asks before anything is deleted.
func (o *pruneOptions) confirm(ctx context.Context, s store.Store, plan *prune.Plan, objects int, bytes int64) error {
	if o.yes {
		return nil
	}
	question := fmt.Sprintf("%s, %s, would be deleted from %s", human.Count(objects, "object"), human.Bytes(bytes), s.URL())
	if o.withOutputs && len(plan.Outputs) > 0 {
		question += fmt.Sprintf(", with the outputs of %s", human.Count(len(plan.Outputs), "job"))
	}
	if why := cli.CannotAsk(o.streams); why != "" {
		return cli.Usagef("%s; %s: confirm with -y, or use --dry-run", question, why)
	}
	return cli.Confirm(ctx, o.streams, question, "nothing was deleted")
}

// delete carries a plan out.
func (o *pruneOptions) delete(ctx context.Context, s store.Store, plan *prune.Plan) error {
	objects, _ := o.amount(plan)
	removal := report.NewRemoval(ui.New(o.streams.ErrOut, o.clock.Now))
	show := removal.OfJob()
	done, err := plan.Delete(ctx, o.withOutputs, func(d prune.Done) { show(d.Objects, objects) })
	removal.Done()
	said := fmt.Sprintf("deleted %s, %s, from %s", human.Count(done.Objects, "object"), human.Bytes(done.Bytes), s.URL())
	if err != nil {
		fmt.Fprintln(o.streams.ErrOut, said)
		if ctx.Err() == nil {
			return err
		}
		fmt.Fprintln(o.streams.ErrOut, "interrupted; run the same command for the rest")
		return cli.Exit(cli.ExitInterrupted)
	}
	if o.output != "" {
		return o.printItems(s, plan, true, done.Objects, done.Bytes)
	}
	if !o.withOutputs {
		if err := o.printOutputs(plan); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(o.streams.Out, said)
	return err
}
