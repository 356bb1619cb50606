package manifests_test

import (
	"path/filepath"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leaderWorkerSet has the fields that are used, and no others.
type leaderWorkerSet struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas             int
		StartupPolicy        string
		LeaderWorkerTemplate struct {
			Size                           int
			RestartPolicy                  string
			SubGroupPolicy                 struct{ SubGroupSize int }
			LeaderTemplate, WorkerTemplate corev1.PodTemplateSpec
		}
	}
}

// The same name stands wherever objects name each other.
func TestNamesOfAGroup(t *testing.T) {
	w := build(t, "testdata/tpu+leaderworkerset")
	name := w.set.Name
	if w.role.Name != name || w.role.Rules[0].ResourceNames[0] != name || w.binding.Name != name || w.binding.RoleRef.Name != name {
		t.Errorf("set %s: role %v, binding %v", name, w.role, w.binding)
	}
	if account := w.binding.Subjects[0].Name; account != w.pods[0].ServiceAccountName {
		t.Errorf("the pods run as %s, and the Role is for %s", w.pods[0].ServiceAccountName, account)
	}
	w = build(t, "testdata/tpu+indexedjob")
	name = w.job.Name
	if w.service.Name != name || w.pods[0].Subdomain != name || w.service.Spec.Selector[batchv1.JobNameLabel] != name {
		t.Errorf("job %s: subdomain %s, service %v", name, w.pods[0].Subdomain, w.service)
	}
	want := []corev1.EnvVar{{Name: "KINETIC_HOSTS", Value: "2"}, {Name: "KINETIC_LEADER", Value: name + "-0." + name}}
	if got := w.pods[0].Containers[0].Env[:2]; !slices.Equal(got, want) {
		t.Errorf("the pods know %v, want %v", got, want)
	}
}

// A kustomization that composes the components says which namespace they are for, or
// leaves that to kubectl.
func TestNamespaceOfASet(t *testing.T) {
	for name, want := range map[string]string{"tpu+leaderworkerset": "", "tpu+spot+leaderworkerset": "ml"} {
		w := build(t, filepath.Join("testdata", name))
		for _, o := range []metav1.Object{&w.set, &w.role, &w.binding} {
			if o.GetNamespace() != want {
				t.Errorf("%s: a %T is in namespace %q, want %q", name, o, o.GetNamespace(), want)
			}
		}
		if got := w.binding.Subjects[0].Namespace; want != "" && got != want {
			t.Errorf("%s: the Role is for an account of namespace %q, want %q", name, got, want)
		}
	}
}

// All hosts start again together, and only the leader may talk to the API server.
func TestLeaderWorkerSet(t *testing.T) {
	w := build(t, "testdata/tpu+leaderworkerset")
	group := w.set.Spec.LeaderWorkerTemplate
	if w.set.Spec.Replicas != 1 || group.Size != 2 || group.RestartPolicy != "RecreateGroupOnPodRestart" || w.set.Spec.StartupPolicy != "LeaderCreated" {
		t.Errorf("got %+v", w.set.Spec)
	}
	for i, pod := range w.pods {
		leads := i == 0
		if *pod.AutomountServiceAccountToken != leads || (pod.Containers[0].ReadinessProbe != nil) != leads || pod.RestartPolicy != corev1.RestartPolicyAlways {
			t.Errorf("template %d: token %v, probe %v, restartPolicy %s", i, *pod.AutomountServiceAccountToken, pod.Containers[0].ReadinessProbe, pod.RestartPolicy)
		}
	}
	const label, pool = "leaderworkerset.sigs.k8s.io/exclusive-topology", "cloud.google.com/gke-nodepool"
	for name, want := range map[string]string{"cpu": "", "gpu": "", "tpu": pool} {
		if got := build(t, "testdata/"+name+"+leaderworkerset").set.Annotations[label]; got != want {
			t.Errorf("%s: a group has %q for itself, want %q", name, got, want)
		}
	}
	sliced := build(t, "testdata/tpu+spot+leaderworkerset+slices").set
	if got := sliced.Annotations; len(got) != 1 || got["leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"] != pool {
		t.Errorf("slices: annotations %v", got)
	}
	if got := sliced.Spec.LeaderWorkerTemplate.SubGroupPolicy.SubGroupSize; got != 1 {
		t.Errorf("slices: subgroups of %d", got)
	}
	if got := sliced.Spec.LeaderWorkerTemplate.LeaderTemplate.Annotations["leaderworkerset.sigs.k8s.io/leader-requests-tpus"]; got != "true" {
		t.Errorf("slices: the leader would have no number in its slice: %q", got)
	}
}

// The loss of one host is the end of all.
func TestIndexedJob(t *testing.T) {
	s := build(t, "testdata/cpu+indexedjob").job.Spec
	if *s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != 2 || *s.Parallelism != 2 || *s.BackoffLimit != 0 || s.PodFailurePolicy != nil {
		t.Errorf("got %+v", s)
	}
	service := build(t, "testdata/cpu+indexedjob").service.Spec
	if service.ClusterIP != corev1.ClusterIPNone || !service.PublishNotReadyAddresses {
		t.Errorf("the Service is %+v", service)
	}
}
