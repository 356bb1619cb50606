package kube

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// key identifies a job among those of all namespaces.
type key struct{ namespace, id string }

func keyOf(o *metav1.ObjectMeta) key { return key{o.Namespace, o.Labels[api.LabelJobID]} }

// cache has the known objects of one job, or of all jobs.
type cache struct {
	workloads map[key]diagnose.Workload
	pods      map[key]map[types.UID]*corev1.Pod // pointers, because there may be thousands
	// events have as key each name that the workload may have which they are about. Events
	// about pods that no longer exist count, too.
	events map[types.NamespacedName]map[types.UID]corev1.Event
	// kueueWorkloads have as key the UID of each owner, one of which is the workload.
	kueueWorkloads map[types.UID]map[types.UID]kueue.Workload
	// keys are the keys of jobs, by the names that events may have their workloads under.
	keys map[types.NamespacedName]map[key]bool
	// denied says why there may be more workloads than are known.
	denied error
	// withoutKueue says that the Workloads of Kueue can't be read.
	withoutKueue bool
}

func newCache() *cache {
	return &cache{workloads: map[key]diagnose.Workload{}, pods: map[key]map[types.UID]*corev1.Pod{},
		events:         map[types.NamespacedName]map[types.UID]corev1.Event{},
		kueueWorkloads: map[types.UID]map[types.UID]kueue.Workload{}, keys: map[types.NamespacedName]map[key]bool{}}
}

func (c *cache) apply(ch change) []key {
	touched := map[key]bool{}
	if !ch.reset {
		c.put(ch.kind, ch.object, ch.deleted, touched)
		return slices.Collect(maps.Keys(touched))
	}
	for k := range c.workloads { // some may no longer exist
		touched[k] = true
	}
	c.forget(ch.kind)
	if ch.denied != nil {
		c.denied = ch.denied
	}
	if ch.kind.resource == kueueResource && ch.kind.workload == nil {
		c.withoutKueue = ch.lacks
	}
	for _, o := range ch.all {
		c.put(ch.kind, o, false, touched)
	}
	return slices.Collect(maps.Keys(touched))
}

// put adds or replaces an object of a kind, or removes it if it was deleted. It adds to touched the
// jobs that the object may belong to, as far as they are known.
func (c *cache) put(kind kind, o runtime.Object, deleted bool, touched map[key]bool) {
	switch o := o.(type) {
	case *corev1.Pod:
		k := keyOf(&o.ObjectMeta)
		insert(c.pods, k, o.UID, o, deleted)
		touched[k] = true
	case *corev1.Event:
		for _, name := range diagnose.WorkloadNames(o.InvolvedObject) {
			about := types.NamespacedName{Namespace: o.Namespace, Name: name}
			insert(c.events, about, o.UID, *o, deleted)
			maps.Copy(touched, c.keys[about])
		}
	case *kueue.Workload:
		for _, owner := range o.OwnerReferences {
			insert(c.kueueWorkloads, owner.UID, o.UID, *o, deleted)
			for k := range c.keys[types.NamespacedName{Namespace: o.Namespace, Name: owner.Name}] {
				if w := c.workloads[k]; w.Exists() && w.Meta().UID == owner.UID {
					touched[k] = true
				}
			}
		}
	default:
		if w := diagnose.NewWorkload(kind.workload, o); w.Exists() {
			k := keyOf(w.Meta())
			c.putWorkload(k, w, deleted)
			touched[k] = true
		}
	}
}

func (c *cache) putWorkload(k key, w diagnose.Workload, deleted bool) {
	if deleted {
		delete(c.workloads, k)
	} else {
		c.workloads[k] = w
	}
	for _, name := range eventNames(w) {
		insert(c.keys, name, k, true, deleted)
	}
}

// eventNames returns the names that events about a workload and its parts have in the cache.
func eventNames(w diagnose.Workload) []types.NamespacedName {
	var names []types.NamespacedName
	for _, name := range diagnose.EventNames(w.Meta().Name) {
		names = append(names, types.NamespacedName{Namespace: w.Meta().Namespace, Name: name})
	}
	return names
}

// insert sets or deletes an entry in a map of maps. It leaves no empty map.
func insert[K, L comparable, V any](m map[K]map[L]V, k K, l L, v V, deleted bool) {
	if !deleted {
		if m[k] == nil {
			m[k] = map[L]V{}
		}
		m[k][l] = v
		return
	}
	if delete(m[k], l); len(m[k]) == 0 {
		delete(m, k)
	}
}

func (c *cache) forget(k kind) {
	switch {
	case k.workload != nil:
		for key, w := range c.workloads {
			if w.Kind() == k.workload {
				c.putWorkload(key, w, true)
			}
		}
	case k.resource == podResource:
		clear(c.pods)
	case k.resource == eventResource:
		clear(c.events)
	case k.resource == kueueResource:
		clear(c.kueueWorkloads)
	}
}

func (c *cache) all() []key { return slices.Collect(maps.Keys(c.workloads)) }

// snapshot returns what is known about one job now.
func (c *cache) snapshot(k key) snapshot {
	s := snapshot{Workload: c.workloads[k], pods: c.pods[k], denied: c.denied}
	if s.Exists() {
		for _, name := range eventNames(s.Workload) {
			if more := c.events[name]; len(s.events) == 0 {
				s.events = more
			} else if len(more) > 0 {
				s.events = maps.Clone(s.events) // it is the cache's
				maps.Copy(s.events, more)
			}
		}
		s.kueueWorkloads = c.kueueWorkloads[s.Meta().UID]
		for _, p := range s.pods {
			if s.IsOfOlder(p) {
				s.pods = maps.Clone(s.pods) // the cache still has them, for when no workload is left
				maps.DeleteFunc(s.pods, func(_ types.UID, p *corev1.Pod) bool { return s.IsOfOlder(p) })
				break
			}
		}
	}
	for _, p := range s.pods {
		for _, claim := range diagnose.Claims(*p) { // events about other objects of that name do no harm
			s.claimEvents = slices.AppendSeq(slices.Clip(s.claimEvents), maps.Values(c.events[types.NamespacedName{Namespace: k.namespace, Name: claim}]))
		}
	}
	return s
}

// snapshot is a job's objects at one moment.
type snapshot struct {
	diagnose.Workload
	pods           map[types.UID]*corev1.Pod
	events         map[types.UID]corev1.Event
	claimEvents    []corev1.Event // about the claims of the pods
	kueueWorkloads map[types.UID]kueue.Workload
	denied         error        // why there may be a workload that is not known
	sorted         []corev1.Pod // the result of list, once it was called
}

// unseen returns why a job may exist although none is known; nil if one is known.
func (s *snapshot) unseen() error {
	if s.Exists() {
		return nil
	}
	return s.denied
}

// list returns the pods from the oldest to the newest. The slice is shared and must not be
// changed.
func (s *snapshot) list() []corev1.Pod {
	if s.sorted == nil {
		// Pods are large, so pointers are sorted.
		byAge := slices.SortedFunc(maps.Values(s.pods), diagnose.CompareAges)
		s.sorted = make([]corev1.Pod, len(byAge))
		for i, p := range byAge {
			s.sorted[i] = *p
		}
	}
	return s.sorted
}

// waits reports whether a job exists and something of it has not started yet.
func (s *snapshot) waits() bool { return s.Waits(s.State(s.list()).Status, s.list()) }

// observed returns the snapshot as an Observation, with what says why the job waits.
func (s *snapshot) observed(now time.Time) diagnose.Observation {
	return diagnose.Observation{Workload: s.Workload, Pods: s.list(), Events: slices.AppendSeq(slices.Clip(s.claimEvents), maps.Values(s.events)),
		KueueWorkloads: slices.Collect(maps.Values(s.kueueWorkloads)), Now: now}
}
