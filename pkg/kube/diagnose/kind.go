package diagnose

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Kind is a kind of workload: which object in a cluster represents a job, and what
// follows from that. To add a kind, add a row to Kinds, with its rules.
type Kind struct {
	schema.GroupVersionKind
	// Plural names the objects in URLs.
	Plural string
	// NamePrefix begins the names of all workloads of jobs.
	NamePrefix string
	// Backend is the backend in the handles of such jobs.
	Backend api.Backend
	// Optional means that a cluster may not have the kind, and that only the metadata of
	// its objects is read.
	Optional bool
	// PodTemplates are the paths to the pod templates, the workers' template last.
	PodTemplates [][]string
	// ScaledToZero means that the controller never ends a workload: all pods start again
	// when one is lost, until the leader, or a client, scales the workload to zero.
	ScaledToZero bool
	// MaxQueuedName is the length of the longest name that Kueue can admit; 0 means any.
	MaxQueuedName int
	// hostNumber returns the number of a pod among the hosts, as the controller wrote it.
	hostNumber func(labels, annotations map[string]string) string
	// makers returns the objects that make the pods of a workload.
	makers func(workload string) []maker
	// extras returns the resources that so many hosts need under the workload's name.
	extras func(hosts int) []schema.GroupVersionResource
	rules  rules
}

// maker is an object that makes pods. The UID of a StatefulSet isn't known.
type maker struct {
	kind, name string
	isWorkload bool
}

// rules describe how the controller of a kind treats workloads.
type rules interface {
	// state derives a job's state from its objects.
	state(w Workload, pods []corev1.Pod) api.WorkloadStatus
	// hosts returns how many pods take part in one call.
	hosts(w Workload, pods []corev1.Pod) int
	// heldBack reports whether the workload may not have pods yet, or none that run.
	heldBack(w Workload, pods []corev1.Pod) bool
	// podSets returns the pods that a job needs all of in order to run.
	podSets(workload *unstructured.Unstructured) ([]PodSet, error)
}

// PodSet is pods of one template that a job needs at the same time.
type PodSet struct {
	Count int64
	Spec  corev1.PodSpec
}

// Kinds are all kinds of workloads that a job can be.
var Kinds = []*Kind{Job, LeaderWorkerSet}

// Job is Kubernetes' own Job: with one pod, with an index for each host, or a map.
var Job = &Kind{
	GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"),
	Plural:           "jobs",
	NamePrefix:       api.JobNamePrefix,
	Backend:          api.BackendGKE,
	PodTemplates:     [][]string{{"spec", "template"}},
	hostNumber: func(_, annotations map[string]string) string {
		return annotations[batchv1.JobCompletionIndexAnnotation]
	},
	makers: func(workload string) []maker { return []maker{{"Job", workload, true}} },
	extras: func(hosts int) []schema.GroupVersionResource {
		if hosts <= 1 {
			return nil
		}
		return []schema.GroupVersionResource{corev1.SchemeGroupVersion.WithResource("services")}
	},
	rules: jobRules{},
}

// LeaderWorkerSet is a group of pods that start and end together.
var LeaderWorkerSet = &Kind{
	GroupVersionKind: schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"},
	Plural:           "leaderworkersets",
	NamePrefix:       api.SetNamePrefix,
	Backend:          api.BackendLWS,
	Optional:         true,
	PodTemplates:     [][]string{{"spec", "leaderWorkerTemplate", "leaderTemplate"}, {"spec", "leaderWorkerTemplate", "workerTemplate"}},
	ScaledToZero:     true,
	MaxQueuedName:    api.MaxQueuedName,
	hostNumber:       func(labels, _ map[string]string) string { return labels[api.LabelWorkerIndex] },
	makers: func(workload string) []maker { // of the leader, and of the workers
		return []maker{{"StatefulSet", workload, false}, {"StatefulSet", workload + "-0", false}}
	},
	extras: func(int) []schema.GroupVersionResource {
		rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
		return []schema.GroupVersionResource{rbac.WithResource("roles"), rbac.WithResource("rolebindings")}
	},
	rules: lwsRules{},
}

// pythonLWS is a LeaderWorkerSet of keras-kinetic, whose pods exit when they are
// done and are started again.
var pythonLWS = func() *Kind {
	k := *LeaderWorkerSet
	k.rules = pythonLWSRules{}
	return &k
}()

// KindOf returns the kind of a workload's object, nil for any other object.
func KindOf(o *unstructured.Unstructured) *Kind {
	for _, k := range Kinds {
		if k.Kind == o.GetKind() {
			return k
		}
	}
	return nil
}

// PodSets returns the pods that a workload needs all of in order to run, none for any other
// object.
func PodSets(o *unstructured.Unstructured) ([]PodSet, error) {
	k := KindOf(o)
	if k == nil {
		return nil, nil
	}
	return k.rules.podSets(o)
}

// Extras returns the resources that the hosts of a job need under the name of its
// workload.
func Extras(h api.Handle) []schema.GroupVersionResource {
	for _, k := range Kinds {
		if (k.Backend == h.Backend || k.Backend.IsLeaderWorkerSet() && h.Backend.IsLeaderWorkerSet()) && !h.ByPythonTool() {
			extras := k.extras(h.Hosts)
			if h.Pathways != nil {
				extras = append(extras, networkingv1.SchemeGroupVersion.WithResource("networkpolicies"))
			}
			return extras
		}
	}
	return nil
}

// MayBeOfJob reports whether an object may belong to a job, by its name.
func MayBeOfJob(o corev1.ObjectReference) bool { return IsJobName(WorkloadNames(o)[0]) }

// IsJobName reports whether workloads of jobs, and objects made from them, may have a
// name.
func IsJobName(name string) bool {
	return slices.ContainsFunc(Kinds, func(k *Kind) bool { return strings.HasPrefix(name, k.NamePrefix) })
}

func (k *Kind) word() string { return strings.ToLower(k.Kind) }

func (m maker) isAbout(e *corev1.Event, workload types.UID) bool {
	if !m.isWorkload {
		workload = ""
	}
	return isAbout(e, m.kind, m.name, workload)
}
