package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/joblist"
)

// manyJobs answers lists as an API server with this many jobs, each with a pod, whose
// pages were made beforehand.
type manyJobs map[string][][]byte // by resource

func newManyJobs(tb testing.TB, number int) manyJobs {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	encoder := protobuf.NewSerializer(scheme, scheme)
	server := manyJobs{}
	for first := 0; first < number; first += joblist.PageSize {
		about := metav1.ListMeta{ResourceVersion: "7"}
		if first+joblist.PageSize < number {
			about.Continue = strconv.Itoa(first/joblist.PageSize + 1)
		}
		jobs := &batchv1.JobList{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"}, ListMeta: about}
		pods := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: about}
		for i := first; i < min(first+joblist.PageSize, number); i++ {
			job, pod := jobAndPod(fmt.Sprintf("many-%d", i))
			jobs.Items, pods.Items = append(jobs.Items, job), append(pods.Items, pod)
		}
		for name, list := range map[string]runtime.Object{"jobs": jobs, "pods": pods} {
			page, err := runtime.Encode(encoder, list)
			if err != nil {
				tb.Fatal(err)
			}
			server[name] = append(server[name], page)
		}
	}
	return server
}

func (s manyJobs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pages := s[path.Base(r.URL.Path)]
	if pages == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	_, _ = w.Write(pages[page])
}

// jobAndPod are of the size that they have in a cluster.
func jobAndPod(id string) (batchv1.Job, corev1.Pod) {
	labels := map[string]string{"app": "kinetic", "app.kubernetes.io/component": "worker", "app.kubernetes.io/instance": id,
		"app.kubernetes.io/managed-by": "kubectl-kinetic", "app.kubernetes.io/name": "kinetic", "app.kubernetes.io/version": "devel", api.LabelJobID: id}
	const hash = "5e1b3b06368630b15e37b78ce0ee9f78a5fd28602e5b9ebba1608a9fcec3ed8a"
	managed := metav1.ManagedFieldsEntry{Manager: "kubectl-kinetic", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:metadata":{"f:annotations":{%q:{}}},"f:spec":{"f:template":%0900d}}`, hash, 0))}
	made := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	pod := corev1.PodSpec{
		ServiceAccountName: "kinetic", RestartPolicy: corev1.RestartPolicyNever, NodeName: "gke-main-gpu-l4-3f2c-0",
		TerminationGracePeriodSeconds: new(int64(30)), SecurityContext: &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: "RuntimeDefault"}},
		Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))}},
		Volumes: []corev1.Volume{{Name: "runner", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kinetic-runner-" + hash}}}}, {Name: "scratch"}},
		Containers: []corev1.Container{{Name: "kinetic-worker", Image: "python:3.12", Command: []string{"python3", "-u", "/app/remote_runner.py"},
			Args:         []string{"--job", id, "--store", "gs://acme-kn-main-jobs", "--call", hash, "--bundle", hash, "--function"},
			Env:          []corev1.EnvVar{{Name: "KERAS_BACKEND", Value: "jax"}, {Name: "JAX_PLATFORMS", Value: "cpu"}, {Name: "KINETIC_POD_UID"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "runner", MountPath: "/app/remote_runner.py"}, {Name: "scratch", MountPath: "/kinetic"}},
			Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("2Gi")}}}},
	}
	meta := metav1.ObjectMeta{Name: "kinetic-" + id, Namespace: "ml", UID: types.UID("f1f7a3a0-" + id), CreationTimestamp: made, Labels: labels,
		Annotations: map[string]string{api.AnnotationStore: "gs://acme-kn-main-jobs", api.AnnotationFunction: "train", api.AnnotationAccelerator: "l4",
			"kubectl-kinetic.github.io/runner-sha256": hash, "kubectl-kinetic.github.io/call": "train.py:train(epochs=3)"},
		ManagedFields: []metav1.ManagedFieldsEntry{managed, managed}}
	job := batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{BackoffLimit: new(int32(0)), Completions: new(int32(1)), Parallelism: new(int32(1)),
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod}}}
	meta.Name += "-x7x7x"
	return job, corev1.Pod{ObjectMeta: meta, Spec: pod, Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &made,
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: "True"}, {Type: corev1.PodReady, Status: "True"}, {Type: corev1.PodInitialized, Status: "True"}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "kinetic-worker", Image: "python:3.12", ContainerID: "containerd://" + hash, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: made}}}}}}
}

func BenchmarkList(b *testing.B) {
	web := httptest.NewServer(newManyJobs(b, 5000))
	defer web.Close()
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		records, err := New(c).List(b.Context(), api.ListStates)
		if err != nil || len(records) != 5000 || records[0].Status.State != api.Running {
			b.Fatalf("%d records, %v", len(records), err)
		}
	}
}
