package volume

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/nearest"
)

const classPath = "/apis/storage.k8s.io/v1/storageclasses"

// checkClass looks up the StorageClass of a job's disk.
func (c Cluster) checkClass(ctx context.Context, s api.Spec) finding {
	var class metav1.PartialObjectMetadata
	err := c.read(ctx, &class, classPath, s.DiskClass)
	switch {
	case apierrors.IsNotFound(err):
		advice := cmp.Or(nearest.Sentence(s.DiskClass, names(c.list(ctx, classPath))), "kubectl get storageclasses lists them")
		return finding{err: missingf("--disk %s,%s: the cluster has no StorageClass %[2]s: %s", s.Disk, s.DiskClass, advice)}
	case apierrors.IsForbidden(err):
		return finding{note: fmt.Sprintf("whether the cluster has the StorageClass %s is only known when the job starts: you may not read StorageClasses", s.DiskClass)}
	}
	return finding{} // other failures are left to the next request
}

// checkDefaultClass makes sure that the cluster has a StorageClass for those who name none.
func (c Cluster) checkDefaultClass(ctx context.Context, s api.Spec) finding {
	var all metav1.PartialObjectMetadataList
	if err := c.read(ctx, &all, classPath); err != nil || slices.ContainsFunc(all.Items, isDefault) {
		return finding{} // without permission, it is only known when the job starts
	}
	return finding{err: missingf("the disk of %s has to be a volume, and the cluster has no default StorageClass: name one with --disk %[1]s,CLASS; kubectl get storageclasses lists them", s.Disk)}
}

func isDefault(class metav1.PartialObjectMetadata) bool {
	return class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
}
