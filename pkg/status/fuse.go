package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// Names of GKE's Cloud Storage FUSE driver.
const (
	fuseDriver  = "gcsfuse.csi.storage.gke.io"
	fuseSidecar = "gke-gcsfuse-sidecar"
)

var (
	gcsBucket  = pattern.Lazy(`^failed to get GCS bucket "([a-z0-9][a-z0-9._-]*)": (?:googleapi: )?(.*)$`)
	rpcCode    = pattern.Lazy(`rpc error: code = (\w+) desc = `)
	fuseFailed = pattern.Lazy(`^(?:gcsfuse|the sidecar container) failed with error: (?:Error: )?|\s*gcsfuse exited with error: exit status \d+$`)
)

// deadMount is what the runtime says of a volume whose gcsfuse has ended.
const deadMount = "transport endpoint is not connected"

// fusePassing is how long a failure may pass by itself.
const fusePassing = 5 * time.Minute

// fuseFailure is a kind of failure of the driver.
type fuseFailure struct {
	// code is that of the driver's error, "" if the kubelet did not reach the driver. part
	// is what the message contains, if a code has several meanings.
	code, part string
	// sentence, remedy and next are formats for the values of a fuseMount. If next is
	// empty, the command is the one that describes the pod.
	sentence, remedy, next string
	// wait says why the failure may pass; "" if only another pod helps, or another job. It
	// follows the sentence for as long as it may, the remedy after that.
	wait string
}

// fuseFailures are tried in order.
var fuseFailures = []fuseFailure{
	{part: "driver name " + fuseDriver + " not found", wait: "a new node gets it within 2 minutes",
		sentence: "node %[3]s does not have the Cloud Storage FUSE driver",
		remedy:   "enable GKE's add-on GcsFuseCsiDriver",
		next:     "kubectl get csidriver " + fuseDriver},
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
		remedy:   fuseMemory},
	{code: "Aborted", wait: "the node tries again", sentence: "volume %[1]s can't be mounted: %[6]s"},
	{code: "DeadlineExceeded", wait: "the node tries again", sentence: "volume %[1]s can't be mounted: %[6]s"},
	{code: "Unavailable", wait: "the node tries again", sentence: "volume %[1]s can't be mounted: %[6]s"},
}

const fuseMemory = "raise its limit, as with --annotation gke-gcsfuse/memory-limit=4Gi"

// fuseMount is a failure to mount a bucket.
type fuseMount struct {
	failure fuseFailure
	values  []any // volume, bucket, node, service account, role, the driver's message
}

// fuseMountOf recognizes an event of the driver by the code of its error and by its name,
// in the event or in the pod's volume. Of a persistent volume the pod has only the claim:
// then the driver must have named a bucket.
func fuseMountOf(p corev1.Pod, e *corev1.Event) (fuseMount, bool) {
	m := volumeFailed().FindStringSubmatch(oneLine(e.Message))
	if m == nil {
		return fuseMount{}, false
	}
	volume, text := csiVolume(p, m[1]), m[2]
	said := fuseFailed().ReplaceAllString(rpcStatus().ReplaceAllString(text, ""), "")
	bucket := volume.VolumeAttributes["bucketName"]
	if b := gcsBucket().FindStringSubmatch(said); b != nil {
		bucket, said = b[1], b[2]
	} else if volume.Driver != fuseDriver && !strings.Contains(text, fuseDriver) {
		return fuseMount{}, false
	}
	code := ""
	if c := rpcCode().FindStringSubmatch(text); c != nil {
		code = c[1]
	}
	for _, f := range fuseFailures {
		if f.code != code || !strings.Contains(text, f.part) {
			continue
		}
		role := "roles/storage.objectUser"
		if volume.ReadOnly != nil && *volume.ReadOnly {
			role = "roles/storage.objectViewer"
		}
		return fuseMount{f, []any{foreign(m[1]), foreign(bucket), p.Spec.NodeName,
			p.Namespace + "/" + p.Spec.ServiceAccountName, role, foreign(said)}}, true
	}
	return fuseMount{}, false
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

// explainFuse explains a bucket that can't be mounted, if the event is about one.
func (s Observation) explainFuse(p corev1.Pod, e *corev1.Event) Diagnosis {
	m, ok := fuseMountOf(p, e)
	if !ok {
		return Diagnosis{}
	}
	f := m.failure
	d := Diagnosis{Sentence: m.text(f.sentence), Next: cmp.Or(m.text(f.next), DescribePod(p))}
	if f.wait != "" && s.Now.Sub(s.firstFuseFailure(p, f)) < fusePassing {
		d.Sentence += "; " + f.wait
		return d
	}
	d.Sentence, d.Unrecoverable = d.Sentence+prefixed("; ", m.text(f.remedy)), true
	return d
}

// text fills in a format.
func (m fuseMount) text(format string) string {
	if !strings.Contains(format, "%") {
		return format
	}
	return fmt.Sprintf(format, m.values...)
}

// firstFuseFailure returns when a pod first met a kind of failure.
func (s Observation) firstFuseFailure(p corev1.Pod, f fuseFailure) time.Time {
	var first time.Time
	for i := range s.Events {
		e := &s.Events[i]
		if e.Reason != "FailedMount" || !isAbout(e, "Pod", p.Name, p.UID) {
			continue
		}
		if m, ok := fuseMountOf(p, e); ok && m.failure == f && (first.IsZero() || beginOf(e).Before(first)) {
			first = beginOf(e)
		}
	}
	return first
}

// explainDeadMount explains a container that can't start because the gcsfuse of a volume
// has ended. The driver says why within a minute.
func (s Observation) explainDeadMount(p corev1.Pod) Diagnosis {
	said := s.newest(func(e *corev1.Event) bool {
		_, ok := fuseMountOf(p, e)
		return ok && e.Reason == "FailedMount" && isAbout(e, "Pod", p.Name, p.UID)
	})
	if said != nil {
		return s.explainFuse(p, said)
	}
	return Diagnosis{
		Sentence: "Cloud Storage FUSE has ended in the sidecar of its pod",
		Next:     fmt.Sprintf("kubectl logs %s -c %s -n %s", p.Name, fuseSidecar, p.Namespace),
	}
}
