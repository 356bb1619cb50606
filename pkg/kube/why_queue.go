package kube

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const labelQueue = "kueue.x-k8s.io/queue-name"

var (
	createdWorkload = lazily(`^Created Workload: [^\s/]+/([a-z0-9][a-z0-9.-]*)`)
	workloadUIDs    = lazily(` \(UID: [^)]*\)|; preemptor path: .*$`)
)

// queued explains a suspended Job. Kueue suspends what it has not admitted, and
// again what it takes back; its own reasons are on the Workload that it makes.
func (s Situation) queued() Reason {
	queue := s.Job.Labels[labelQueue]
	if queue == "" {
		return Reason{
			Sentence: "the job is suspended",
			Next: fmt.Sprintf(`kubectl patch job %s -n %s --type=merge -p '{"spec":{"suspend":false}}'`,
				s.Job.Name, s.Job.Namespace),
		}
	}
	r := Reason{
		Sentence: "waiting in queue " + queue,
		Next:     fmt.Sprintf("kubectl describe localqueue %s -n %s", queue, s.Job.Namespace),
	}
	stopped, started := s.newestOfJob("Stopped"), s.newestOfJob("Started")
	if stopped != nil && (started == nil || !eventTime(started).After(eventTime(stopped))) {
		r.Sentence = "back in queue " + queue + ": " + foreign(workloadUIDs().ReplaceAllString(stopped.Message, ""))
	}
	made := s.newestOfJob("CreatedWorkload")
	if made == nil {
		r.Sentence += ", which has not looked at it yet"
		return r
	}
	if name := createdWorkload().FindStringSubmatch(made.Message); name != nil {
		r.Next = fmt.Sprintf("kubectl describe workload %s -n %s", name[1], s.Job.Namespace)
		r.Sentence += prefixed(": ", s.workloadSays(name[1]))
	}
	return r
}

// workloadSays is what Kueue wants before it admits a Workload.
func (s Situation) workloadSays(workload string) string {
	e := s.newest(func(e *corev1.Event) bool {
		return e.Reason == "Pending" && isAbout(e, "Workload", workload, "")
	})
	if e == nil {
		return ""
	}
	const opening = "couldn't assign flavors to pod set main: "
	return foreign(strings.TrimPrefix(e.Message, opening))
}
