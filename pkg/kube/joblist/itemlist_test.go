package joblist

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func newJob(name string) batchv1.Job {
	labels := map[string]string{api.LabelJobID: name}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "kinetic-worker", Image: "python:3.12"}}}
	return batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{api.AnnotationStore: "gs://acme-jobs"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl-kinetic", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}},
		Spec: batchv1.JobSpec{Completions: new(int32(1)), Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod}},
	}
}

// A list that is cut anywhere is an error, never a shorter list.
func TestReadListThatIsCut(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := batchv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	jobs := &batchv1.JobList{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"},
		Items: []batchv1.Job{newJob("a"), newJob("b")}}
	page, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), jobs)
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (names []string, version string, err error) {
		about, err := ReadItems(bytes.NewReader(data), nil, &batchv1.JobList{}, Whole, func(o runtime.Object) {
			names = append(names, o.(*batchv1.Job).Name)
		})
		if err == nil {
			version = about.GetResourceVersion()
		}
		return names, version, err
	}
	names, version, err := read(page)
	if want := []string{"a", "b"}; err != nil || !slices.Equal(names, want) || version != "7" {
		t.Fatalf("got %v at %q, %v", names, version, err)
	}
	whole := len(page)
	for n := len(protobufMark) + 2; n < whole; n++ {
		names, _, err := read(page[:n])
		// What comes after the items says nothing.
		if err == nil && len(names) < 2 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("of %d bytes of %d it read %v, %v; want io.ErrUnexpectedEOF", n, whole, names, err)
		}
	}
}

// What a list doesn't show is not read, but the template of a job of keras-kinetic.
func TestSlimItems(t *testing.T) {
	ours := newJob("a")
	pod := corev1.Pod{ObjectMeta: ours.ObjectMeta, Spec: ours.Spec.Template.Spec, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	python := *ours.DeepCopy()
	python.Annotations = nil
	for name, tt := range map[string]struct {
		object, into interface {
			unmarshaler
			Marshal() ([]byte, error)
		}
		want func(into runtime.Object) bool
	}{
		"ours": {&ours, &batchv1.Job{}, func(o runtime.Object) bool {
			j := o.(*batchv1.Job)
			return len(j.Spec.Template.Spec.Containers) == 0 && j.Name == ours.Name && *j.Spec.Completions == 1
		}},
		"of the Python tool": {&python, &batchv1.Job{}, func(o runtime.Object) bool {
			return len(o.(*batchv1.Job).Spec.Template.Spec.Containers) == 1
		}},
		"a pod": {&pod, &corev1.Pod{}, func(o runtime.Object) bool {
			p := o.(*corev1.Pod)
			return len(p.Spec.Containers) == 1 && p.Status.Phase == corev1.PodRunning
		}},
	} {
		data, err := tt.object.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.into.Unmarshal(slim(tt.into, data)); err != nil {
			t.Fatal(err)
		}
		about, err := meta.Accessor(tt.into)
		if err != nil || len(about.GetManagedFields()) > 0 || len(about.GetLabels()) == 0 || !tt.want(tt.into) {
			t.Errorf("%s: %v, %+v", name, err, tt.into)
		}
	}
	if torn := []byte{0x0a, 0xff}; !bytes.Equal(without(torn, []field{{1, []field{{17, nil}}}}), torn) {
		t.Error("a torn message was changed")
	}
}

// Of a pod, only what Pod leaves out is not read.
func TestSlimPods(t *testing.T) {
	container := corev1.Container{
		Name: "kinetic-worker", Image: "python:3.12", Command: []string{"python3"}, Args: []string{"-m", "train"}, WorkingDir: "/app",
		Env:            []corev1.EnvVar{{Name: "JAX_PLATFORMS", Value: "tpu"}},
		EnvFrom:        []corev1.EnvFromSource{{Prefix: "A_"}},
		Ports:          []corev1.ContainerPort{{Name: "coordinator", ContainerPort: 8476}},
		Resources:      corev1.ResourceRequirements{Limits: corev1.ResourceList{"google.com/tpu": resource.MustParse("4")}},
		VolumeMounts:   []corev1.VolumeMount{{Name: "runner", MountPath: "/kinetic/runner"}},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 5}, SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
		ImagePullPolicy: corev1.PullAlways, TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a-0", Labels: map[string]string{api.LabelJobID: "a"}},
		Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{
				{Name: "runner", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{Items: []corev1.KeyToPath{{Key: "runner", Path: "runner"}}}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: new(int32(0o644))}}},
				{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "key"}}},
				{Name: "bucket", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "gcsfuse.csi.storage.gke.io"}}},
				{Name: "disk", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "disk"}}},
			},
			InitContainers: []corev1.Container{container}, Containers: []corev1.Container{container, container},
			DNSPolicy: corev1.DNSClusterFirst, SchedulerName: corev1.DefaultSchedulerName, SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(1))},
			NodeName: "tpu-7", Tolerations: []corev1.Toleration{{Key: "google.com/tpu"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	data, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	slimmed, got := slim(&pod, slices.Clone(data)), corev1.Pod{}
	if err := got.Unmarshal(slimmed); err != nil {
		t.Fatal(err)
	}
	if len(slimmed) > len(data)*3/4 {
		t.Errorf("%d of %d bytes are left", len(slimmed), len(data))
	}
	if diff := cmp.Diff(Pod(&pod), Pod(&got)); diff != "" {
		t.Error(diff)
	}
}
