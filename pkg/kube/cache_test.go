package kube

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// Each step is a change, with the jobs that it may have changed and their states.
func TestCacheFollowsChanges(t *testing.T) {
	c := clientOf(t, "ml", http.NotFound)
	w := New(c)
	labels := map[string]string{api.LabelJobID: "a1"}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", Labels: labels}}
	made, began := pod("kinetic-a1-x7x7x", 1, waiting("ContainerCreating")), pod("kinetic-a1-x7x7x", 1, running(2))
	for _, p := range []*corev1.Pod{&made, &began} {
		p.Namespace, p.Labels = "ml", labels
	}
	about := func(kind, name string) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml"}, InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}}
	}
	n := newCache()
	for _, step := range []struct {
		name   string
		change change
		want   map[string]api.State
	}{
		{"a Job is there", change{kind: c.jobs(), reset: true, all: []runtime.Object{job}}, map[string]api.State{"a1": api.Pending}},
		{"its pod is made", change{kind: c.pods(), object: &made}, map[string]api.State{"a1": api.Pending}},
		{"its pod begins", change{kind: c.pods(), object: &began}, map[string]api.State{"a1": api.Running}},
		{"an event about it", change{kind: c.events(), object: about("Job", "kinetic-a1")}, map[string]api.State{"a1": api.Running}},
		{"an event about its pod", change{kind: c.events(), object: about("Pod", "kinetic-a1-x7x7x")}, map[string]api.State{"a1": api.Running}},
		{"an event about Kueue's Workload", change{kind: c.events(), object: about("Workload", "job-kinetic-a1-0f0f0")}, map[string]api.State{"a1": api.Running}},
		{"an event about another", change{kind: c.events(), object: about("Pod", "web-x7x7x")}, map[string]api.State{}},
		{"its pod goes", change{kind: c.pods(), object: &began, deleted: true}, map[string]api.State{"a1": api.Pending}},
		{"the Job goes while nobody watches", change{kind: c.jobs(), reset: true}, map[string]api.State{"a1": api.NotFound}},
	} {
		got := map[string]api.State{}
		for _, r := range w.summaries(t.Context(), n, n.apply(step.change), api.ListReasons) {
			got[r.ID] = r.Status.State
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step.name, diff)
		}
	}
}

func TestCacheForgetsWhatIsDeleted(t *testing.T) {
	labels := map[string]string{api.LabelJobID: "a1"}
	c, n := &Client{}, newCache()
	p := pod("kinetic-a1-x7x7x", 1, waiting("ContainerCreating"))
	p.Namespace, p.Labels = "ml", labels
	changes := []change{
		{kind: c.jobs(), object: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", Labels: labels}}},
		{kind: c.pods(), object: &p},
		{kind: c.events(), object: &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", UID: "e1"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "kinetic-a1-x7x7x"}}},
	}
	for _, ch := range changes {
		n.apply(ch)
	}
	if len(n.snapshot(key{"ml", "a1"}).events) != 1 {
		t.Error("the event is not the job's")
	}
	for _, ch := range changes {
		ch.deleted = true
		n.apply(ch)
	}
	if left := len(n.workloads) + len(n.pods) + len(n.events) + len(n.keys); left != 0 {
		t.Errorf("%d entries are left: %+v", left, n)
	}
	n.apply(changes[0])
	n.forget(c.workloads(diagnose.LeaderWorkerSet))
	if len(n.workloads) != 1 || len(n.keys) != 1 {
		t.Errorf("a kind that it isn't of was forgotten; left: %+v", n)
	}
	n.forget(c.jobs())
	if len(n.workloads)+len(n.keys) != 0 {
		t.Errorf("left: %+v", n)
	}
}

// Two jobs may have names that the names of their pods can't tell apart. Both have the event then.
func TestCacheSharesTheEventsOfACutName(t *testing.T) {
	c, n := &Client{}, newCache()
	start := "kinetic-" + strings.Repeat("n", 47) // what the name of a pod with an index has of theirs
	for i, id := range []string{"a1", "b2"} {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: start + "-1" + id[:1], Namespace: "ml", UID: types.UID(id), Labels: map[string]string{api.LabelJobID: id}}}
		n.apply(change{kind: c.jobs(), object: j})
		if i == 0 {
			own := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", UID: "own"}, InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: j.Name}}
			n.apply(change{kind: c.events(), object: own})
		}
	}
	about := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", UID: "e1"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: start + "-0-x7k2p"}}
	touched := n.apply(change{kind: c.events(), object: about})
	if a, b := n.snapshot(key{"ml", "a1"}), n.snapshot(key{"ml", "b2"}); len(touched) != 2 || len(a.events) != 2 || len(b.events) != 1 {
		t.Errorf("it touches %v; they have %v and %v", touched, a.events, b.events)
	}
	about.InvolvedObject.Name, about.UID = start[:53]+"-1-0-x7k2p", "e2"
	if touched := n.apply(change{kind: c.events(), object: about}); len(touched) != 0 {
		t.Errorf("an event of another touches %v", touched)
	}
}

// A Job that was deleted leaves its pods until they have ended. A new one may have its ID by then.
func TestCacheLeavesOutThePodsOfAnOlderJob(t *testing.T) {
	labels := map[string]string{api.LabelJobID: "a1"}
	owned := func(name string, p corev1.Pod, kind string, by types.UID) *corev1.Pod {
		p.Name, p.UID, p.Namespace, p.Labels = name, types.UID(name), "ml", labels
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "kinetic-a1", UID: by, Controller: new(true)}}
		return &p
	}
	c, n := &Client{}, newCache()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", UID: "new", Labels: labels}}
	all := []runtime.Object{owned("older", pod("", 1, terminated(1, "Error", "")), "Job", "old"), owned("its", pod("", 2, running(3)), "Job", "new"),
		owned("of-a-set", pod("", 2, running(3)), "StatefulSet", "its-uid-is-not-known")}
	n.apply(change{kind: c.pods(), reset: true, all: all})
	for _, step := range []struct {
		name    string
		deleted bool
		want    []types.UID
	}{{"the new Job is there", false, []types.UID{"its", "of-a-set"}}, {"it is deleted, too", true, []types.UID{"its", "of-a-set", "older"}}} {
		n.apply(change{kind: c.jobs(), object: job, deleted: step.deleted})
		s := n.snapshot(key{"ml", "a1"})
		if diff := cmp.Diff(step.want, slices.Sorted(maps.Keys(s.pods))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step.name, diff)
		}
	}
}

// A Workload of Kueue is found by its owner's UID, because names are reused.
func TestCacheFindsTheJobOfAKueueWorkload(t *testing.T) {
	c, n, want := &Client{}, newCache(), key{"ml", "a1"}
	its := kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "job-kinetic-a1-f00", Namespace: "ml", UID: "1",
		OwnerReferences: []metav1.OwnerReference{{Name: "kinetic-a1", UID: "the-job"}}}}
	older := *its.DeepCopyObject().(*kueue.Workload)
	older.UID, older.OwnerReferences[0].UID = "2", "of-yesterday"
	n.apply(change{kind: c.jobs(), object: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", UID: "the-job", Labels: map[string]string{api.LabelJobID: "a1"}}}})
	for _, step := range []struct {
		name    string
		change  change
		touches bool
		left    int
	}{
		{"its own", change{object: &its}, true, 1},
		{"that of yesterday's namesake", change{object: &older}, false, 1},
		{"its own, deleted", change{object: &its, deleted: true}, true, 0},
		{"its own again", change{object: &its}, true, 1},
		{"none any more", change{kind: c.kueueWorkloads(), reset: true}, true, 0},
	} {
		keys := n.apply(step.change)
		if touches := slices.Contains(keys, want); touches != step.touches || len(n.snapshot(want).kueueWorkloads) != step.left {
			t.Errorf("%s: it is of the job: %v, which has %d; want %v, %d", step.name, touches, len(n.snapshot(want).kueueWorkloads), step.touches, step.left)
		}
	}
}
