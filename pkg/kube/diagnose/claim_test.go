package diagnose

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// waitsForClaims returns a pod without a node that mounts these claims and, as disk, a volume of
// its own. says is the scheduler's message.
func waitsForClaims(says string, claims ...string) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1-x7k2p", Namespace: "ml"}}
	for _, name := range claims {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
		if name == "disk" {
			source = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	}
	if says != "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: says}}
	}
	return p
}

func TestWhyAPodWaitsForAClaim(t *testing.T) {
	const (
		unbound = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
		noneFit = "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't find available persistent volumes to bind. no new claims to deallocate, preemption: 0/3 nodes are available."
		all     = "kubectl get persistentvolumeclaims -n ml"
		one     = "kubectl describe persistentvolumeclaim datasets -n ml"
		pod     = "kubectl describe pod kinetic-a1-x7k2p -n ml"
	)
	type said struct{ kind, name, reason, message string }
	about := func(reason, message string) []said { return []said{{claimKind, "datasets", reason, message}} }
	for name, tt := range map[string]struct {
		pod            corev1.Pod
		events         []said
		sentence, next string
	}{
		"it doesn't exist": {waitsForClaims(`0/3 nodes are available: persistentvolumeclaim "datasets" not found. preemption: …`, "datasets"), nil,
			"persistentvolumeclaim datasets is missing in namespace ml", "kubectl get persistentvolumeclaim datasets -n ml"},
		"it is being deleted": {waitsForClaims(`0/3 nodes are available: persistentvolumeclaim "datasets" is being deleted.`, "datasets"), nil,
			"persistentvolumeclaim datasets is being deleted", one},
		"its volume is gone": {waitsForClaims(`0/3 nodes are available: persistentvolumeclaim "datasets" bound to non-existent persistentvolume "pv-1".`, "datasets"), nil,
			"persistentvolumeclaim datasets has lost its volume", one},
		"nobody says why":                 {waitsForClaims(unbound, "datasets"), nil, "no volume yet for persistentvolumeclaim datasets", all},
		"nobody says why, of two":         {waitsForClaims(unbound, "datasets", "disk"), nil, "no volume yet for persistentvolumeclaim datasets or kinetic-a1-x7k2p-disk", all},
		"no volume fits":                  {waitsForClaims(noneFit, "datasets"), about("WaitForFirstConsumer", "waiting for first consumer to be created before binding"), "no volume yet for persistentvolumeclaim datasets", all},
		"there is no class":               {waitsForClaims(unbound, "datasets"), about("FailedBinding", "no persistent volumes available for this claim and no storage class is set"), "persistentvolumeclaim datasets gets no volume: no persistent volumes available for this claim and no storage class is set", one},
		"it can't be made":                {waitsForClaims(unbound, "other", "datasets"), about("ProvisioningFailed", `failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = quota SSD_TOTAL_GB exceeded`), `no volume can be made for persistentvolumeclaim datasets: failed to provision volume with StorageClass "fast": quota SSD_TOTAL_GB exceeded`, one},
		"it is being made":                {waitsForClaims(unbound, "datasets"), about("ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner 'pd.csi.storage.gke.io' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."), "the volume of persistentvolumeclaim datasets is being made by pd.csi.storage.gke.io", one},
		"it is being made for the node":   {waitsForClaims("", "datasets"), about("Provisioning", "External provisioner is provisioning volume for claim \"ml/datasets\""), "the volume of persistentvolumeclaim datasets is being made", one},
		"it was made":                     {waitsForClaims("", "datasets"), about("ProvisioningSucceeded", "Successfully provisioned volume pvc-1"), "", ""},
		"it waits for the node":           {waitsForClaims("", "datasets"), about("WaitForFirstConsumer", "waiting for first consumer to be created before binding"), "", ""},
		"a quota forbids the pod's own":   {waitsForClaims(`0/3 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "kinetic-a1-x7k2p-disk".`, "disk"), []said{{"Pod", "kinetic-a1-x7k2p", "FailedBinding", `ephemeral volume disk: persistentvolumeclaims "kinetic-a1-x7k2p-disk" is forbidden: exceeded quota: team`}}, `volume disk can't be made: persistentvolumeclaims "kinetic-a1-x7k2p-disk" is forbidden: exceeded quota: team`, pod},
		"the pod's own can't be made":     {waitsForClaims(unbound, "disk"), []said{{claimKind, "kinetic-a1-x7k2p-disk", "ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`}}, `no volume can be made for persistentvolumeclaim kinetic-a1-x7k2p-disk: storageclass.storage.k8s.io "fast" not found`, "kubectl describe persistentvolumeclaim kinetic-a1-x7k2p-disk -n ml"},
		"the nodes are too small":         {waitsForClaims("0/3 nodes are available: 3 Insufficient cpu.", "datasets"), about("WaitForFirstConsumer", "waiting for first consumer to be created before binding"), "no node has room: 3 of 3 with too little cpu free", pod},
		"the volume is in another zone":   {waitsForClaims("0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity.", "datasets"), nil, "no node fits: 3 of 3 that can't reach the job's volume", pod},
		"a claim of others can't be made": {waitsForClaims(unbound, "datasets"), []said{{claimKind, "theirs", "ProvisioningFailed", "no"}}, "no volume yet for persistentvolumeclaim datasets", all},
	} {
		t.Run(name, func(t *testing.T) {
			s := Observation{Workload: workloadOf(&batchv1.Job{}), Pods: []corev1.Pod{tt.pod}, Now: time.Unix(60, 0)}
			for _, e := range tt.events {
				s.Events = append(s.Events, corev1.Event{
					InvolvedObject: corev1.ObjectReference{Kind: e.kind, Name: e.name, Namespace: "ml"},
					Reason:         e.reason, Message: e.message, LastTimestamp: metav1.Unix(50, 0),
				})
			}
			got := s.Explain()
			if got.Sentence != tt.sentence || got.Next != tt.next {
				t.Errorf("got\n%s\n$ %s\nwant\n%s\n$ %s", got.Sentence, got.Next, tt.sentence, tt.next)
			}
		})
	}
}

// While a pod without a node mounts claims, events about them matter, too.
func TestEventsAboutClaims(t *testing.T) {
	job := workloadOf(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1"}})
	placed := waitsForClaims("", "datasets")
	placed.Spec.NodeName = "cpu-0"
	for name, tt := range map[string]struct {
		pod  corev1.Pod
		want string
	}{
		"without claims":      {waitsForClaims(""), "kinetic-a1-x7k2p"},
		"with a claim":        {waitsForClaims("", "datasets"), ""},
		"with a claim, ahead": {placed, "kinetic-a1-x7k2p"},
	} {
		if got := (Observation{Workload: job, Pods: []corev1.Pod{tt.pod}}).EventsAbout(); got != tt.want {
			t.Errorf("%s: events about %q, want %q", name, got, tt.want)
		}
	}
}

func TestVolumesThatAreInUse(t *testing.T) {
	for message, want := range map[string]string{
		`Multi-Attach error for volume "pvc-5f0e" Volume is already used by pod(s) theirs`:                                             "volume pvc-5f0e can't be mounted: Volume is already used by pod(s) theirs",
		`Multi-Attach error for volume "pvc-5f0e" Volume is already exclusively attached to one node and can't be attached to another`: "volume pvc-5f0e can't be mounted: Volume is already exclusively attached to one node and can't be attached to another",
		`MountVolume.SetUp failed for volume "pvc-5f0e" : mount failed: exit status 32`:                                                "volume pvc-5f0e can't be mounted: mount failed: exit status 32",
	} {
		p := waitsForClaims("", "datasets")
		got := Observation{}.explainVolume(p, &corev1.Event{Message: message})
		if got.Sentence != want {
			t.Errorf("%s: %q, want %q", message, got.Sentence, want)
		}
	}
}

func TestClaims(t *testing.T) {
	p := waitsForClaims("", "datasets", "disk")
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "code"})
	if got, want := Claims(p), []string{"datasets", "kinetic-a1-x7k2p-disk"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
