package diagnose

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fusePod has a volume of the driver and one of another driver.
func fusePod(bucket string, readOnly *bool) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ml"}}
	p.Spec.NodeName, p.Spec.ServiceAccountName = "node", "kinetic"
	p.Spec.Volumes = []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: Driver, ReadOnly: readOnly, VolumeAttributes: map[string]string{"bucketName": bucket}}}},
		{Name: "disk", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "pd.csi.storage.gke.io"}}},
	}
	return p
}

func failed(volume, text string) string {
	return `MountVolume.SetUp failed for volume "` + volume + `" : ` + text
}

// The messages are as recorded, or as in the driver's source.
func TestRecognize(t *testing.T) {
	const identity = "enable Workload Identity Federation for the cluster and for the node pool"
	for name, c := range map[string]struct{ text, sentence, wait, remedy, next string }{
		"no driver": {"kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name gcsfuse.csi.storage.gke.io not found in the list of registered CSI drivers",
			"node node does not have the Cloud Storage FUSE driver", "a new node gets it within 2 minutes", "enable GKE's add-on GcsFuseCsiDriver", "kubectl get csidriver gcsfuse.csi.storage.gke.io"},
		"no annotation": {"rpc error: code = FailedPrecondition desc = failed to find the sidecar container in Pod spec",
			"its pod has no sidecar for volume data", "", `GKE adds one to pods with the annotation gke-gcsfuse/volumes: "true"`, ""},
		"no workload identity": {"rpc error: code = FailedPrecondition desc = Workload Identity Federation is not enabled on node. Please make sure this is enabled on both cluster and node pool level (https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity)",
			"node node has no Workload Identity Federation, which volume data needs", "", "enable it for the cluster and for the node pool", "kubectl describe node node"},
		"not injected": {"rpc error: code = Internal desc = the webhook failed to inject the sidecar container into the Pod spec",
			"GKE did not add the sidecar for volume data to its pod", "", "submit the job again", ""},
		"no token": {"rpc error: code = Unauthenticated desc = failed to prepare storage service: storage service manager failed to setup service: timed out waiting for the condition",
			"service account ml/kinetic gets no token for volume data", "a new one takes up to 5 minutes", identity, ""},
		"forbidden": {`rpc error: code = PermissionDenied desc = failed to get GCS bucket "acme": googleapi: Error 403: Caller does not have storage.objects.list access, forbidden`,
			"volume data can't be mounted from gs://acme: Error 403: Caller does not have storage.objects.list access, forbidden", "a new role takes up to 5 minutes",
			"give service account ml/kinetic the role roles/storage.objectViewer", "gcloud storage buckets get-iam-policy gs://acme"},
		"no bucket": {`rpc error: code = NotFound desc = failed to get GCS bucket "acme": storage: bucket doesn't exist`,
			"volume data can't be mounted: there is no bucket gs://acme", "", "", "gcloud storage buckets describe gs://acme"},
		"no bucket, says gcsfuse": {"rpc error: code = NotFound desc = gcsfuse failed with error: Error: failed to mount: storage: bucket doesn't exist gcsfuse exited with error: exit status 1",
			"volume data can't be mounted: there is no bucket gs://acme", "", "", "gcloud storage buckets describe gs://acme"},
		"option": {"rpc error: code = InvalidArgument desc = gcsfuse failed with error: Error: unknown flag: --no-such-flag gcsfuse exited with error: exit status 1",
			"volume data can't be mounted with its options: unknown flag: --no-such-flag", "", "", ""},
		"option, old driver": {"rpc error: code = InvalidArgument desc = the sidecar container failed with error: Incorrect Usage. flag provided but not defined: -foo",
			"volume data can't be mounted with its options: Incorrect Usage. flag provided but not defined: -foo", "", "", ""},
		"gcsfuse killed": {"rpc error: code = ResourceExhausted desc = gcsfuse failed with error: gcsfuse exited with error: signal: killed",
			"the sidecar of volume data ran out of memory", "", MoreMemory, ""},
		"sidecar out of memory": {`rpc error: code = ResourceExhausted desc = the "gke-gcsfuse-sidecar" container terminated due to OOMKilled, exit code: 137`,
			"the sidecar of volume data ran out of memory", "", MoreMemory, ""},
		"rate limit": {"rpc error: code = Aborted desc = NodePublishVolume request is aborted due to rate limit: context deadline exceeded",
			"volume data can't be mounted: NodePublishVolume request is aborted due to rate limit: context deadline exceeded", "the node tries again", "", ""},
	} {
		f, ok := recognizeFuse(fusePod("acme", new(true)), failed("data", c.text))
		if !ok {
			t.Errorf("%s: not recognized", name)
			continue
		}
		for what, words := range map[string][2]string{
			"sentence": {f.sentence, c.sentence}, "wait": {f.wait, c.wait}, "remedy": {f.remedy, c.remedy}, "next": {f.next, c.next},
		} {
			if words[0] != words[1] {
				t.Errorf("%s: %s %q, want %q", name, what, words[0], words[1])
			}
		}
	}
}

func TestRecognizeNothing(t *testing.T) {
	for name, message := range map[string]string{
		"another driver":        failed("disk", "rpc error: code = NotFound desc = no bucket with bolts"),
		"no driver":             failed("config", `configmap "settings" not found`),
		"another meaning":       failed("data", `rpc error: code = NotFound desc = failed to get pod: pods "pod" not found`),
		"another internal one":  failed("data", "rpc error: code = Internal desc = mkdir failed: no space left on device"),
		"another driver's name": failed("disk", "kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name pd.csi.storage.gke.io not found in the list of registered CSI drivers"),
		"a list of volumes":     "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition",
	} {
		if f, ok := recognizeFuse(fusePod("acme", nil), message); ok {
			t.Errorf("%s: recognized as %q", name, f.sentence)
		}
	}
}

// Of a persistent volume, the pod has the claim only.
func TestRecognizePersistentVolume(t *testing.T) {
	f, _ := recognizeFuse(fusePod("acme", nil), failed("pv-7", `rpc error: code = NotFound desc = failed to get GCS bucket "models": storage: bucket doesn't exist`))
	if got, want := f.sentence, "volume pv-7 can't be mounted: there is no bucket gs://models"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Anybody may have written the manifest, and people run the command.
func TestNextIsSafeToRun(t *testing.T) {
	f, _ := recognizeFuse(fusePod("acme; rm -rf ~", nil), failed("data", "rpc error: code = NotFound desc = the bucket is unknown"))
	if got, want := f.next, "gcloud storage buckets describe gs://BUCKET"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRoleToWrite(t *testing.T) {
	f, _ := recognizeFuse(fusePod("acme", nil), failed("data", "rpc error: code = PermissionDenied desc = storage.objects.list"))
	if got, want := f.remedy, "give service account ml/kinetic the role roles/storage.objectUser"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The runner gives the same advice behind a traceback.
func TestTheRunnerSaysWhatHelps(t *testing.T) {
	source, err := os.ReadFile("../../../runner/kinetic_runner/mounts.py")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), MoreMemory) {
		t.Errorf("mounts.py doesn't say %q", MoreMemory)
	}
}
