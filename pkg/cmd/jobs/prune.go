package jobs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/expiry"
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
	cli.AgeVar(own.Flags, &f.olderThan, "older-than", fmt.Sprintf("Delete only what was not used for this long. Default: %dd. Less is safe only while no job waits, runs or is being submitted.", expiry.Days))
	own.Flags.BoolVar(&f.withOutputs, "outputs", false, "Also delete the outputs of jobs that were cleaned up without them, however old they are.")
	own.Flags.BoolVar(&f.dryRun, "dry-run", false, "Only print what would be deleted.")
	own.Flags.BoolVarP(&f.yes, "yes", "y", false, "Don't ask for confirmation.")
	own.FormatVar(&f.output, "Output `FORMAT`: json or name.", cli.JSON, "name")
	return c.finish(&cobra.Command{
		Use:   "prune",
		Short: "Delete stored code and data that no job has used lately",
		Long: "Delete stored code and data that no job has used lately.\n\n" +
			"Jobs share what was uploaded for them, so cleanup deletes none of it. Every submit, and\n" +
			"every job while it runs, renews what it uses. prune deletes what was not renewed for\n" +
			fmt.Sprintf("%d days. A job that needs it later uploads it again.", expiry.Days),
		Example: "  # print how much would be deleted\n  kubectl kinetic jobs prune --dry-run\n\n" +
			"  # delete it without asking\n  kubectl kinetic jobs prune -y\n\n" +
			"  # the same for local jobs\n  kubectl kinetic jobs prune -y --local\n\n" +
			"  # print what cleaned up jobs have left\n  kubectl kinetic jobs prune --outputs --dry-run",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              runE(c, f.toOptions),
	}, own)
}

type pruneOptions struct {
	*command
	pruneFlags
}

func (f *pruneFlags) toOptions(c *command, _ []string) (*pruneOptions, error) {
	return &pruneOptions{c, *f}, nil
}

func (o *pruneOptions) run(ctx context.Context) error {
	registry, err := o.registry()
	if err != nil {
		return err
	}
	plan, err := o.find(ctx, registry.Store)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(o.streams.ErrOut, "interrupted; nothing was deleted")
		return cli.Exit(cli.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	url := registry.Store.URL()
	if o.dryRun || plan.Objects == 0 {
		said := "nothing to delete in " + url
		if plan.Objects > 0 {
			said = wouldDelete(url, plan)
		}
		return o.print(url, plan, false, prune.Done{Objects: plan.Objects, Bytes: plan.Bytes}, said)
	}
	if err := o.confirm(ctx, url, plan); err != nil {
		return err
	}
	return o.delete(ctx, url, plan)
}

// registry returns the place of the jobs. It takes no cluster: the store has everything.
func (o *pruneOptions) registry() (job.Registry, error) {
	if o.choice.Local {
		return o.choice.Registry()
	}
	return backend.StoredRegistry(o.choice.Connection, nil)
}

const (
	// day is a day of --older-than.
	day = 24 * time.Hour
	// localAge is the least safe age in a local store: a local job reads all that it needs when it
	// starts, and a submit renews it just before.
	localAge = time.Hour
)

// find finds what is to be deleted, and warns if that may be too much.
func (o *pruneOptions) find(ctx context.Context, s store.Store) (*prune.Plan, error) {
	unused := cmp.Or(o.olderThan, expiry.Days*day)
	switch {
	case o.choice.Local && unused < localAge:
		fmt.Fprintln(o.streams.ErrOut, "warning: --older-than is less than 1h: jobs that are being submitted may lose what they need")
	case !o.choice.Local && unused < expiry.Days*day:
		fmt.Fprintf(o.streams.ErrOut, "warning: --older-than is less than %dd: jobs that wait, run or are being submitted may lose what they need\n", expiry.Days)
	}
	return prune.Find(ctx, s, unused, o.withOutputs)
}

func wouldDelete(url string, plan *prune.Plan) string {
	return fmt.Sprintf("%s, %s, would be deleted from %s", human.Count(plan.Objects, "object"), human.Bytes(plan.Bytes), url)
}

type pruned struct {
	Store string `json:"store"`
	// Deleted is false if nothing was to be deleted, or with --dry-run.
	Deleted bool `json:"deleted"`
	// Objects and Bytes include the outputs.
	Objects int             `json:"objects"`
	Bytes   int64           `json:"bytes"`
	Items   []prune.Item    `json:"items"`
	Outputs []prune.Outputs `json:"outputs"`
}

// print prints a plan in the format of --output, or a table of its outputs and a sentence, said.
func (o *pruneOptions) print(url string, plan *prune.Plan, deleted bool, amount prune.Done, said string) error {
	switch o.output {
	case "json":
		return cli.Write(o.streams.Out, cli.JSON, pruned{Store: url, Deleted: deleted, Objects: amount.Objects, Bytes: amount.Bytes,
			Items: append([]prune.Item{}, plan.Items...), Outputs: append([]prune.Outputs{}, plan.Outputs...)})
	case "name":
		var names strings.Builder
		for _, item := range plan.Items {
			names.WriteString(url + "/" + item.Name + "\n")
		}
		for _, left := range plan.Outputs {
			names.WriteString(left.URL + "\n")
		}
		_, err := io.WriteString(o.streams.Out, names.String())
		return err
	}
	if len(plan.Outputs) > 0 {
		if _, err := fmt.Fprintln(o.streams.Out, "outputs of jobs that were cleaned up:"); err != nil {
			return err
		}
		t := ui.NewFitted(o.streams.Out, ui.Detect(o.streams.Out), true, ui.Columns("id", "objects", "size")...)
		for _, left := range plan.Outputs {
			t.Row(left.ID, human.Number(left.Objects), human.Bytes(left.Bytes))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(o.streams.Out, said)
	return err
}

// confirm asks before anything is deleted.
func (o *pruneOptions) confirm(ctx context.Context, url string, plan *prune.Plan) error {
	if o.yes {
		return nil
	}
	question := wouldDelete(url, plan)
	if len(plan.Outputs) > 0 {
		question += fmt.Sprintf(", with the outputs of %s", human.Count(len(plan.Outputs), "job"))
	}
	return cli.MustConfirm(ctx, o.streams, question, "nothing was deleted", "-y, or use --dry-run")
}

func (o *pruneOptions) delete(ctx context.Context, url string, plan *prune.Plan) error {
	removal := report.NewRemoval(ui.New(o.streams.ErrOut, o.clock.Now))
	show := removal.OfJob()
	done, err := plan.Delete(ctx, func(d prune.Done) { show(d.Objects, plan.Objects) })
	removal.Done()
	said := fmt.Sprintf("deleted %s, %s, from %s", human.Count(done.Objects, "object"), human.Bytes(done.Bytes), url)
	if err == nil {
		return o.print(url, plan, true, done, said)
	}
	fmt.Fprintln(o.streams.ErrOut, said)
	if ctx.Err() == nil {
		return err
	}
	fmt.Fprintln(o.streams.ErrOut, "interrupted; run the same command for the rest")
	return cli.Exit(cli.ExitInterrupted)
}
