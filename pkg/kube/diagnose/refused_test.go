package diagnose

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// refusedCreate is an event about the maker of a set's workers, seen from one second to another.
func refusedCreate(says string, from, to int) corev1.Event {
	return corev1.Event{Reason: "FailedCreate", FirstTimestamp: at(from), LastTimestamp: at(to),
		InvolvedObject: corev1.ObjectReference{Kind: "StatefulSet", Name: "keras-pathways-x-0"},
		Message:        "create Pod keras-pathways-x-0-1 in StatefulSet keras-pathways-x-0 failed error: " + says}
}

const (
	byPolicy  = `pods "x-1" is forbidden: ValidatingAdmissionPolicy 'warden' with binding 'warden' denied request: no`
	byWebhook = `admission webhook "gatekeeper" denied the request: no`
)

// A host that the cluster refuses for good keeps the others waiting, and their accelerators
// busy, for ever.
func TestAGroupWithAHostThatIsRefused(t *testing.T) {
	const pool = "Key 'cloud.google.com/gke-nodepool' is not allowed"
	const away = `failed calling webhook "w": connection refused`
	for name, tt := range map[string]struct {
		event         corev1.Event
		want          string
		unrecoverable bool
	}{
		"by a policy": {refusedCreate(strings.TrimSuffix(byPolicy, "no")+pool, 5, 15),
			"the pod was refused by warden: " + pool + "; with --slice-node-pool shared, the job needs no node pool of its own", true},
		"for a sidecar without limits": {refusedCreate(strings.TrimSuffix(byWebhook, "no")+"container gke-gcsfuse-sidecar", 5, 15),
			"the pod was refused by gatekeeper: container gke-gcsfuse-sidecar; its sidecar needs limits: --annotation gke-gcsfuse/memory-limit=2Gi, and likewise cpu-limit and ephemeral-storage-limit", true},
		"by a quota that wants limits of a sidecar": {refusedCreate(`pods "x-1" is forbidden: failed quota: small: must specify limits.cpu for: gke-gcsfuse-sidecar`, 5, 15),
			"quota small of namespace ml: must specify limits.cpu for: gke-gcsfuse-sidecar; a LimitRange with defaults, --memory or an overlay sets limits, and of gke-gcsfuse-sidecar --annotation gke-gcsfuse/cpu-limit=1, and likewise memory-limit", true},
		"by a quota that wants limits": {refusedCreate(`pods "x-1" is forbidden: failed quota: small: must specify limits.cpu for: kinetic-worker`, 5, 15),
			"quota small of namespace ml: must specify limits.cpu for: kinetic-worker; a LimitRange with defaults, --memory or an overlay sets limits", true},
		"by a quota that wants them for a moment": {refusedCreate(`failed quota: small: must specify memory for: x`, 5, 14),
			"quota small of namespace ml: must specify memory for: x; a LimitRange with defaults, --memory or an overlay sets limits", false},
		"by a webhook":               {refusedCreate(byWebhook, 5, 15), "the pod was refused by gatekeeper: no", true},
		"by a webhook for a moment":  {refusedCreate(byWebhook, 5, 14), "the pod was refused by gatekeeper: no", false},
		"by a webhook that is away":  {refusedCreate(away, 5, 15), "the pod can't be created: " + away, false},
		"in an attempt that is over": {refusedCreate(byWebhook, -20, 1), "the pod was refused by gatekeeper: no", false},
	} {
		leader := []corev1.Pod{member(0, 4, running(5))}
		r := Observation{Workload: workloadOf(lws()), Pods: leader, Events: []corev1.Event{tt.event}, Now: at(20).Time}.Explain()
		if want := "1 of 2 hosts are running; " + tt.want; r.Sentence != want || r.Unrecoverable != tt.unrecoverable {
			t.Errorf("%s: got %q, unrecoverable %v", name, r.Sentence, r.Unrecoverable)
		}
		s := plain(api.Status{State: api.Running})
		if r.addTo(&s); s.Unrecoverable != tt.unrecoverable {
			t.Errorf("%s: given up: %v", name, s.Unrecoverable)
		}
	}
}

// A webhook that was just changed refuses pods and then takes them. Only one that has refused
// them for a while, and none was made meanwhile, refuses them for good.
func TestARefusalThatMayPass(t *testing.T) {
	series := refusedCreate(byWebhook, 0, 0)
	series.FirstTimestamp, series.LastTimestamp, series.EventTime = metav1.Time{}, metav1.Time{}, metav1.MicroTime(at(5))
	series.Series = &corev1.EventSeries{Count: 9, LastObservedTime: metav1.MicroTime(at(16))}
	recorded := refusedCreate(byWebhook, -3000, 40) // again: the first is so old that no one remembers it
	recorded.CreationTimestamp = at(38)
	deletion := refusedCreate(byWebhook, 5, 29)
	deletion.Reason = "FailedDelete"
	ofLeader := refusedCreate(byWebhook, 10, 30)
	ofLeader.InvolvedObject.Name = "keras-pathways-x"
	made := ofLeader
	made.Reason, made.Message = "SuccessfulCreate", "create Pod x-0 in StatefulSet x successful"
	made.FirstTimestamp, made.LastTimestamp = at(4), at(20)
	by := func(denier string, from, to int) corev1.Event {
		return refusedCreate(strings.Replace(byWebhook, "gatekeeper", denier, 1), from, to)
	}
	leader, worker := member(0, 4, running(5)), member(1, 20, waiting(""))
	type pods []corev1.Pod
	type events []corev1.Event
	for name, tt := range map[string]struct {
		pods          pods
		events        events
		unrecoverable bool
	}{
		"once":                             {pods{leader}, events{by("a", 5, 5)}, false},
		"for a moment":                     {pods{leader}, events{by("a", 5, 8)}, false},
		"for a while":                      {pods{leader}, events{by("a", 5, 15)}, true},
		"in a series":                      {pods{leader}, events{series}, true},
		"each time in other words":         {pods{leader}, events{refusedCreate(byWebhook+" x", 5, 5), refusedCreate(byWebhook+" y", 17, 17)}, true},
		"by one, then by another":          {pods{leader}, events{by("a", 5, 12), by("b", 13, 16)}, false},
		"by two in turn":                   {pods{leader}, events{by("a", 5, 16), by("b", 6, 14)}, true},
		"of what is no creation":           {pods{leader}, events{deletion, refusedCreate(byWebhook, 29, 30)}, false},
		"before and after a pod was made":  {pods{leader}, events{by("a", 1, 30)}, false},
		"while another host's pod is made": {pods{leader, worker}, events{by("a", 5, 15)}, false},
		"of the leader, too":               {nil, events{ofLeader}, true},
		"before and after the leader was":  {nil, events{ofLeader, made}, false},
		"for the first time for long":      {nil, events{recorded}, false},
	} {
		r := Observation{Workload: workloadOf(lws()), Pods: tt.pods, Events: tt.events, Now: at(40).Time}.Explain()
		if r.Unrecoverable != tt.unrecoverable {
			t.Errorf("%s: got %q, unrecoverable %v", name, r.Sentence, r.Unrecoverable)
		}
	}
}
