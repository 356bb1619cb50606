package status

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
			Driver: fuseDriver, ReadOnly: new(true), VolumeAttributes: map[string]string{"bucketName": "acme"},
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

// What kubelets and the driver say, as recorded or as in its source.
const (
	fuseUnregistered = `MountVolume.SetUp failed for volume "data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name gcsfuse.csi.storage.gke.io not found in the list of registered CSI drivers`
	fuseNoSidecar    = `MountVolume.SetUp failed for volume "data" : rpc error: code = FailedPrecondition desc = failed to find the sidecar container in Pod spec`
	fuseNoIdentity   = `MountVolume.SetUp failed for volume "data" : rpc error: code = FailedPrecondition desc = Workload Identity Federation is not enabled on node. Please make sure this is enabled on both cluster and node pool level (https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity)`
	fuseNotInjected  = `MountVolume.SetUp failed for volume "data" : rpc error: code = Internal desc = the webhook failed to inject the sidecar container into the Pod spec`
	fuseNoToken      = `MountVolume.SetUp failed for volume "data" : rpc error: code = Unauthenticated desc = failed to prepare storage service: storage service manager failed to setup service: timed out waiting for the condition`
	fuseForbidden    = `MountVolume.SetUp failed for volume "data" : rpc error: code = PermissionDenied desc = failed to get GCS bucket "acme": googleapi: Error 403: Caller does not have storage.objects.list access, forbidden`
	fuseNoBucket     = `MountVolume.SetUp failed for volume "data" : rpc error: code = NotFound desc = failed to get GCS bucket "acme": storage: bucket doesn't exist`
	fuseNoPod        = `MountVolume.SetUp failed for volume "data" : rpc error: code = NotFound desc = failed to get pod: pods "pod" not found`
	fuseBadOption    = "MountVolume.SetUp failed for volume \"data\" : rpc error: code = InvalidArgument desc = gcsfuse failed with error: Error: unknown flag: --no-such-flag\ngcsfuse exited with error: exit status 1\n"
	fuseBadOptionOld = `MountVolume.SetUp failed for volume "data" : rpc error: code = InvalidArgument desc = the sidecar container failed with error: Incorrect Usage. flag provided but not defined: -foo`
	fuseKilled       = "MountVolume.SetUp failed for volume \"data\" : rpc error: code = ResourceExhausted desc = gcsfuse failed with error: gcsfuse exited with error: signal: killed\n"
	fuseOutOfMemory  = `MountVolume.SetUp failed for volume "data" : rpc error: code = ResourceExhausted desc = the "gke-gcsfuse-sidecar" container terminated due to OOMKilled, exit code: 137`
	fuseRateLimit    = `MountVolume.SetUp failed for volume "data" : rpc error: code = Aborted desc = NodePublishVolume request is aborted due to rate limit: context deadline exceeded`
	fuseClaim        = `MountVolume.SetUp failed for volume "pv-7" : rpc error: code = NotFound desc = failed to get GCS bucket "acme": storage: bucket doesn't exist`
	otherDriver      = `MountVolume.SetUp failed for volume "disk" : rpc error: code = NotFound desc = disk bucket-7 is gone`
)

func TestFuseFailures(t *testing.T) {
	for name, c := range map[string]struct {
		message    string
		age        time.Duration
		want, next string
		final      bool
	}{
		"no driver yet": {fuseUnregistered, time.Minute,
			"node node does not have the Cloud Storage FUSE driver; a new node gets it within 2 minutes", "kubectl get csidriver gcsfuse.csi.storage.gke.io", false},
		"no driver": {fuseUnregistered, 6 * time.Minute,
			"node node does not have the Cloud Storage FUSE driver; enable GKE's add-on GcsFuseCsiDriver", "kubectl get csidriver gcsfuse.csi.storage.gke.io", true},
		"no annotation": {fuseNoSidecar, 0,
			`its pod has no sidecar for volume data; GKE adds one to pods with the annotation gke-gcsfuse/volumes: "true"`, "kubectl describe pod pod -n ml", true},
		"no workload identity": {fuseNoIdentity, 0,
			"node node has no Workload Identity Federation, which volume data needs; enable it for the cluster and for the node pool", "kubectl describe node node", true},
		"not injected": {fuseNotInjected, 0,
			"GKE did not add the sidecar for volume data to its pod; submit the job again", "kubectl describe pod pod -n ml", true},
		"no token yet": {fuseNoToken, 4 * time.Minute,
			"service account ml/kinetic gets no token for volume data; a new one takes up to 5 minutes", "kubectl describe pod pod -n ml", false},
		"no token": {fuseNoToken, 5 * time.Minute,
			"service account ml/kinetic gets no token for volume data; enable Workload Identity Federation for the cluster and for the node pool", "kubectl describe pod pod -n ml", true},
		"forbidden yet": {fuseForbidden, time.Minute,
			"volume data can't be mounted from gs://acme: Error 403: Caller does not have storage.objects.list access, forbidden; a new role takes up to 5 minutes", "gcloud storage buckets get-iam-policy gs://acme", false},
		"forbidden": {fuseForbidden, 6 * time.Minute,
			"volume data can't be mounted from gs://acme: Error 403: Caller does not have storage.objects.list access, forbidden; give service account ml/kinetic the role roles/storage.objectViewer", "gcloud storage buckets get-iam-policy gs://acme", true},
		"no bucket": {fuseNoBucket, 0,
			"volume data can't be mounted: there is no bucket gs://acme", "gcloud storage buckets describe gs://acme", true},
		"no bucket of a claim": {fuseClaim, 0,
			"volume pv-7 can't be mounted: there is no bucket gs://acme", "gcloud storage buckets describe gs://acme", true},
		"option": {fuseBadOption, 0,
			"volume data can't be mounted with its options: unknown flag: --no-such-flag", "kubectl describe pod pod -n ml", true},
		"option, old driver": {fuseBadOptionOld, 0,
			"volume data can't be mounted with its options: Incorrect Usage. flag provided but not defined: -foo", "kubectl describe pod pod -n ml", true},
		"gcsfuse killed": {fuseKilled, 0,
			"the sidecar of volume data ran out of memory; raise its limit, as with --annotation gke-gcsfuse/memory-limit=4Gi", "kubectl describe pod pod -n ml", true},
		"sidecar out of memory": {fuseOutOfMemory, 0,
			"the sidecar of volume data ran out of memory; raise its limit, as with --annotation gke-gcsfuse/memory-limit=4Gi", "kubectl describe pod pod -n ml", true},
		"rate limit": {fuseRateLimit, 0,
			"volume data can't be mounted: NodePublishVolume request is aborted due to rate limit: context deadline exceeded; the node tries again", "kubectl describe pod pod -n ml", false},
		"another meaning of NotFound": {fuseNoPod, 6 * time.Minute,
			`volume data can't be mounted: failed to get pod: pods "pod" not found`, "kubectl describe pod pod -n ml", false},
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
