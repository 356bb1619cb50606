package jobs

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

func (c *command) describe() *cobra.Command {
	var output string
	var timeline bool
	own := cli.NewSection("Flags")
	own.FormatVar(&output, "Output `FORMAT`: json, wide (also the image's digest, and who made it), or svg (a picture of the timeline).", "wide", cli.JSON, "svg")
	own.Flags.BoolVar(&timeline, "timeline", false, "Show how long each host waited for its machine, image and packages, how long it ran, and how long it waited to be collected.")
	return c.finish(&cobra.Command{
		Use:     "describe ID…",
		Short:   "Show details of a job",
		Example: "  kubectl kinetic jobs describe cpu-train\n\n  # the job you submitted last\n  kubectl kinetic jobs describe --last\n\n  # where the time went, as a picture\n  kubectl kinetic jobs describe --last -o svg >job.svg",
		Args:    c.choice.SomeIDs,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			if timeline && output != "" && output != "svg" {
				return cli.Usagef("--timeline cannot be combined with --output %s: omit one", output)
			}
			costs := connect.NewMeter(c.choice.Connection, c.streams.ErrOut, c.clock.Now())
			jobs, failed, err := c.choice.Jobs(ctx, args)
			if err != nil {
				return err
			}
			if timeline || output == "svg" {
				return c.describeTracks(ctx, jobs, failed, output == "svg")
			}
			if c.choice.MayBeSeveral(args) {
				return c.describeAll(ctx, jobs, failed, output, costs)
			}
			j := jobs[0]
			d, err := j.Describe(ctx)
			if err != nil {
				return err
			}
			defer report.Remember(ctx, c.streams.ErrOut, j, d.Status) // after the output, which shows the state before
			if output == "json" {
				return cli.Write(c.streams.Out, cli.JSON, describeJSON(d, costs))
			}
			return c.describeText(j, d, costs, output == "wide")
		}),
	}, own, c.choice.Section())
}

// describeTracks draws the timeline of a job, or prints those of several.
func (c *command) describeTracks(ctx context.Context, jobs []*job.Job, failed []error, picture bool) error {
	if picture && len(jobs)+len(failed) > 1 {
		return cli.Usagef("--output svg draws one job, not %d", len(jobs)+len(failed))
	}
	all, errs := each(jobs, func(j *job.Job) (tracks, error) {
		d, err := j.Describe(ctx)
		if err != nil {
			return tracks{}, err
		}
		return tracksOf(d, c.clock.Now())
	})
	for i, t := range all {
		if errs[i] != nil {
			continue
		}
		if picture {
			return t.svg(c.streams.Out)
		}
		if len(all) > 1 {
			fmt.Fprintf(c.streams.Out, "%s:\n", t.id)
		}
		if err := t.print(c.streams.Out); err != nil {
			return err
		}
	}
	return report.Errors(c.streams.ErrOut, len(jobs)+len(failed), append(failed, errs...))
}

// describeAll describes several jobs. failed are the errors of those that can't be found.
func (c *command) describeAll(ctx context.Context, jobs []*job.Job, failed []error, output string, costs price.Meter) error {
	all, errs := each(jobs, func(j *job.Job) (job.Description, error) { return j.Describe(ctx) })
	items := []description{}
	separator := ""
	for i, d := range all {
		if errs[i] != nil {
			continue
		}
		defer report.Remember(ctx, c.streams.ErrOut, jobs[i], d.Status)
		if output == "json" {
			items = append(items, describeJSON(d, costs))
			continue
		}
		fmt.Fprint(c.streams.Out, separator)
		separator = "\n"
		if err := c.describeText(jobs[i], d, costs, output == "wide"); err != nil {
			return err
		}
	}
	if output == "json" {
		if err := cli.Write(c.streams.Out, cli.JSON, map[string]any{"items": items}); err != nil {
			return err
		}
	}
	return report.Errors(c.streams.ErrOut, max(len(jobs)+len(failed), 2), append(failed, errs...))
}

// logSize returns the size of the log. Until the job has ended, only a part of it is stored.
func logSize(d job.Description) string {
	switch {
	case d.Status.State.Ended() || d.End != nil:
		return human.Bytes(d.LogBytes)
	case d.LogBytes == 0:
		return "nothing stored yet"
	default:
		return human.Bytes(d.LogBytes) + " stored so far"
	}
}

// function returns the name of a job, of the function if that is another, and the kind of the call.
func function(h api.Handle) string {
	if h.ByPythonTool() {
		return strings.TrimSpace(h.FuncName + " (submitted by keras-kinetic)")
	}
	if called, _ := functionOf(h.Call); called != "" && called != h.FuncName {
		return fmt.Sprintf("%s (%s %s)", h.FuncName, h.CallKind, called)
	}
	if h.CallKind == "" {
		return h.FuncName
	}
	return fmt.Sprintf("%s (%s)", h.FuncName, h.CallKind)
}

func commit(o api.Origin) string {
	if o.Dirty {
		return o.Commit + " and uncommitted changes"
	}
	return o.Commit
}

// describeState returns the job's state, with why it waits or how it ended.
func describeState(d job.Description) string {
	s := d.Status
	word, outcome := s.Word(), s.Outcome()
	switch {
	case word == string(api.NotFound), strings.EqualFold(word, outcome),
		word != string(api.Failed) && s.Message == "" && s.UnreleasedHosts == "":
		return word
	case strings.HasPrefix(outcome, strings.ToLower(word)+": "): // failed or cancelled
		return word + outcome[len(word):]
	default:
		return word + ", " + outcome
	}
}

// describeWorkload says why the workload is unknown, or why it was deleted, if that is
// known; "" if it exists.
func describeWorkload(d job.Description) string {
	switch s := d.Status; {
	case s.Unread != "":
		return "unknown: " + s.Unread
	case s.Ended == "":
		return ""
	case s.Collected:
		return "deleted: " + strings.TrimPrefix(s.End, "ended SUCCEEDED, ")
	case s.Ended == api.CancelledWord:
		return "deleted: the job was cancelled"
	default:
		return "gone"
	}
}

// inputs says how many inputs a map has, in how many chunks, and how many are done.
func inputs(m api.Map, p *records.MapProgress) string {
	text := fmt.Sprintf("%s in %s", human.Number(m.Inputs), human.Count(m.Chunks(), "chunk"))
	if m.Inherited > 0 {
		text = fmt.Sprintf("%s: %s from an older map, the others in %s", human.Number(m.Inputs), human.Number(m.Inherited), human.Count(m.Chunks(), "chunk"))
	}
	if p == nil {
		return text + "; all values were deleted"
	}
	return text + "; " + report.MapProgress(*p)
}

func runsOn(h api.Handle) string {
	if h.Backend == api.BackendLocal {
		return "this machine"
	}
	kind := "Job"
	if h.Backend.IsLeaderWorkerSet() {
		kind = "LeaderWorkerSet"
	}
	return fmt.Sprintf("%s, %s %s in namespace %s", h.Accelerator, kind, h.K8sName, h.Namespace)
}

// outputText says how many outputs are in the store, or where --output-dir puts them.
func outputText(h api.Handle, d job.Description) string {
	if h.OutputDir != "" {
		return "in " + h.OutputDir
	}
	if d.Outputs == 0 {
		return "none"
	}
	return human.Count(d.Outputs, "file") + ", " + human.Bytes(d.OutputBytes)
}

// hostCount returns how many hosts a job has, and how many of them have a pod.
func hostCount(h api.Handle, there []api.Host) string {
	if len(there) == 0 || len(there) >= h.Hosts {
		return strconv.Itoa(h.Hosts)
	}
	return fmt.Sprintf("%d, %d of them with a pod", h.Hosts, len(there))
}

// fewHosts is how many hosts get a row each, at most. If there are more, equal ones share a row.
const fewHosts = 8

func printHosts(out io.Writer, hosts []api.Host) error {
	w := printers.GetNewTabWriter(out)
	for _, same := range groupsOf(hosts, func(a, b api.Host) bool { return a.State == b.State && a.Message == b.Message }) {
		first := same[0]
		row := strings.Join([]string{numbers(same), string(first.State), podOf(same), nodes(same), ui.Clean(first.Message)}, "\t")
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(row, "\t"))
	}
	return w.Flush()
}

func printParts(out io.Writer, parts []api.Part) error {
	if len(parts) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nPathways:")
	w := printers.GetNewTabWriter(out)
	for _, same := range groupsOf(parts, func(a, b api.Part) bool {
		return api.IsWorkerPart(a.Name) && api.IsWorkerPart(b.Name) && a.State == b.State && a.Message == b.Message && a.Restarts == b.Restarts
	}) {
		var hosts []api.Host
		for _, p := range same {
			number, _ := api.PartPlace(p.Name)
			hosts = append(hosts, api.Host{Host: number - 1, Pod: p.Pod, Node: p.Node})
		}
		first := same[0]
		name, restarts := first.Name, ""
		if len(same) > 1 {
			name = human.Count(len(same), "worker") + ", " + numbers(hosts)
		}
		if first.Restarts > 0 {
			restarts = "restarted " + human.Count(first.Restarts, "time")
		}
		row := strings.Join([]string{name, string(first.State), podOf(hosts), nodes(hosts), ui.Clean(strings.Trim(restarts+", "+first.Message, ", "))}, "\t")
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(row, "\t"))
	}
	return w.Flush()
}

// podOf returns the name of the pod of a single host. The pods of several hosts are too many to print.
func podOf(hosts []api.Host) string {
	if len(hosts) > 1 {
		return ""
	}
	return hosts[0].Pod
}

// groupsOf groups what is alike, in the order of the first of each group, if there are more than a few.
func groupsOf[T any](all []T, alike func(a, b T) bool) (grouped [][]T) {
	for _, one := range all {
		i := slices.IndexFunc(grouped, func(g []T) bool { return len(all) > fewHosts && alike(g[0], one) })
		if i < 0 {
			grouped = append(grouped, []T{one})
		} else {
			grouped[i] = append(grouped[i], one)
		}
	}
	return grouped
}

// numbers formats the numbers of sorted hosts: 0-2, 5.
func numbers(hosts []api.Host) string {
	var all []int
	for _, h := range hosts {
		all = append(all, h.Host)
	}
	return human.Ranges(all)
}

// nodes returns the name of the hosts' node, or the number of nodes.
func nodes(hosts []api.Host) string {
	names := map[string]bool{}
	for _, h := range hosts {
		if h.Node != "" {
			names[h.Node] = true
		}
	}
	if len(names) > 1 {
		return human.Count(len(names), "node")
	}
	return strings.Join(slices.Collect(maps.Keys(names)), "")
}
