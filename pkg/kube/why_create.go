package kube

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// What the API server says when it refuses a pod.
var (
	createPrefix     = lazily(`^(?:Error creating: |[Cc]reate Pod \S+ in StatefulSet \S+ failed error: )(?:pods "[^"]*" is forbidden: )?`)
	noServiceAccount = lazily(`serviceaccount "([a-z0-9][a-z0-9.-]*)" not found`)
	overQuota        = lazily(`exceeded quota: ([a-z0-9][a-z0-9.-]*), requested: (\S+), used: (\S+), limited: (\S+)`)
	quotaWants       = lazily(`failed quota: ([a-z0-9][a-z0-9.-]*): (.*)`)
	podSecurity      = lazily(`violates PodSecurity "([^"]*)": (.*)`)
	noPriorityClass  = lazily(`no PriorityClass with name (\S+) was found`)
	limitRange       = lazily(`(?:maximum|minimum) \S+ usage per \w+ is | max limit to request ratio per \w+ is `)
	belowRequest     = lazily(`Invalid value: "([^"]*)": must be less than or equal to (\S+) limit of (\S+)`)
	webhookDenied    = lazily(`admission webhook "([^"]*)" denied the request: (.*)`)
	policyDenied     = lazily(`ValidatingAdmissionPolicy '([^']*)' with binding '[^']*' denied request: (.*)`)
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
	for _, denied := range []func() *regexp.Regexp{webhookDenied, policyDenied} {
		if m := denied().FindStringSubmatch(text); m != nil {
			r := cause{Sentence: fmt.Sprintf("the pod was refused by %s: %s", foreign(m[1]), foreign(m[2])), Hopeless: true}
			if strings.Contains(text, nodePool) {
				r.Sentence += "; --placement shared asks for no node pool"
			}
			return r
		}
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
