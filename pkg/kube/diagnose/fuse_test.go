package diagnose

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fuseObservation is a job whose pod has a volume from a bucket and an event about it.
func fuseObservation(message string, age time.Duration) Observation {
	now := time.Date(2026, 4, 17, 15, 32, 0, 0, time.UTC)
	seen := metav1.NewTime(now.Add(-age))
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ml"}}
	pod.Spec.NodeName, pod.Spec.ServiceAccountName = "node", "kinetic"
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
			Driver: Driver, ReadOnly: new(true), VolumeAttributes: map[string]string{"bucketName": "acme"},
		}}},
		{Name: "disk", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "pd.csi.storage.gke.io"}}},
	}
	return Observation{
		Workload: workloadOf(&batchv1.Job{}), Now: now, Pods: []corev1.Pod{pod},
		Events: []corev1.Event{{
			Reason: "FailedMount", Message: message, FirstTimestamp: seen, LastTimestamp: metav1.NewTime(now),
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "pod"},
		}},
	}
}

const (
	fuseUnregistered = `MountVolume.SetUp failed for volume "data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name gcsfuse.csi.storage.gke.io not found in the list of registered CSI drivers`
	fuseForbidden    = `MountVolume.SetUp failed for volume "data" : rpc error: code = PermissionDenied desc = failed to get GCS bucket "acme": googleapi: Error 403: Caller does not have storage.objects.list access, forbidden`
	fuseNoSidecar    = `MountVolume.SetUp failed for volume "data" : rpc error: code = FailedPrecondition desc = failed to find the sidecar container in Pod spec`
	fuseBadOption    = "MountVolume.SetUp failed for volume \"data\" : rpc error: code = InvalidArgument desc = gcsfuse failed with error: Error: unknown flag: --no-such-flag\ngcsfuse exited with error: exit status 1\n"
	otherDriver      = `MountVolume.SetUp failed for volume "disk" : rpc error: code = NotFound desc = disk bucket-7 is gone`
)

// What may pass is waited for, for five minutes.
func TestFuseFailures(t *testing.T) {
	for name, c := range map[string]struct {
		message    string
		age        time.Duration
		want, next string
		final      bool
	}{
		"a new node": {fuseUnregistered, 4 * time.Minute,
			"node node does not have the Cloud Storage FUSE driver; a new node gets it within 2 minutes", "kubectl get csidriver gcsfuse.csi.storage.gke.io", false},
		"no driver": {fuseUnregistered, 5 * time.Minute,
			"node node does not have the Cloud Storage FUSE driver; enable GKE's add-on GcsFuseCsiDriver", "kubectl get csidriver gcsfuse.csi.storage.gke.io", true},
		"no annotation": {fuseNoSidecar, 0,
			`its pod has no sidecar for volume data; GKE adds one to pods with the annotation gke-gcsfuse/volumes: "true"`, "kubectl describe pod pod -n ml", true},
		"an option": {fuseBadOption, 0,
			"volume data can't be mounted with its options: unknown flag: --no-such-flag", "kubectl describe pod pod -n ml", true},
		"another driver": {otherDriver, 6 * time.Minute,
			"volume disk can't be mounted: disk bucket-7 is gone", "kubectl describe pod pod -n ml", false},
	} {
		want := Diagnosis{Sentence: c.want, Next: c.next, Unrecoverable: c.final}
		if got := fuseObservation(c.message, c.age).Explain(); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// Another failure before it does not make a failure older.
func TestFuseFailureBeginsAnew(t *testing.T) {
	o := fuseObservation(fuseUnregistered, 6*time.Minute)
	later := fuseObservation(fuseForbidden, time.Minute).Events[0]
	later.LastTimestamp.Time = later.LastTimestamp.Add(time.Second)
	o.Events = append(o.Events, later)
	if d := o.Explain(); d.Unrecoverable || !strings.Contains(d.Sentence, "a new role") {
		t.Errorf("got %+v, want the later failure, which may pass", d)
	}
}

// A container can't start either when gcsfuse has ended. The driver says why, later.
func TestFuseEndedBeforeTheCall(t *testing.T) {
	o := fuseObservation(fuseBadOption, 0)
	o.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kinetic-worker", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason: "CreateContainerError", Message: `failed to generate container "a90c" spec: failed to generate spec: failed to stat "/var/lib/kubelet/pods/c6b2/volumes/kubernetes.io~csi/data/mount": stat /var/lib/kubelet/pods/c6b2/volumes/kubernetes.io~csi/data/mount: transport endpoint is not connected`,
	}}}}
	if got, want := o.Explain().Sentence, "volume data can't be mounted with its options: unknown flag: --no-such-flag"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	o.Events = nil
	want := Diagnosis{Sentence: "Cloud Storage FUSE has ended in the sidecar of its pod", Next: "kubectl logs pod -c gke-gcsfuse-sidecar -n ml"}
	if got := o.Explain(); got != want {
		t.Errorf("before the event: got %+v, want %+v", got, want)
	}
}
