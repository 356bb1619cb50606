package diagnose

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// deadMount is what the runtime says of a volume whose gcsfuse has ended.
const deadMount = "transport endpoint is not connected"

// fusePassing is how long a failure of the Cloud Storage FUSE driver may pass by itself.
const fusePassing = 5 * time.Minute

// explainFuse explains a bucket that can't be mounted, if the event is about one.
func (s Observation) explainFuse(p corev1.Pod, e *corev1.Event) Diagnosis {
	f, ok := recognizeFuse(p, oneLine(e.Message))
	if !ok {
		return Diagnosis{}
	}
	d := Diagnosis{Sentence: f.sentence, Next: cmp.Or(f.next, DescribePod(p))}
	if f.wait != "" && s.Now.Sub(s.firstFuseFailure(p, f)) < fusePassing {
		d.Sentence += "; " + f.wait
		return d
	}
	d.Sentence, d.Unrecoverable = d.Sentence+prefixed("; ", f.remedy), true
	return d
}

// firstFuseFailure returns when a pod first met a kind of failure.
func (s Observation) firstFuseFailure(p corev1.Pod, f fuseFailure) time.Time {
	var first time.Time
	for i := range s.Events {
		e := &s.Events[i]
		if e.Reason != "FailedMount" || !isAbout(e, "Pod", p.Name, p.UID) {
			continue
		}
		other, ok := recognizeFuse(p, oneLine(e.Message))
		if ok && other.code == f.code && other.part == f.part && (first.IsZero() || beginOf(e).Before(first)) {
			first = beginOf(e)
		}
	}
	return first
}

// explainDeadMount explains a container that can't start because the gcsfuse of a volume
// has ended. The driver says why within a minute.
func (s Observation) explainDeadMount(p corev1.Pod) Diagnosis {
	said := s.newest(func(e *corev1.Event) bool {
		_, ok := recognizeFuse(p, oneLine(e.Message))
		return ok && e.Reason == "FailedMount" && isAbout(e, "Pod", p.Name, p.UID)
	})
	if said != nil {
		return s.explainFuse(p, said)
	}
	return Diagnosis{
		Sentence: "Cloud Storage FUSE has ended in the sidecar of its pod",
		Next:     fmt.Sprintf("kubectl logs %s -c %s -n %s", p.Name, Sidecar, p.Namespace),
	}
}
