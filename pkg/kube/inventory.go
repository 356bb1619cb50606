package kube

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	owners map[key]owner
	pods   map[key]map[types.UID]corev1.Pod
	// events are kept by each name that the workload which they are about may have:
	// those of pods that are gone tell as well.
	events map[types.NamespacedName]map[types.UID]corev1.Event
	// turns are kept by the UID of each of their owners, the workload among them.
	turns map[types.UID]map[types.UID]turn
	// ids are the jobs by the names of their workloads.
	ids map[types.NamespacedName]key
}

func newInventory(detail api.Detail, now func() time.Time) *inventory {
	return &inventory{detail: detail, now: now, owners: map[key]owner{}, pods: map[key]map[types.UID]corev1.Pod{},
		events: map[types.NamespacedName]map[types.UID]corev1.Event{}, turns: map[types.UID]map[types.UID]turn{}, ids: map[types.NamespacedName]key{}}
}

// put takes a new or changed object in and names the job that it tells of, if
// there is one.
func (n *inventory) put(o runtime.Object) (key, bool) {
	switch o := o.(type) {
	case *batchv1.Job:
		return n.putOwner(owner{job: o}), true
	case *metav1.PartialObjectMetadata:
		return n.putOwner(owner{set: o}), true
	case *corev1.Pod:
		k := key{o.Namespace, o.Labels[api.LabelJobID]}
		insert(n.pods, k, o.UID, *o)
		return k, true
	case *corev1.Event:
		for _, about := range ownersOf(o) {
			insert(n.events, about, o.UID, *o)
		}
		return n.jobOf(o)
	case *turn:
		for _, owner := range o.OwnerReferences {
			insert(n.turns, owner.UID, o.UID, *o)
		}
		return n.jobOfTurn(o)
	}
	return key{}, false
}

// ownersOf are the workloads that an event may be about.
func ownersOf(e *corev1.Event) []types.NamespacedName {
	var owners []types.NamespacedName
	for _, name := range ownerNames(e.InvolvedObject) {
		owners = append(owners, types.NamespacedName{Namespace: e.Namespace, Name: name})
	}
	return owners
}

// jobOf is the known job that an event is about.
func (n *inventory) jobOf(e *corev1.Event) (key, bool) {
	for _, about := range ownersOf(e) {
		if k, ok := n.ids[about]; ok {
			return k, true
		}
	}
	return key{}, false
}

// jobOfTurn is the known job that a turn is of.
func (n *inventory) jobOfTurn(t *turn) (key, bool) {
	for _, owner := range t.OwnerReferences {
		k, ok := n.ids[types.NamespacedName{Namespace: t.Namespace, Name: owner.Name}]
		if o := n.owners[k]; ok && o.exists() && o.meta().UID == owner.UID {
			return k, true
		}
	}
	return key{}, false
}

func (n *inventory) putOwner(o owner) key {
	k := key{o.meta().Namespace, o.meta().Labels[api.LabelJobID]}
	n.owners[k] = o
	n.ids[types.NamespacedName{Namespace: o.meta().Namespace, Name: o.meta().Name}] = k
	return k
}

// putAll takes objects in.
func (n *inventory) putAll(objects []runtime.Object) {
	for _, o := range objects {
		n.put(o)
	}
}

func insert[K, L comparable, V any](m map[K]map[L]V, k K, l L, v V) {
	if m[k] == nil {
		m[k] = map[L]V{}
	}
	m[k][l] = v
}

// remove is the opposite of insert.
func remove[K, L comparable, V any](m map[K]map[L]V, k K, l L) {
	delete(m[k], l)
	if len(m[k]) == 0 {
		delete(m, k)
	}
}

// ownerNames are the names that the workload of a job may have of whose parts an
// object is: the makers of pods, StatefulSets and Kueue's Workloads derive theirs
// from it by up to two words more.
func ownerNames(o corev1.ObjectReference) []string {
	name := o.Name
	parts := map[string]int{"Pod": 2, "StatefulSet": 1, "Workload": 2}[o.Kind]
	if o.Kind == "Workload" {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "leaderworkerset-"), "job-")
	}
	names := []string{name}
	for range parts {
		i := strings.LastIndexByte(name, '-')
		if i <= 0 {
			break
		}
		name = name[:i]
		names = append(names, name)
	}
	return names
}

// mayBeOfJob tells by the name whether an object may belong to a job.
func mayBeOfJob(o corev1.ObjectReference) bool {
	return isJobName(ownerNames(o)[0])
}

// isJobName tells names that workloads of jobs, and what is made of them, may have.
func isJobName(name string) bool {
	return strings.HasPrefix(name, api.JobNamePrefix) || strings.HasPrefix(name, api.PathwaysNamePrefix)
}

// drop forgets an object that was deleted, and names the job that it belonged to.
func (n *inventory) drop(o runtime.Object) (key, bool) {
	switch o := o.(type) {
	case *batchv1.Job:
		return n.dropOwner(&o.ObjectMeta), true
	case *metav1.PartialObjectMetadata:
		return n.dropOwner(&o.ObjectMeta), true
	case *corev1.Pod:
		k := key{o.Namespace, o.Labels[api.LabelJobID]}
		remove(n.pods, k, o.UID)
		return k, true
	case *corev1.Event:
		for _, about := range ownersOf(o) {
			remove(n.events, about, o.UID)
		}
		return n.jobOf(o)
	case *turn:
		for _, owner := range o.OwnerReferences {
			remove(n.turns, owner.UID, o.UID)
		}
		return n.jobOfTurn(o)
	}
	return key{}, false
}

func (n *inventory) dropOwner(o *metav1.ObjectMeta) key {
	k := key{o.Namespace, o.Labels[api.LabelJobID]}
	delete(n.owners, k)
	delete(n.ids, types.NamespacedName{Namespace: o.Namespace, Name: o.Name})
	return k
}

// dropOwners forgets the owners of one kind.
func (n *inventory) dropOwners(ofKind func(owner) bool) {
	for _, o := range n.owners {
		if ofKind(o) {
			n.dropOwner(o.meta())
		}
	}
}

// forget drops all objects of a kind, before they are put in anew.
func (n *inventory) forget(k kind) {
	switch k.resource {
	case "jobs":
		n.dropOwners(func(o owner) bool { return o.job != nil })
	case "leaderworkersets":
		n.dropOwners(func(o owner) bool { return o.set != nil })
	case "pods":
		clear(n.pods)
	case "events":
		clear(n.events)
	case "workloads":
		clear(n.turns)
	}
}

func (n *inventory) keys() []key {
	keys := make([]key, 0, len(n.owners))
	for k := range n.owners {
		keys = append(keys, k)
	}
	return keys
}

// waiting are the jobs of which something has yet to start.
func (n *inventory) waiting() []key {
	return slices.DeleteFunc(n.keys(), func(k key) bool { return !n.owners[k].waits(n.status(k), n.podsOf(k)) })
}

// records tells about some jobs; one that has no workload any more is NotFound.
func (n *inventory) records(keys []key) []Record {
	records := make([]Record, 0, len(keys))
	for _, k := range keys {
		o := n.owners[k]
		if !o.exists() {
			records = append(records, Record{ID: k.id, Namespace: k.namespace, Status: api.Status{State: api.NotFound}})
			continue
		}
		var status api.Status
		if n.detail >= api.TellStates {
			status = n.status(k)
		}
		if n.detail >= api.TellReasons && o.waits(status, n.podsOf(k)) {
			explained(&status, why(n.situation(k)))
		}
		records = append(records, newRecord(o, n.podsOf(k), status))
	}
	return records
}

func (n *inventory) status(k key) api.Status { return n.owners[k].status(n.podsOf(k)) }

func (n *inventory) podsOf(k key) []corev1.Pod {
	pods := make([]corev1.Pod, 0, len(n.pods[k]))
	for _, p := range n.pods[k] {
		pods = append(pods, p)
	}
	return pods
}

// situation gathers what explains why a job waits.
func (n *inventory) situation(k key) situation {
	o := n.owners[k]
	s := situation{Job: o.job, Set: o.set, Pods: n.podsOf(k), Now: n.now()}
	for _, e := range n.events[types.NamespacedName{Namespace: k.namespace, Name: o.meta().Name}] {
		s.Events = append(s.Events, e)
	}
	for _, t := range n.turns[o.meta().UID] {
		s.Turns = append(s.Turns, t)
	}
	return s
}
