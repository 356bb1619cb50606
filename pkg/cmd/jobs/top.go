package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/top"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

type topFlags struct {
	once   bool
	hosts  bool
	output string
	status []string
	typed  []string // the flags that say where to search, as they were typed
}

func (c *command) top() *cobra.Command {
	f := &topFlags{}
	own := cli.NewSection("Flags")
	own.Flags.BoolVarP(&c.choice.AllNamespaces, "all-namespaces", "A", false, "Show jobs of all namespaces.")
	own.Flags.BoolVar(&f.once, "once", false, "Print the jobs once and exit. The default without a terminal.")
	own.Flags.BoolVar(&f.hosts, "hosts", false, "Show a row for each host of jobs that have several.")
	own.FormatVar(&f.output, "Output `FORMAT`: json, which implies --once.", cli.JSON)
	statusVar(own, &f.status, "Only jobs with status `STATE`")
	c.choice.FilterVars(own)
	sub := &cobra.Command{
		Use:   "top",
		Short: "Watch jobs and their hosts on one screen",
		Long: "Watch jobs and their hosts on one screen: state, phase, age, CPU, memory, how busy the\n" +
			"accelerators are, the cost so far, and the last line of each.\n\n" +
			"Keys: l opens the log of a job, s its stacks, x a shell; c cancels it; space shows its\n" +
			"hosts; the arrow keys move; q or Ctrl-C quits.\n\n" +
			"CPU and memory come from the cluster's metrics API. Without it, and for accelerators,\n" +
			"they are read from the pods, which requires the same rights as jobs shell; only for visible\n" +
			"rows, and from at most five pods a second.",
		Example: "  kubectl kinetic jobs top\n\n" +
			"  # yours only, with a row for each host\n  kubectl kinetic jobs top --mine --hosts\n\n" +
			"  # once, for a script\n  kubectl kinetic jobs top -o json\n\n" +
			"  # local jobs\n  kubectl kinetic jobs top --local",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	sub.PreRun = func(sub *cobra.Command, _ []string) { f.typed = typedOutside(own.Flags, sub.Flags()) }
	sub.RunE = runE(c, f.toOptions)
	return c.finish(sub, own)
}

// typedOutside returns the flags that were typed and are not among a command's own, without the namespace, which each job has.
func typedOutside(own, all *pflag.FlagSet) []string {
	var typed []string
	all.Visit(func(f *pflag.Flag) {
		if own.Lookup(f.Name) == nil && f.Name != clientcmd.FlagNamespace {
			typed = append(typed, "--"+f.Name+"="+f.Value.String())
		}
	})
	return typed
}

type topOptions struct {
	*command
	filter      job.Filter
	source      *topSource
	model       *top.Model
	style       ui.Style
	interactive bool
	json        bool
	typed       []string
	notices     chan string // lines about the cluster, for the screen
}

func (f *topFlags) toOptions(c *command, _ []string) (*topOptions, error) {
	filter, err := byStatus(f.status)
	if err != nil {
		return nil, err
	}
	filter.Live = true
	o := &topOptions{command: c, style: ui.Detect(c.streams.Out), json: f.output == cli.JSON, typed: f.typed, notices: make(chan string, 1)}
	o.interactive = !f.once && !o.json && o.style.Redraw && term.IsTerminal(c.streams.In) && event.Of(c.streams.ErrOut) == nil
	meter := connect.NewMeter(c.choice.Connection, c.streams.ErrOut, c.clock.Now())
	if o.interactive {
		c.choice.Connection.SetNotices(noticeWriter(o.notices))
	}
	if o.source, err = newTopSource(c); err != nil {
		return nil, err
	}
	registry := o.source.registry
	filter.Store = c.choice.StoreOf(registry)
	if err := c.choice.ApplyTo(&filter); err != nil {
		return nil, cli.Usage(err)
	}
	o.filter = filter
	o.model = top.New(top.Model{Title: "Jobs" + inPlace(registry), Empty: noJobs(filter, registry).Error(),
		Namespaces: c.choice.AllNamespaces && !c.choice.Local, Hosts: f.hosts || o.json, Meter: meter})
	return o, nil
}

type noticeWriter chan string

func (w noticeWriter) Write(line []byte) (int, error) {
	select {
	case <-w: // which nobody has read
	default:
	}
	select {
	case w <- string(line):
	default:
	}
	return len(line), nil
}

// now returns the time by the clock of the jobs.
func (o *topOptions) now() time.Time { return o.source.registry.Time(o.clock.Now()) }

func (o *topOptions) run(ctx context.Context) error {
	if o.interactive {
		return o.watch(ctx)
	}
	return o.printOnce(ctx)
}

// child returns the command line that does something with the job of a row, after the name of the program.
func (o *topOptions) child(r top.Row, words ...string) []string {
	line := append(slices.Clone(words), r.ID)
	if r.Host != top.WholeJob {
		line = append(line, fmt.Sprintf("--host=%d", r.Host))
	}
	line = append(line, o.typed...)
	if o.source.registry.Kind != api.BackendLocal {
		line = append(line, "--"+clientcmd.FlagNamespace+"="+r.Namespace)
	}
	return line
}
