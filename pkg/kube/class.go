package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

const classPath = "/apis/storage.k8s.io/v1/storageclasses"

// class is the part of a StorageClass that is read.
type class struct {
	metav1.ObjectMeta `json:"metadata"`
	Provisioner       string            `json:"provisioner"`
	Parameters        map[string]string `json:"parameters"`
}

// The drivers of Google Cloud's disks: that of GKE, and the old name that Kubernetes passes on to it.
const (
	diskDriver    = "pd.csi.storage.gke.io"
	oldDiskDriver = "kubernetes.io/gce-pd"
)

// diskType returns the type of the disks that a class makes, such as pd-balanced; "" if they are no disks of
// Google Cloud, or if the driver chooses a type for each machine.
func (c class) diskType() string {
	if c.Provisioner != diskDriver && c.Provisioner != oldDiskDriver {
		return ""
	}
	disk := "pd-standard" // the driver's own default
	for name, value := range c.Parameters {
		if strings.EqualFold(name, "type") {
			disk = value
		}
	}
	if !strings.HasPrefix(disk, "pd-") && !strings.HasPrefix(disk, "hyperdisk-") {
		return ""
	}
	return disk
}

// unattachable returns the type of a class's disks if the machines of a job can't attach them, else "". The
// API server and the scheduler accept such a volume: the node would be there, and be paid, without it.
func (c class) unattachable(s api.Spec) string {
	takes, disk := accelerator.Disks(s.Accelerator.MachineType), c.diskType()
	if len(takes) == 0 || disk == "" || slices.Contains(takes, disk) {
		return ""
	}
	return disk
}

func (c volumeChecker) checkClass(ctx context.Context, s api.Spec) finding {
	var found class
	err := c.Get(ctx, &found, classPath, s.DiskClass)
	switch {
	case apierrors.IsNotFound(err):
		advice := cmp.Or(human.DidYouMean(s.DiskClass, c.names(ctx, classPath)), "kubectl get storageclasses lists them")
		return finding{err: missingf("--disk %s,%s: the cluster has no StorageClass %[2]s: %s", s.Disk, s.DiskClass, advice)}
	case apierrors.IsForbidden(err):
		return finding{note: fmt.Sprintf("can't check that the cluster has the StorageClass %s before the job starts: no permission to read StorageClasses", s.DiskClass)}
	case err != nil:
		return finding{} // left to the next request
	}
	if disk := found.unattachable(s); disk != "" {
		return finding{err: missingf("--disk %s,%s: StorageClass %[2]s provisions %s disks, which machines of type %s can't attach; they take %s: %s", s.Disk, s.DiskClass,
			disk, s.Accelerator.MachineType, attachable(s), c.otherClasses(ctx, s))}
	}
	return finding{}
}

func attachable(s api.Spec) string {
	takes := accelerator.Disks(s.Accelerator.MachineType)
	last := len(takes) - 1
	if last == 0 {
		return takes[0]
	}
	return strings.Join(takes[:last], ", ") + " or " + takes[last]
}

// otherClasses names the classes of the cluster whose disks the machines of a job take.
func (c volumeChecker) otherClasses(ctx context.Context, s api.Spec) string {
	var all struct {
		Items []class `json:"items"`
	}
	var fit []string
	if err := c.Get(ctx, &all, classPath); err == nil {
		for _, other := range all.Items {
			if other.diskType() != "" && other.unattachable(s) == "" {
				fit = append(fit, other.Name)
			}
		}
	}
	if len(fit) == 0 {
		return fmt.Sprintf("create a StorageClass for one of these, or omit the class for the node's own disk (--disk %s)", s.Disk)
	}
	return "name a StorageClass such as " + strings.Join(fit, " or ")
}

// checkDefaultClass makes sure that the cluster has a StorageClass for those who name none.
func (c volumeChecker) checkDefaultClass(ctx context.Context, s api.Spec) finding {
	var all metav1.PartialObjectMetadataList
	if err := c.Get(ctx, &all, classPath); err != nil || slices.ContainsFunc(all.Items, isDefault) {
		return finding{} // without permission, it is only known when the job starts
	}
	return finding{err: missingf("the disk of %s has to be a volume, and the cluster has no default StorageClass: name one with --disk %[1]s,CLASS; kubectl get storageclasses lists them", s.Disk)}
}

func isDefault(class metav1.PartialObjectMetadata) bool {
	return class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
}
