package render

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Keeps reports whether files that the workload writes to dir outlive its pods: each pod
// mounts a volume there that is not its own.
func (r Rendered) Keeps(workload, dir string) bool {
	object, err := workloadOf(r, workload)
	if err != nil {
		return false
	}
	pods, err := podsOf(object)
	for _, pod := range pods {
		if !keeps(pod.Spec, path.Clean(dir)) {
			return false
		}
	}
	return err == nil
}

func keeps(spec corev1.PodSpec, dir string) bool {
	runs := worker(spec)
	if runs == nil {
		return true // a TPU host of the Pathways runtime, where no call runs
	}
	innermost, name := "", ""
	for _, m := range runs.VolumeMounts {
		at := path.Clean(m.MountPath)
		if inside := dir == at || strings.HasPrefix(dir, at+"/"); inside && len(at) > len(innermost) {
			innermost, name = at, m.Name
		}
	}
	mounted := volume(spec, name)
	return mounted != nil && outlives(*mounted)
}

// outlives reports whether a volume can be written to and outlives its pod.
func outlives(v corev1.Volume) bool {
	return v.EmptyDir == nil && v.Ephemeral == nil && v.ConfigMap == nil && v.Secret == nil && v.DownwardAPI == nil && v.Projected == nil
}
