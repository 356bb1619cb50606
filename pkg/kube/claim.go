package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// claimNames returns the names of the claims among the inputs of a job, each once.
func claimNames(inputs []api.Data) []string {
	var found []string
	for _, d := range inputs {
		if d.Access == api.AccessClaim && !slices.Contains(found, d.Claim) {
			found = append(found, d.Claim)
		}
	}
	return found
}

func (c volumeChecker) checkClaim(ctx context.Context, name string, s api.Spec) finding {
	path := []string{"/api/v1/namespaces", c.Namespace, "persistentvolumeclaims"}
	var claim corev1.PersistentVolumeClaim
	err := c.Get(ctx, &claim, append(slices.Clip(path), name)...)
	var mounts []api.Data
	for _, d := range s.Data {
		if d.Access == api.AccessClaim && d.Claim == name {
			mounts = append(mounts, d)
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		advice := cmp.Or(human.DidYouMean(name, c.names(ctx, path...)), "kubectl get pvc -n "+c.Namespace+" lists them")
		return finding{err: missingf("%s: there is no PersistentVolumeClaim %s in namespace %s: %s", mounts[0].Flag(), name, c.Namespace, advice)}
	case apierrors.IsForbidden(err):
		return finding{note: fmt.Sprintf("can't check that namespace %s has the PersistentVolumeClaim %s before the job starts: no permission to read PersistentVolumeClaims", c.Namespace, name)}
	case err != nil: // left to the next request
		return finding{}
	}
	for _, d := range mounts {
		if err := refusal(claim, d, s); err != nil {
			return finding{err: fmt.Errorf("%s: PersistentVolumeClaim %s %w", d.Flag(), name, err)}
		}
	}
	if err := c.checkDisk(ctx, claim, s); err != nil {
		return finding{err: fmt.Errorf("%s: PersistentVolumeClaim %s %w", mounts[0].Flag(), name, err)}
	}
	return finding{note: doubt(claim, mounts, s)}
}

// checkDisk refuses a claim whose disk the machines of a job can't attach. Only a volume that the driver of
// Google Cloud's disks makes is sure to be what its class says.
func (c volumeChecker) checkDisk(ctx context.Context, claim corev1.PersistentVolumeClaim, s api.Spec) error {
	madeBy := claim.Annotations["volume.kubernetes.io/storage-provisioner"]
	if madeBy != diskDriver && madeBy != oldDiskDriver || claim.Spec.StorageClassName == nil || len(accelerator.Disks(s.Accelerator.MachineType)) == 0 {
		return nil
	}
	var found class
	if err := c.Get(ctx, &found, classPath, *claim.Spec.StorageClassName); err != nil {
		return nil // what can't be read is only known when the job starts
	}
	disk := found.unattachable(s)
	if disk == "" {
		return nil
	}
	return missingf("is a %s disk of StorageClass %s, which machines of type %s can't attach: they take %s; name another claim",
		disk, found.Name, s.Accelerator.MachineType, attachable(s))
}

// refusal says, after the name of the claim, why it can never be mounted as an input asks.
func refusal(claim corev1.PersistentVolumeClaim, d api.Data, s api.Spec) error {
	only := func(mode corev1.PersistentVolumeAccessMode) bool { return isOnly(claim, mode) }
	switch {
	case claim.DeletionTimestamp != nil:
		return missingf("is being deleted: name another, or create it again")
	case claim.Status.Phase == corev1.ClaimLost:
		return missingf("has lost its volume %s: see kubectl describe pvc %s -n %s", claim.Spec.VolumeName, claim.Name, claim.Namespace)
	case claim.Spec.VolumeMode != nil && *claim.Spec.VolumeMode == corev1.PersistentVolumeBlock:
		return missingf("is a block device without files: name one whose volumeMode is Filesystem")
	case d.Writable && only(corev1.ReadOnlyMany):
		return missingf("is ReadOnlyMany, so nothing can be written to it: omit rw, or name one that is ReadWriteMany")
	case s.Hosts > 1 && only(corev1.ReadWriteOncePod):
		return missingf("is ReadWriteOncePod, so only one of the %d hosts could start: name one that is %s", s.Hosts, shareable(d.Writable))
	}
	return nil
}

// doubt returns a warning if the pods of a job may have to wait for each other, "" if not. Which
// nodes they get, and whether the driver of the volume enforces its mode, is not known.
func doubt(claim corev1.PersistentVolumeClaim, mounts []api.Data, s api.Spec) string {
	who := ""
	switch {
	case s.Hosts > 1:
		who = fmt.Sprintf("the %d hosts of this job", s.Hosts)
	case s.Map != nil && s.Map.Parallelism > 1:
		who = "the pods of this map"
	default:
		return ""
	}
	writes := slices.ContainsFunc(mounts, func(d api.Data) bool { return d.Writable })
	switch {
	case isOnly(claim, corev1.ReadWriteOnce):
		return fmt.Sprintf("PersistentVolumeClaim %s is ReadWriteOnce, for the pods of one node at a time: %s may wait for each other; a claim that is %s is for all nodes",
			claim.Name, who, shareable(writes))
	case isOnly(claim, corev1.ReadWriteOncePod):
		return fmt.Sprintf("PersistentVolumeClaim %s is ReadWriteOncePod, for one pod at a time: %s wait for each other", claim.Name, who)
	}
	return ""
}

// isOnly reports whether a claim has no other access mode. If it is bound, the modes are those of
// its volume.
func isOnly(claim corev1.PersistentVolumeClaim, mode corev1.PersistentVolumeAccessMode) bool {
	modes := claim.Status.AccessModes
	if len(modes) == 0 {
		modes = claim.Spec.AccessModes
	}
	return len(modes) > 0 && !slices.ContainsFunc(modes, func(m corev1.PersistentVolumeAccessMode) bool { return m != mode })
}

// shareable returns the access mode for pods on several nodes.
func shareable(writable bool) corev1.PersistentVolumeAccessMode {
	if writable {
		return corev1.ReadWriteMany
	}
	return corev1.ReadOnlyMany
}
