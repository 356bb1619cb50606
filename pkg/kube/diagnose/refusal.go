package diagnose

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Messages of the API server when it refuses a pod.
const (
	createPrefix     = `^(?:Error creating: |[Cc]reate Pod \S+ in StatefulSet \S+ failed error: )(?:pods "[^"]*" is forbidden: )?`
	noServiceAccount = `serviceaccount "([a-z0-9][a-z0-9.-]*)" not found`
	overQuota        = `exceeded quota: ([a-z0-9][a-z0-9.-]*), requested: (\S+), used: (\S+), limited: (\S+)`
	quotaWantsOfFUSE = `failed quota: ([a-z0-9][a-z0-9.-]*): (.*gke-gcsfuse.*)`
	quotaWants       = `failed quota: ([a-z0-9][a-z0-9.-]*): (.*)`
	podSecurity      = `violates PodSecurity "([^"]*)": (.*)`
	noPriorityClass  = `no PriorityClass with name (\S+) was found`
	limitRange       = `(?:maximum|minimum) \S+ usage per \w+ is | max limit to request ratio per \w+ is `
	belowRequest     = `Invalid value: "([^"]*)": must be less than or equal to (\S+) limit of (\S+)`
	webhookDenied    = `admission webhook "([^"]*)" denied the request: (.*)`
	sidecarDenied    = `admission webhook "([^"]*)" denied the request: (.*gke-gcsfuse.*)`
	policyDenied     = `ValidatingAdmissionPolicy '([^']*)' with binding '[^']*' denied request: (.*)`
	invalidPod       = ` is invalid: `
	anyRefusal       = ``
)

// explainFailedCreate explains why no pod can be made. It ignores events before after,
// when the newest pod was made: they no longer apply.
func (s Observation) explainFailedCreate(after time.Time) Diagnosis {
	e := s.newestOfMaker("FailedCreate")
	if e == nil || eventTime(e).Before(after) {
		return Diagnosis{}
	}
	return s.explainRefusal(oneLine(e.Message))
}

// MissingAccount returns the service account without which no pod could be made the last time, "" if that was not why. It
// may be there by now.
func (s Observation) MissingAccount() string {
	e := s.newestOfMaker("FailedCreate")
	if e == nil || eventTime(e).Before(newestCreation(s.Pods)) {
		return ""
	}
	match := lazyregexp.Of(noServiceAccount).FindStringSubmatch(oneLine(e.Message))
	if match == nil {
		return ""
	}
	return match[1]
}

// refusal is a reason for which the API server refuses a pod.
type refusal struct {
	pattern string
	// sentence and next are formats for the namespace, for what the pattern's first three
	// groups match, and for the detail. If next is empty, the command is the one that
	// describes the job.
	sentence, next string
	// detail, if not nil, makes a text from what the pattern matches. Otherwise the
	// detail is the server's whole message.
	detail func(match []string) string
	// unrecoverable means that waiting doesn't help. denial means that it doesn't after a
	// while: a webhook, policy or quota that denies the pod may just have been changed.
	unrecoverable, denial bool
}

// refusals are tried in order.
var refusals = []refusal{
	{pattern: noServiceAccount, sentence: "service account %[2]s is missing in namespace %[1]s (`kubectl kinetic doctor` shows what else is); once it is there, Kubernetes tries again within minutes",
		next: "kubectl create serviceaccount %[2]s -n %[1]s"},
	{pattern: overQuota, sentence: "quota %[2]s of namespace %[1]s is exceeded: %[5]s", next: "kubectl describe quota %[2]s -n %[1]s",
		detail: func(match []string) string { return foreign(shortfall(match[2], match[3], match[4])) }},
	{pattern: quotaWantsOfFUSE, sentence: "quota %[2]s of namespace %[1]s: %[3]s; a LimitRange with defaults, --memory or an overlay sets limits, and of gke-gcsfuse-sidecar --annotation gke-gcsfuse/cpu-limit=1, and likewise memory-limit",
		next: "kubectl describe quota,limitrange -n %[1]s", denial: true},
	{pattern: quotaWants, sentence: "quota %[2]s of namespace %[1]s: %[3]s; a LimitRange with defaults, --memory or an overlay sets limits",
		next: "kubectl describe quota,limitrange -n %[1]s", denial: true},
	{pattern: podSecurity, sentence: "namespace %[1]s rejects the pod, which violates its pod security level %[2]s%[5]s",
		next: "kubectl get namespace %[1]s --show-labels", detail: podSecurityDetail, unrecoverable: true},
	{pattern: noPriorityClass, sentence: "priority class %[2]s does not exist", next: "kubectl get priorityclasses"},
	{pattern: sidecarDenied, sentence: "the pod was refused by %[2]s: %[3]s; its sidecar needs limits: --annotation gke-gcsfuse/memory-limit=2Gi, and likewise cpu-limit and ephemeral-storage-limit", denial: true},
	{pattern: webhookDenied, sentence: "the pod was refused by %[2]s: %[3]s", denial: true},
	{pattern: policyDenied, sentence: "the pod was refused by %[2]s: %[3]s", denial: true},
	{pattern: limitRange, sentence: "the pod violates the limits of namespace %[1]s: %[5]s",
		next: "kubectl describe limitrange -n %[1]s", unrecoverable: true},
	{pattern: belowRequest, sentence: "the pod requests %[2]s of %[3]s but its limit is %[4]s, which may be the default of namespace %[1]s",
		next: "kubectl describe limitrange -n %[1]s", unrecoverable: true},
	{pattern: invalidPod, sentence: "the pod can't be created: %[5]s", unrecoverable: true},
	{pattern: anyRefusal, sentence: "the pod can't be created: %[5]s"},
}

// podSecurityDetail returns what a level of pod security forbids, or how to comply with
// it.
func podSecurityDetail(match []string) string {
	if strings.HasPrefix(match[1], "restricted:") && strings.Contains(match[2], "runAsNonRoot != true") {
		return "; use --restricted to comply with it"
	}
	return ": " + foreign(match[2])
}

// explainRefusal puts the API server's message into our words.
func (s Observation) explainRefusal(message string) Diagnosis {
	text := lazyregexp.Of(createPrefix).ReplaceAllString(message, "")
	for _, r := range refusals {
		match := lazyregexp.Of(r.pattern).FindStringSubmatch(text)
		if match == nil {
			continue
		}
		values := []any{s.meta().Namespace, "", "", "", foreign(text)}
		for i, group := range match[1:min(len(match), 4)] {
			values[i+1] = foreign(group)
		}
		if r.detail != nil {
			values[4] = r.detail(match)
		}
		d := Diagnosis{Sentence: fmt.Sprintf(r.sentence, values...), Next: s.describeJob(), Unrecoverable: r.unrecoverable}
		if strings.Contains(r.next, "%") {
			d.Next = fmt.Sprintf(r.next, values...)
		} else if r.next != "" {
			d.Next = r.next
		}
		if r.denial {
			d.Unrecoverable = s.deniedFor(match[1]) >= passing
			if strings.Contains(text, api.NodeLabelPool) { // Autopilot lets no pod select it
				d.Sentence += "; with --slice-node-pool shared, the job needs no node pool of its own"
			}
		}
		return d
	}
	return Diagnosis{}
}

// denier returns the webhook, policy or quota that has denied a pod; "" if none has.
func denier(text string) string {
	for _, r := range refusals {
		if match := lazyregexp.Of(r.pattern).FindStringSubmatch(text); r.denial && match != nil {
			return match[1]
		}
	}
	return ""
}

// passing is how long a webhook, policy or quota may deny something that it then allows,
// because it was just changed. Whatever makes the pods retries after one second, two,
// four and so on.
const passing = 10 * time.Second

// deniedFor returns how long a webhook, policy or quota has denied pods since the last pod was
// made, from its first to its last denial. If an event began before that pod, only its
// last time counts.
func (s Observation) deniedFor(by string) time.Duration {
	made := newestCreation(s.Pods)
	if e := s.newestOfMaker("SuccessfulCreate"); e != nil && eventTime(e).After(made) {
		made = eventTime(e)
	}
	var first, last time.Time
	for i := range s.Events {
		e := &s.Events[i]
		if denier(oneLine(e.Message)) != by || e.Reason != "FailedCreate" || !s.isOfMaker(e) || eventTime(e).Before(made) {
			continue
		}
		begun := beginOf(e)
		if begun.Before(made) {
			begun = eventTime(e)
		}
		if first.IsZero() || begun.Before(first) {
			first = begun
		}
		if eventTime(e).After(last) {
			last = eventTime(e)
		}
	}
	return last.Sub(first)
}

// shortfall says how much of each resource was requested and is used. The three lists
// look like requests.cpu=4,requests.memory=8Gi.
func shortfall(requested, used, limited string) string {
	have, most := amounts(used), amounts(limited)
	var parts []string
	for pair := range strings.SplitSeq(requested, ",") {
		name, asked, _ := strings.Cut(pair, "=")
		parts = append(parts, fmt.Sprintf("%s of %s requested, but %s of %s are used", asked, name, have[name], most[name]))
	}
	return strings.Join(parts, "; ")
}

func amounts(list string) map[string]string {
	found := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		name, amount, _ := strings.Cut(pair, "=")
		found[name] = amount
	}
	return found
}
