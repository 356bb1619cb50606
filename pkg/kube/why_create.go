package kube

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// What the API server says when it refuses a pod.
var (
	createPrefix     = pattern.Lazy(`^(?:Error creating: |[Cc]reate Pod \S+ in StatefulSet \S+ failed error: )(?:pods "[^"]*" is forbidden: )?`)
	noServiceAccount = pattern.Lazy(`serviceaccount "([a-z0-9][a-z0-9.-]*)" not found`)
	overQuota        = pattern.Lazy(`exceeded quota: ([a-z0-9][a-z0-9.-]*), requested: (\S+), used: (\S+), limited: (\S+)`)
	quotaWants       = pattern.Lazy(`failed quota: ([a-z0-9][a-z0-9.-]*): (.*)`)
	podSecurity      = pattern.Lazy(`violates PodSecurity "([^"]*)": (.*)`)
	noPriorityClass  = pattern.Lazy(`no PriorityClass with name (\S+) was found`)
	limitRange       = pattern.Lazy(`(?:maximum|minimum) \S+ usage per \w+ is | max limit to request ratio per \w+ is `)
	belowRequest     = pattern.Lazy(`Invalid value: "([^"]*)": must be less than or equal to (\S+) limit of (\S+)`)
	webhookDenied    = pattern.Lazy(`admission webhook "([^"]*)" denied the request: (.*)`)
	policyDenied     = pattern.Lazy(`ValidatingAdmissionPolicy '([^']*)' with binding '[^']*' denied request: (.*)`)
)

// nodePool is the node label by which LeaderWorkerSet keeps the hosts of a slice together.
// Autopilot lets no pod select it.
const nodePool = "cloud.google.com/gke-nodepool"

// uncreated explains why no pod can be made. What it said
// before the newest pod was made is no longer true.
func (s situation) uncreated(after time.Time) cause {
	e := s.newestOfMaker("FailedCreate")
	if e == nil || eventTime(e).Before(after) {
		return cause{}
	}
	r := s.refusal(oneLine(e.Message))
	if r.Next == "" {
		r.Next = s.describeJob()
	}
	return r
}

func (s situation) refusal(message string) cause {
	text, ns := createPrefix().ReplaceAllString(message, ""), s.meta().Namespace
	if m := noServiceAccount().FindStringSubmatch(text); m != nil {
		return cause{Sentence: fmt.Sprintf("service account %s is missing in namespace %s", m[1], ns),
			Next: fmt.Sprintf("kubectl create serviceaccount %s -n %s", m[1], ns)}
	}
	if m := overQuota().FindStringSubmatch(text); m != nil {
		return cause{Sentence: fmt.Sprintf("quota %s of namespace %s is exceeded: %s", m[1], ns, foreign(shortfall(m[2], m[3], m[4]))),
			Next: fmt.Sprintf("kubectl describe quota %s -n %s", m[1], ns)}
	}
	if m := quotaWants().FindStringSubmatch(text); m != nil {
		return cause{Sentence: fmt.Sprintf("quota %s of namespace %s: %s", m[1], ns, foreign(m[2])),
			Next: fmt.Sprintf("kubectl describe quota %s -n %s", m[1], ns)}
	}
	if m := podSecurity().FindStringSubmatch(text); m != nil {
		r := cause{Sentence: fmt.Sprintf("namespace %s refuses the pod by its pod security level %s", ns, foreign(m[1])),
			Next: fmt.Sprintf("kubectl get namespace %s --show-labels", ns), Hopeless: true}
		if strings.HasPrefix(m[1], "restricted:") && strings.Contains(m[2], "runAsNonRoot != true") {
			r.Sentence += "; --restricted makes pods that keep to it"
		} else {
			r.Sentence += ": " + foreign(m[2])
		}
		return r
	}
	if m := noPriorityClass().FindStringSubmatch(text); m != nil {
		return cause{Sentence: fmt.Sprintf("priority class %s does not exist", foreign(m[1])), Next: "kubectl get priorityclasses"}
	}
	if by, reason := denial(text); by != "" {
		r := cause{Sentence: fmt.Sprintf("the pod was refused by %s: %s", foreign(by), foreign(reason))}
		r.Hopeless = s.deniedFor(by) >= passing
		if strings.Contains(text, nodePool) {
			r.Sentence += "; --placement shared asks for no node pool"
		}
		return r
	}
	if limitRange().MatchString(text) {
		return cause{Sentence: fmt.Sprintf("the limits of namespace %s refuse the pod: %s", ns, foreign(text)),
			Next: "kubectl describe limitrange -n " + ns, Hopeless: true}
	}
	if m := belowRequest().FindStringSubmatch(text); m != nil {
		return cause{Sentence: fmt.Sprintf("the pod asks for %s of %s and its limit is %s, which may be the default of namespace %s", foreign(m[1]), foreign(m[2]), foreign(m[3]), ns),
			Next: "kubectl describe limitrange -n " + ns, Hopeless: true}
	}
	return cause{Sentence: "the pod can't be created: " + foreign(text), Hopeless: strings.Contains(text, " is invalid: ")}
}

// denial is the webhook or the policy that has denied a pod, and why; "" where none has.
func denial(text string) (by, reason string) {
	for _, denied := range []func() *regexp.Regexp{webhookDenied, policyDenied} {
		if m := denied().FindStringSubmatch(text); m != nil {
			return m[1], m[2]
		}
	}
	return "", ""
}

// passing is for how long a webhook or a policy may deny what it then allows: it was just
// changed. What makes the pods asks again after one second, two, four and so on.
const passing = 10 * time.Second

// deniedFor is for how long a webhook or a policy has denied pods since the last one was
// made, by its first and its last denial. Of an event that is older than that pod, only the
// last time counts.
func (s situation) deniedFor(by string) time.Duration {
	made := newestCreation(s.Pods)
	if e := s.newestOfMaker("SuccessfulCreate"); e != nil && eventTime(e).After(made) {
		made = eventTime(e)
	}
	var first, last time.Time
	for i := range s.Events {
		e := &s.Events[i]
		denier, _ := denial(oneLine(e.Message))
		if denier != by || e.Reason != "FailedCreate" || !s.isOfMaker(e) || eventTime(e).Before(made) {
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

// shortfall says how much of each resource was asked for and is used. The three
// lists look like requests.cpu=4,requests.memory=8Gi.
func shortfall(requested, used, limited string) string {
	have, most := amounts(used), amounts(limited)
	var parts []string
	for pair := range strings.SplitSeq(requested, ",") {
		name, asked, _ := strings.Cut(pair, "=")
		parts = append(parts, fmt.Sprintf("%s asked of %s, %s of %s are used", asked, name, have[name], most[name]))
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
