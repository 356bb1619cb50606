package diagnose

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const (
	// Driver is the name of the driver.
	Driver = "gcsfuse.csi.storage.gke.io"
	// Sidecar is the container in which gcsfuse runs.
	Sidecar = "gke-gcsfuse-sidecar"
	// MoreMemory is what helps a Sidecar that ran out of memory.
	MoreMemory = "raise its limit, as with --annotation gke-gcsfuse/memory-limit=4Gi"
)

const (
	setUp      = `volume "([^"]*)"\s*: (.*)$`
	rpcError   = `^rpc error: code = (\w+) desc = (.*)$`
	ofGcsfuse  = `^(?:gcsfuse|the sidecar container) failed with error: (?:Error: )?|\s*gcsfuse exited with error: exit status \d+$`
	ofBucket   = `^failed to get GCS bucket "([^"]*)": (?:googleapi: )?(.*)$`
	bucketName = `^[a-z0-9][a-z0-9._-]*$`
)

// fuseFailure is a failure to mount a bucket.
type fuseFailure struct {
	// code is that of the driver's error, "" if the kubelet did not reach the driver. part
	// is what the message contains, if a code has several meanings.
	code, part string
	// sentence says what failed, remedy what helps if waiting doesn't, "" if the sentence already does. next is a command
	// that shows more than the pod's description, "" if there is none. In fuseFailures, these are formats for the volume,
	// the bucket, the node, the service account, its role and the driver's message.
	sentence, remedy, next string
	// wait says why the failure may pass within 5 minutes; "" if only another pod helps, or another job.
	wait string
}

// fuseFailures are tried in order.
var fuseFailures = []fuseFailure{
	{part: "driver name " + Driver + " not found", wait: "a new node gets it within 2 minutes",
		sentence: "node %[3]s does not have the Cloud Storage FUSE driver",
		remedy:   "enable GKE's add-on GcsFuseCsiDriver",
		next:     "kubectl get csidriver " + Driver},
	{code: "FailedPrecondition", part: "Workload Identity",
		sentence: "node %[3]s has no Workload Identity Federation, which volume %[1]s needs",
		remedy:   "enable it for the cluster and for the node pool",
		next:     "kubectl describe node %[3]s"},
	{code: "FailedPrecondition",
		sentence: "its pod has no sidecar for volume %[1]s",
		remedy:   `GKE adds one to pods with the annotation gke-gcsfuse/volumes: "true"`},
	{code: "Internal", part: "inject the sidecar",
		sentence: "GKE did not add the sidecar for volume %[1]s to its pod",
		remedy:   "submit the job again"},
	{code: "Unauthenticated", wait: "a new one takes up to 5 minutes",
		sentence: "service account %[4]s gets no token for volume %[1]s",
		remedy:   "enable Workload Identity Federation for the cluster and for the node pool"},
	{code: "PermissionDenied", wait: "a new role takes up to 5 minutes",
		sentence: "volume %[1]s can't be mounted from gs://%[2]s: %[6]s",
		remedy:   "give service account %[4]s the role %[5]s",
		next:     "gcloud storage buckets get-iam-policy gs://%[2]s"},
	{code: "NotFound", part: "bucket",
		sentence: "volume %[1]s can't be mounted: there is no bucket gs://%[2]s",
		next:     "gcloud storage buckets describe gs://%[2]s"},
	{code: "InvalidArgument",
		sentence: "volume %[1]s can't be mounted with its options: %[6]s"},
	{code: "ResourceExhausted",
		sentence: "the sidecar of volume %[1]s ran out of memory",
		remedy:   MoreMemory},
	{code: "Aborted", wait: again, sentence: anyReason},
	{code: "DeadlineExceeded", wait: again, sentence: anyReason},
	{code: "Unavailable", wait: again, sentence: anyReason},
}

const (
	again     = "the node tries again"
	anyReason = "volume %[1]s can't be mounted: %[6]s"
)

// recognizeFuse returns the failure that a FailedMount event of a pod reports, on one line. It
// goes by the code of the error, since the words change from version to version, and by
// the name of the driver, which the event or the pod's volume has. Of a persistent volume
// the pod only has the claim: then the driver must have named a bucket.
func recognizeFuse(p corev1.Pod, message string) (f fuseFailure, ok bool) {
	m := lazyregexp.Of(setUp).FindStringSubmatch(message)
	if m == nil {
		return fuseFailure{}, false
	}
	volume, text, code := csiVolume(p, m[1]), m[2], ""
	if e := lazyregexp.Of(rpcError).FindStringSubmatch(text); e != nil {
		code, text = e[1], e[2]
	}
	said, bucket := lazyregexp.Of(ofGcsfuse).ReplaceAllString(text, ""), volume.VolumeAttributes["bucketName"]
	if b := lazyregexp.Of(ofBucket).FindStringSubmatch(said); b != nil {
		bucket, said = b[1], b[2]
	} else if volume.Driver != Driver && !strings.Contains(text, Driver) {
		return fuseFailure{}, false
	}
	if !lazyregexp.Of(bucketName).MatchString(bucket) { // it is part of a command
		bucket = "BUCKET"
	}
	for _, f := range fuseFailures {
		if f.code == code && strings.Contains(text, f.part) {
			values := []any{m[1], bucket, p.Spec.NodeName, p.Namespace + "/" + p.Spec.ServiceAccountName, role(volume), said}
			for _, format := range []*string{&f.sentence, &f.remedy, &f.next} {
				if strings.Contains(*format, "%") {
					*format = fmt.Sprintf(*format, values...)
				}
			}
			return f, true
		}
	}
	return fuseFailure{}, false
}

// csiVolume returns a pod's volume of that name, the zero value if no CSI driver mounts
// it.
func csiVolume(p corev1.Pod, name string) corev1.CSIVolumeSource {
	for _, v := range p.Spec.Volumes {
		if v.Name == name && v.CSI != nil {
			return *v.CSI
		}
	}
	return corev1.CSIVolumeSource{}
}

func role(v corev1.CSIVolumeSource) string {
	if v.ReadOnly != nil && *v.ReadOnly {
		return "roles/storage.objectViewer"
	}
	return "roles/storage.objectUser"
}
