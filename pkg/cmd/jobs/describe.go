package jobs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/mapresults"
)

func (c *command) describe() *cobra.Command {
	var output string
	own := cli.NewSection("Flags")
	own.Flags.StringVarP(&output, "output", "o", "", "Output `FORMAT`: json.")
	own.Offer("output", "json")
	return c.finish(&cobra.Command{
		Use:     "describe ID…",
		Short:   "Show details of a job",
		Example: "  kubectl kinetic jobs describe cpu-train\n\n  # the job you submitted last\n  kubectl kinetic jobs describe --last",
		Args:    c.choice.SomeIDs,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			if err := checkFormat(output, "json"); err != nil {
				return err
			}
			costs := connect.NewMeter(c.choice.Connection, c.streams.ErrOut, c.clock.Now())
			jobs, failed, err := c.choice.Jobs(ctx, args)
			if err != nil {
				return err
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
				return report.PrintJSON(c.streams.Out, describeJSON(d, costs))
			}
			return describeText(c.streams.Out, j, d, costs)
		}),
	}, own, c.choice.Section())
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
		if err := describeText(c.streams.Out, jobs[i], d, costs); err != nil {
			return err
		}
	}
	if output == "json" {
		if err := report.PrintJSON(c.streams.Out, map[string]any{"items": items}); err != nil {
			return err
		}
	}
	return report.Errors(c.streams.ErrOut, max(len(jobs)+len(failed), 2), append(failed, errs...))
}

func describeText(out io.Writer, j *job.Job, d job.Description, costs price.Meter) error {
	w := printers.GetNewTabWriter(out)
	row := func(key, format string, args ...any) {
		if key != "" { // else the line continues the one before
			key += ":"
		}
		fmt.Fprintf(w, "%s\t%s\n", key, ui.Clean(fmt.Sprintf(format, args...)))
	}
	h := d.Handle
	row("ID", "%s", h.JobID)
	describeCall(row, h)
	row("Status", "%s", describeState(d))
	if workload := describeWorkload(d); workload != "" {
		row("Workload", "%s", workload)
	}
	if d.Status.Next != "" {
		row("Next", "%s", d.Status.Next)
	}
	if h.Map != nil {
		row("Inputs", "%s", inputs(*h.Map, d.Inputs))
	}
	for _, d := range h.Data {
		row("Data", "%s", report.DataText(d))
	}
	row("Runs on", "%s", runsOn(h))
	describeResources(row, d, costs)
	row("Store", "%s/%s", j.Store.URL(), h.JobID)
	if names := slices.Concat(h.Env, h.SecretEnv); len(names) > 0 {
		row("Environment", "%s", strings.Join(names, ", "))
	}
	if !h.ByPythonTool() {
		row("Log", "%s", logSize(d))
	}
	row("Outputs", "%s", outputText(h, d))
	switch {
	case d.Inputs != nil && d.Inputs.Done > 0, d.HasResult:
		row("Result", "kubectl kinetic jobs result %s%s", h.JobID, j.LocationFlags())
	case d.Pickle != "":
		row("Result", "%s, a pickle of keras-kinetic", d.Pickle)
	}
	for _, warning := range d.Warnings {
		row("Warning", "%s", warning)
	}
	if node := nodes(d.Hosts); h.Hosts <= 1 && node != "" {
		row("Node", "%s", node)
	}
	if h.Hosts > 1 {
		row("Hosts", "%s", hostCount(h, d.Hosts))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if h.Hosts > 1 {
		if err := printHosts(out, d.Hosts); err != nil {
			return err
		}
	}
	if err := printTimeline(out, d.Timeline); err != nil {
		return err
	}
	return printError(out, d.Error)
}

// describeCall prints what is called, who submitted it, and from which commit.
func describeCall(row func(key, format string, args ...any), h api.Handle) {
	row("Function", "%s", function(h))
	if h.Call != "" {
		row("Call", "%s", h.Call)
	}
	if h.Payload != nil {
		row("Payload", "%s", report.PayloadText(*h.Payload))
	}
	if h.User != "" {
		row("Submitted by", "%s", h.User)
	}
	if h.Commit != "" {
		row("Commit", "%s", commit(h.Origin))
	}
}

// describeResources prints the cost, the image with its packages, the requests, the attempts, the labels
// and the pod, as far as they are known.
func describeResources(row func(key, format string, args ...any), d job.Description, costs price.Meter) {
	if used := costs.OfHistory(d.Handle, d.Status, d.Attempts, d.Disruptions); used != nil {
		row("Cost", "%s", used.Text())
	}
	describeImage(row, d)
	if d.CPU != "" || d.Memory != "" {
		row("Requests", "cpu %s, memory %s", cmp.Or(d.CPU, "none"), cmp.Or(d.Memory, "none"))
	}
	if d.MaxAttempts > 0 {
		row("Attempts", "at most %d, not counting lost machines", d.MaxAttempts)
	}
	if len(d.Labels) > 0 {
		row("Labels", "%s", labels.FormatLabels(d.Labels))
	}
	if d.Handle.Hosts <= 1 && len(d.Hosts) == 1 {
		row("Pod", "%s", d.Hosts[0].Pod)
	}
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

func function(h api.Handle) string {
	switch {
	case h.ByPythonTool():
		return strings.TrimSpace(h.FuncName + " (submitted by keras-kinetic)")
	case h.CallKind == "":
		return h.FuncName
	default:
		return fmt.Sprintf("%s (%s)", h.FuncName, h.CallKind)
	}
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
func inputs(m api.Map, p *mapresults.Progress) string {
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
	if h.Backend == api.BackendPathways {
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

// printHosts prints what the hosts do, and on which nodes they are.
func printHosts(out io.Writer, hosts []api.Host) error {
	w := printers.GetNewTabWriter(out)
	for _, same := range groups(hosts) {
		first := same[0]
		row := strings.Join([]string{numbers(same), string(first.State), podOf(same), nodes(same), ui.Clean(first.Message)}, "\t")
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

// groups groups hosts that are in the same state for the same reason, in the order of
// their first host.
func groups(hosts []api.Host) [][]api.Host {
	var all [][]api.Host
	for _, h := range hosts {
		i := slices.IndexFunc(all, func(g []api.Host) bool {
			return len(hosts) > fewHosts && g[0].State == h.State && g[0].Message == h.Message
		})
		if i < 0 {
			all = append(all, []api.Host{h})
		} else {
			all[i] = append(all[i], h)
		}
	}
	return all
}

// numbers formats the numbers of sorted hosts: 0-2,5.
func numbers(hosts []api.Host) string {
	var parts []string
	for i := 0; i < len(hosts); i++ {
		first := hosts[i].Host
		for i+1 < len(hosts) && hosts[i+1].Host == hosts[i].Host+1 {
			i++
		}
		part := strconv.Itoa(first)
		if last := hosts[i].Host; last > first {
			part += "-" + strconv.Itoa(last)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
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

func printTimeline(out io.Writer, events []job.Event) error {
	fmt.Fprintln(out, "Timeline:")
	w := printers.GetNewTabWriter(out)
	for i, e := range events {
		since := ""
		if i > 0 {
			since = "+" + ui.Took(e.Time.Sub(events[0].Time))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", e.Time.UTC().Format(time.RFC3339), since, ui.Clean(e.What))
	}
	return w.Flush()
}

func printError(out io.Writer, e *api.ResultError) error {
	if e == nil || strings.TrimSpace(e.Traceback) == "" {
		return nil
	}
	text := strings.TrimRight(ui.Clean(e.Traceback), "\n")
	_, err := fmt.Fprintf(out, "Error:\n  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	return err
}
