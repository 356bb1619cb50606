package infra

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Disk is a Persistent Disk or a Hyperdisk that was made for a claim.
type Disk struct {
	Name, Project string
	// Location is a zone, or a region if the disk is in two of its zones.
	Location string
	// Regional says that the location is a region.
	Regional bool
	// Size is as Kubernetes writes it: 500Gi.
	Size string
	// Claim is the claim that has the disk: NAMESPACE/NAME.
	Claim string
	// Kept says that the disk stays when its claim is deleted, because someone wants that.
	Kept bool
}

const (
	// diskDriver is GKE's driver for Persistent Disks and Hyperdisks.
	diskDriver = "pd.csi.storage.gke.io"
	// provisionedBy is the annotation with the driver that has made a volume. One that refers to a disk that was
	// there before has none.
	provisionedBy = "pv.kubernetes.io/provisioned-by"
)

// handle is the name of a disk in its driver: projects/acme/zones/us-central1-a/disks/pvc-1. Who may make volumes
// chooses it, and its parts end in a command for a shell: they have only characters that names in Google Cloud can have.
const handle = `^projects/([a-z][a-z0-9:.-]*|UNSPECIFIED)/(zones|regions)/([a-z][a-z0-9-]*)/disks/([a-z][a-z0-9-]*)$`

// Disks lists the disks that were made for claims of the cluster. It asks once, and waits for nothing.
func (c *Cluster) Disks(ctx context.Context) ([]Disk, error) {
	client, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	var found corev1.PersistentVolumeList
	if err := client.Get(ctx, &found, nil, "/api/v1/persistentvolumes"); err != nil {
		return nil, c.explain(ctx, "list", named("v1", "PersistentVolume", "", ""), err)
	}
	var disks []Disk
	for _, v := range found.Items {
		if d, ok := c.diskOf(&v); ok {
			disks = append(disks, d)
		}
	}
	return disks, nil
}

// diskOf returns the disk of a volume, if the driver has made it.
func (c *Cluster) diskOf(v *corev1.PersistentVolume) (Disk, bool) {
	csi := v.Spec.CSI
	if csi == nil || csi.Driver != diskDriver || v.Annotations[provisionedBy] != diskDriver {
		return Disk{}, false
	}
	parts := lazyregexp.Of(handle).FindStringSubmatch(csi.VolumeHandle)
	if parts == nil {
		return Disk{}, false
	}
	d := Disk{Project: parts[1], Regional: parts[2] == "regions", Location: parts[3], Name: parts[4],
		Kept: v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain}
	if d.Project == "UNSPECIFIED" { // of volumes that are older than the driver
		d.Project = c.Project
	}
	if size, ok := v.Spec.Capacity[corev1.ResourceStorage]; ok {
		d.Size = size.String()
	}
	if claim := v.Spec.ClaimRef; claim != nil {
		d.Claim = claim.Namespace + "/" + claim.Name
	}
	return d, true
}
