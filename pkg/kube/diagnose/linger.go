package diagnose

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// lingering is how long another container may run on when the worker of its pod has ended: some save
// something, and end then.
const lingering = 2 * time.Minute

// lingerer returns a container that keeps a pod running although its worker has ended, and since when; "" if there
// is none. Kubernetes ends sidecars that are init containers.
func lingerer(p corev1.Pod) (name string, since time.Time) {
	t := WorkerOf(p).State.Terminated
	if t == nil || p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning {
		return "", time.Time{}
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running != nil {
			return c.Name, t.FinishedAt.Time
		}
	}
	return "", time.Time{}
}

// LingersFor returns how long it takes until a container that runs on in the newest pod is said to keep the job from
// its end, which no event tells; zero if that is not to come.
func (s Observation) LingersFor() time.Duration {
	if len(s.Pods) == 0 || s.Workload.end() != nil {
		return 0
	}
	pods := byAge(s.Pods)
	name, since := lingerer(pods[len(pods)-1])
	if name == "" {
		return 0
	}
	return max(since.Add(lingering).Sub(s.Now), 0)
}

// explainLingerer adds to the explanation of an end that a container keeps the pod running: then the Job does not
// know of it.
func (s Observation) explainLingerer(p corev1.Pod, r *Diagnosis) bool {
	name, since := lingerer(p)
	if name == "" || s.Now.Sub(since) < lingering {
		return false
	}
	so := "so the job does not end"
	if s.crashes() <= s.retries() {
		so = "so no retry follows"
	}
	r.Sentence += fmt.Sprintf("; container %s keeps its pod running, %s%s", name, so, prefixed("; use ", withoutSidecar[name]))
	r.Next, r.Unrecoverable = DescribePod(p), true
	return true
}

// withoutSidecar are the flags of run with which the sidecars of service meshes do not come.
var withoutSidecar = map[string]string{
	"istio-proxy":   "--label sidecar.istio.io/inject=false",
	"linkerd-proxy": "--annotation linkerd.io/inject=disabled",
}
