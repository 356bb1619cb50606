package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// Indent is how many characters stand before the text of a line.
const Indent = 13

// addLine adds a line about something. It adds none if there is nothing to say.
type addLine func(what, text string)

// Text returns the explanation for people.
func (e Explanation) Text() string {
	var b strings.Builder
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-*s %s\n", Indent-1, what, text)
		}
	}
	line("job", e.Job.shownID())
	line("call", e.Job.Call)
	if e.Job.Backend == api.BackendLocal {
		line("workload", "a process on this machine")
	} else {
		e.onCluster(line)
	}
	if e.Job.Map != nil {
		line("map", e.Job.spread())
	}
	line("processes", processes(given(e.Job.Processes)))
	line("environment", e.Job.environment())
	line("store", text(e.Target.Store))
	line("package", fmt.Sprintf("%s, %s, from %s", human.Count(len(e.Bundle.Files), "file"), human.Bytes(e.Bundle.Bytes), e.Bundle.Root))
	e.sent(line)
	line("outputs", e.Job.Outputs.sentence())
	if n := e.Deps.count(); n > 0 {
		line("requires", e.requires(n))
	}
	if installed := e.installed(); installed != "" {
		line("packages", installed)
		e.Image.places(line)
		e.versions(line)
	}
	for _, w := range e.Warnings {
		line("warning", w)
	}
	return b.String()
}

func warmHost(w api.KeepWarm) string {
	which := "one that fits is reused, else a new one starts"
	switch {
	case w.Fresh:
		which = "a new one starts"
	case w.Only:
		which = "one that fits is reused, else the run fails"
	}
	return fmt.Sprintf("%s; level %s; it stays for %s after the call", which, w.Level, duration.HumanDuration(min(w.Idle, w.Limit)))
}

func processes(number string) string {
	switch number {
	case "":
		return ""
	case api.ProcessesAuto:
		return "one for each GPU with PyTorch, one with JAX or without GPUs"
	}
	return number + " on each host, as torchrun starts them"
}

func (e Explanation) onCluster(line addLine) {
	name := cmp.Or(given(e.Job.Name), "of a warm host")
	line("workload", fmt.Sprintf("%s %s, namespace %s", e.Job.kind(), name, text(e.Target.Namespace)))
	line("cluster", e.Target.cluster())
	line("accelerator", e.Accelerator.sentence+e.Accelerator.perHourText())
	if e.Job.MaxCost != nil {
		line("cost limit", report.CostLimit(*e.Job.MaxCost, time.Duration(*e.Job.Budget)*time.Second))
	}
	if e.Job.KeepWarm != nil {
		line("warm host", warmHost(e.Job.warm))
	}
	if e.Job.CacheBytes != nil {
		line("cache", "at most "+human.Bytes(*e.Job.CacheBytes)+" of compiled code")
	}
	if e.Accelerator.Hosts > 1 || e.Job.Backend.IsLeaderWorkerSet() {
		line("hosts", e.hosts())
	}
	if e.Job.Pathways != nil {
		line("pathways", e.Job.Pathways.text())
	}
	line("network", e.Accelerator.network)
	line("requests", e.Job.asked())
	line("capacity", e.Job.capacity())
	line("queue", given(e.Job.Queue))
	line("priority", given(e.Job.PriorityClass))
	if e.Job.Retries != nil {
		line("retries", e.Job.restarts())
	}
	line("image", e.Image.name())
}

// sent says what goes with the package, and what doesn't.
func (e Explanation) sent(line addLine) {
	if e.Bundle.LeftOut != nil {
		line("left out", LeftOut(e.Bundle.LeftOut)+"; --data sends them")
	}
	if e.Payload != nil {
		line("payload", report.PayloadText(*e.Payload))
	}
	for _, d := range e.Data {
		line("data", d.text)
	}
}

// LeftOut names the directories with fetched outputs.
func LeftOut(dirs []string) string { return "fetched outputs in " + strings.Join(dirs, ", ") }

// requires says which of n packages the project needs, and who installs them.
func (e Explanation) requires(n int) string {
	text := func(n int) string { return human.Count(n, "package") + " of " + e.Deps.Source }
	switch {
	case e.Job.Backend == api.BackendLocal:
		return text(n) + ", which python3 on this machine must have"
	case e.Image.Mode == string(decide.Custom):
		return text(n) + ", which the image of --image or KINETIC_IMAGE must have: the job installs none"
	case len(e.Deps.Dropped) > 0:
		return text(n-len(e.Deps.Dropped)) + ", without " + strings.Join(e.Deps.Dropped, ", ")
	}
	return text(n)
}

// installed says what is installed for the job and how, "" for nothing.
func (e Explanation) installed() string {
	if e.Image == nil || e.Image.How == nil {
		return ""
	}
	i := e.Image
	text := "resolved by " + *i.Resolved
	if i.why != "" {
		text += " (" + i.why + ")"
	}
	if i.Packages != nil {
		text = human.Count(*i.Packages, "package") + ", " + text
		if i.Bytes != nil {
			text += ", " + human.Bytes(*i.Bytes)
		}
	}
	if len(i.Added) > 0 {
		text += ", with " + strings.Join(i.Added, " and ") + " added"
	}
	return fmt.Sprintf("%s; %s; on %s", text, *i.How, *i.Base)
}

func (i *explainedImage) name() string {
	if i.Ref == nil {
		return "in " + i.repository + ", with a name that is known when all requirements are"
	}
	return *i.Ref
}

// places prints where packages are looked for, unless that is PyPI alone.
func (i *explainedImage) places(line addLine) {
	if len(i.Ignored) == 0 && !slices.ContainsFunc(i.Indexes, func(x provide.Index) bool { return !x.IsDefault() }) && i.NoIndex == nil {
		return
	}
	what := "indexes"
	say := func(format string, args ...any) {
		line(what, fmt.Sprintf(format, args...))
		what = ""
	}
	if i.NoIndex != nil {
		say("none, because of %s", *i.NoIndex)
	}
	for _, x := range i.Indexes {
		say("%s (%s)", x.Address, x.From)
	}
	for _, x := range i.Ignored {
		say("not %s (%s), which %s doesn't use", x.Address, x.From, *i.Resolved)
	}
}

// versions prints the packages that are chosen, nothing if they are not known yet.
func (e Explanation) versions(line addLine) {
	if len(e.Image.Chosen) == 0 {
		return
	}
	what := "versions"
	for _, list := range report.PackageLines(e.Image.Chosen) {
		line(what, list)
		what = ""
	}
}

func (t explainedTarget) cluster() string {
	if t.way != "" {
		return t.way + " (not GKE)"
	}
	where := fmt.Sprintf("project %s, zone %s", text(t.Project), text(t.Zone))
	if t.Context != nil {
		where += ", context " + *t.Context
	}
	return fmt.Sprintf("%s (%s)", text(t.Cluster), where)
}

// shownID is the job ID. One without a time of its own looks like a mistake, so it is explained.
func (j explainedJob) shownID() string {
	if strings.Contains(j.ID, submit.FixedIdentity().Stamp()) {
		return j.ID + " (a run has the current time in its ID)"
	}
	return j.ID
}

func (j explainedJob) kind() string {
	if j.Backend.IsLeaderWorkerSet() {
		return "LeaderWorkerSet"
	}
	return "Job"
}

// asked returns what a host requests, "" for nothing.
func (j explainedJob) asked() string {
	var parts []string
	if j.CPU != nil {
		parts = append(parts, "cpu "+*j.CPU)
	}
	if j.Memory != nil {
		memory := "memory " + *j.Memory
		if j.limited {
			memory += " (also the limit)"
		}
		parts = append(parts, memory)
	}
	if j.Disk != nil {
		parts = append(parts, "disk "+*j.Disk+j.diskPlace())
	}
	return strings.Join(parts, ", ")
}

// diskPlace says what the disk is, "" for the node's.
func (j explainedJob) diskPlace() string {
	switch {
	case j.DiskClass == nil:
		return ""
	case *j.DiskClass == "":
		return " (a volume of the default StorageClass)"
	}
	return " (a volume of StorageClass " + *j.DiskClass + ")"
}

// capacity says where the machines come from, "" if the user didn't say.
func (j explainedJob) capacity() string {
	switch {
	case j.Reservation != nil:
		return "reservation " + *j.Reservation
	case j.FlexStart:
		return "flex-start, at most 7 days"
	case j.ComputeClass != nil && api.IsBuiltInClass(*j.ComputeClass):
		return "Autopilot's ComputeClass " + *j.ComputeClass
	case j.ComputeClass != nil:
		return "ComputeClass " + *j.ComputeClass
	}
	return ""
}

// restarts says how often the job, or each pod of a map, starts again, and after what.
func (j explainedJob) restarts() string {
	one, more := "a crash", "crashes"
	errors := ""
	switch {
	case j.retryOn == api.RetryOnError && j.Map != nil: // an error is that of an input, not of its pod
		errors = "; of each input " + upTo(*j.Retries, "an error", "errors")
	case j.retryOn == api.RetryOnError:
		one, more = "a crash or an error", "crashes and errors"
	}
	return upTo(*j.Retries, one, more) + "; " + upTo(*j.MaxDisruptions, "a lost machine", "lost machines") + errors
}

// upTo returns "none after crashes", "1 after a crash", "up to 3 after crashes".
func upTo(n int, one, more string) string {
	switch n {
	case 0:
		return "none after " + more
	case 1:
		return "1 after " + one
	}
	return fmt.Sprintf("up to %d after %s", n, more)
}

func (j explainedJob) spread() string {
	if j.Backend == api.BackendLocal {
		return human.Count(j.Map.Inputs, "input") + ", one after the other"
	}
	text := human.Count(j.Map.Inputs, "input") + " in " + human.Count(j.Map.Chunks(), "pod")
	if j.Map.Chunks() > 1 {
		text += fmt.Sprintf(" of %s each, %d at a time", human.Count(j.Map.Chunk, "input"), j.Map.Parallelism)
	}
	return text
}

// environment returns the names of the variables that are added, never their values.
func (j explainedJob) environment() string {
	names := slices.Clone(j.Env)
	for _, name := range j.SecretEnv {
		names = append(names, name+" (secret)")
	}
	return strings.Join(names, ", ")
}

// hosts describes several hosts and how they depend on each other.
func (e Explanation) hosts() string {
	count := strconv.Itoa(e.Accelerator.Hosts)
	if e.Accelerator.Slices > 1 {
		count += fmt.Sprintf(" in %d slices", e.Accelerator.Slices)
	}
	if n := e.Accelerator.ChipsPerHost; n != nil {
		count += fmt.Sprintf(" with %s each", counted(*n, e.Accelerator.Kind))
	}
	if e.Job.sharedPools {
		count += ", in node pools that other jobs may share"
	}
	switch e.Job.Backend {
	case api.BackendLWS:
		return count + ", as a LeaderWorkerSet: each runs the call; if one is lost, all restart"
	case api.BackendPathways:
		return count + ", as a LeaderWorkerSet with the Pathways runtime: one more pod runs the call, and sees all chips; if a host is lost, all restart"
	}
	return count + ", as an Indexed Job: if one is lost, all fail"
}

func counted(n int, kind api.AcceleratorKind) string {
	noun := "chip"
	if kind == api.GPU {
		noun = "GPU"
	}
	return human.Count(n, noun)
}

func (a explainedAccelerator) perHourText() string {
	switch {
	case a.Kind == api.CPU:
		return ""
	case a.PricePerHour == nil:
		return ", price unknown"
	default:
		return fmt.Sprintf(", about %s an hour (%s)", price.Dollars(*a.PricePerHour), price.Words(a.Spot, text(a.PriceBasis)))
	}
}

func text(s *string) string { return cmp.Or(given(s), "-") }

// given returns a text that may be null, which is "".
func given(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// NetworkText says what the hosts of a job with GPUs talk over, and for plain TCP why; "" for other jobs.
func NetworkText(p submit.Planned) string {
	switch wanted, _ := submit.WantedNetwork(p.Spec); {
	case wanted == "":
		return ""
	case p.PlainNetwork != "":
		return api.NetworkTCP.Words() + ", because " + p.PlainNetwork
	}
	return p.Spec.Network.Words()
}
