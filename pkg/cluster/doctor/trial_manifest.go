package doctor

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// keptFor is how many seconds the Job is kept after its end, if it can't be removed.
const keptFor = 300

// job returns the manifest. Who runs jobs may create Jobs, but not pods. It keeps the rules of the pod security
// level restricted.
func (t *trial) job() *batchv1.Job {
	bucket, name := t.object()
	var env []corev1.EnvVar
	for _, key := range slices.Sorted(maps.Keys(t.Env)) {
		env = append(env, corev1.EnvVar{Name: key, Value: t.Env[key]})
	}
	labels := map[string]string{"app.kubernetes.io/managed-by": "kubectl-kinetic", "app.kubernetes.io/component": "doctor"}
	pod := corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		ServiceAccountName:           t.ServiceAccount,
		AutomountServiceAccountToken: new(false),
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{
			Name: api.ContainerName, Image: t.Image, Command: []string{"python3", "-c", program, bucket, name}, Env: env,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")}},
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		}},
	}
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: t.name, Labels: labels},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)), TTLSecondsAfterFinished: new(int32(keptFor)), ActiveDeadlineSeconds: new(int64((TrialWithin + removeWithin).Seconds())),
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
	}
}
