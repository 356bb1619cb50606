package kube

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Each step is a change; the jobs that may have changed are told, with states.
func TestInventoryFollowsChanges(t *testing.T) {
	c := &Client{}
	labels := map[string]string{api.LabelJobID: "a1"}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", Labels: labels}}
	made, began := pod("kinetic-a1-x7x7x", 1, waiting("ContainerCreating")), pod("kinetic-a1-x7x7x", 1, running(2))
	for _, p := range []*corev1.Pod{&made, &began} {
		p.Namespace, p.Labels = "ml", labels
	}
	about := func(kind, name string) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml"}, InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}}
	}
	n := newInventory(api.TellReasons, time.Now)
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
		for _, r := range n.records(n.apply(step.change)) {
			got[r.ID] = r.Status.State
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step.name, diff)
		}
	}
}

func TestInventoryForgetsWhatIsDeleted(t *testing.T) {
	labels := map[string]string{api.LabelJobID: "a1"}
	n := newInventory(api.TellReasons, time.Now)
	p := pod("kinetic-a1-x7x7x", 1, waiting("ContainerCreating"))
	p.Namespace, p.Labels = "ml", labels
	objects := []runtime.Object{
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", Labels: labels}},
		&p,
		&corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", UID: "e1"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "kinetic-a1-x7x7x"}},
	}
	n.putAll(objects)
	if len(n.situation(key{"ml", "a1"}).Events) != 1 {
		t.Error("the event is not the job's")
	}
	for _, o := range objects {
		n.apply(change{object: o, deleted: true})
	}
	if left := len(n.owners) + len(n.pods) + len(n.events) + len(n.ids); left != 0 {
		t.Errorf("%d entries are left: %+v", left, n)
	}
	n.putAll(objects[:1])
	n.forget((&Client{}).jobs())
	if len(n.owners)+len(n.ids) != 0 {
		t.Errorf("left: %+v", n)
	}
}
