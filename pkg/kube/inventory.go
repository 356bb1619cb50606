package kube

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// key names a job among those of all namespaces.
type key struct{ namespace, id string }

// inventory is what is known of the objects of many jobs.
type inventory struct {
	detail api.Detail
	now    func() time.Time
	jobs   map[key]*batchv1.Job
	pods   map[key]map[types.UID]corev1.Pod
	// events are kept by the Job that they are about, or whose pods: those of
	// pods that are gone tell as well.
	events map[types.NamespacedName]map[types.UID]corev1.Event
	// ids are the jobs by the names of their Jobs.
	ids map[types.NamespacedName]key
}

func newInventory(detail api.Detail, now func() time.Time) *inventory {
	return &inventory{detail: detail, now: now, jobs: map[key]*batchv1.Job{}, pods: map[key]map[types.UID]corev1.Pod{},
		events: map[types.NamespacedName]map[types.UID]corev1.Event{}, ids: map[types.NamespacedName]key{}}
}

// put takes a new or changed object in and names the job that it tells of, if
// there is one.
func (n *inventory) put(o runtime.Object) (key, bool) {
	switch o := o.(type) {
	case *batchv1.Job:
		k := key{o.Namespace, o.Labels[api.LabelJobID]}
		n.jobs[k] = o
		n.ids[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}] = k
		return k, true
	case *corev1.Pod:
		k := key{o.Namespace, o.Labels[api.LabelJobID]}
		insert(n.pods, k, o.UID, *o)
		return k, true
	case *corev1.Event:
		about := types.NamespacedName{Namespace: o.Namespace, Name: jobNameOf(o.InvolvedObject)}
		insert(n.events, about, o.UID, *o)
		k, ok := n.ids[about]
		return k, ok
	}
	return key{}, false
}

func insert[K, L comparable, V any](m map[K]map[L]V, k K, l L, v V) {
	if m[k] == nil {
		m[k] = map[L]V{}
	}
	m[k][l] = v
}

// jobNameOf is the name of the Job that an object belongs to, as the makers of
// pods and Kueue's Workloads derive theirs from it.
func jobNameOf(o corev1.ObjectReference) string {
	name := o.Name
	switch o.Kind {
	case "Workload":
		name = strings.TrimPrefix(name, "job-")
	case "Pod":
	default:
		return name
	}
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		return name[:i]
	}
	return name
}

// drop forgets an object that was deleted, and names the job that it belonged to.
func (n *inventory) drop(o runtime.Object) (key, bool) {
	switch o := o.(type) {
	case *batchv1.Job:
		k := key{o.Namespace, o.Labels[api.LabelJobID]}
		delete(n.jobs, k)
		return k, true
	case *corev1.Pod:
		k := key{o.Namespace, o.Labels[api.LabelJobID]}
		delete(n.pods[k], o.UID)
		return k, true
	}
	return key{}, false
}

// forget drops all objects of a kind, before they are put in anew.
func (n *inventory) forget(k kind) {
	switch k.resource {
	case "jobs":
		clear(n.jobs)
	case "pods":
		clear(n.pods)
	case "events":
		clear(n.events)
	}
}

func (n *inventory) keys() []key {
	keys := make([]key, 0, len(n.jobs))
	for k := range n.jobs {
		keys = append(keys, k)
	}
	return keys
}

// waits tells whether any job is pending.
func (n *inventory) waits() bool {
	return slices.ContainsFunc(n.keys(), func(k key) bool { return n.status(k).State == api.Pending })
}

// records tells about some jobs; one that has no Job any more is NotFound.
func (n *inventory) records(keys []key) []Record {
	records := make([]Record, 0, len(keys))
	for _, k := range keys {
		j := n.jobs[k]
		if j == nil {
			records = append(records, Record{ID: k.id, Namespace: k.namespace, Status: api.Status{State: api.NotFound}})
			continue
		}
		var status api.Status
		if n.detail >= api.TellStates {
			status = n.status(k)
		}
		if n.detail >= api.TellReasons && status.State == api.Pending {
			explained(&status, Why(n.situation(k)))
		}
		records = append(records, newRecord(j, n.podsOf(k), status))
	}
	return records
}

func (n *inventory) status(k key) api.Status { return stateOf(n.jobs[k], n.podsOf(k)) }

func (n *inventory) podsOf(k key) []corev1.Pod {
	pods := make([]corev1.Pod, 0, len(n.pods[k]))
	for _, p := range n.pods[k] {
		pods = append(pods, p)
	}
	return pods
}

// situation gathers what explains why a job waits.
func (n *inventory) situation(k key) Situation {
	j := n.jobs[k]
	s := Situation{Job: j, Pods: n.podsOf(k), Now: n.now()}
	for _, e := range n.events[types.NamespacedName{Namespace: j.Namespace, Name: j.Name}] {
		s.Events = append(s.Events, e)
	}
	return s
}
