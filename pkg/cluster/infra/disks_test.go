package infra

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDiskOfAVolume(t *testing.T) {
	volume := func(driver, maker, handle string) corev1.PersistentVolume {
		v := corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1", Annotations: map[string]string{provisionedBy: maker}}}
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}
		v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("500Gi")}
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ml", Name: "x-scratch"}
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
		return v
	}
	const handle = "projects/acme/zones/us-central1-a/disks/pvc-1"
	kept, bare := volume(diskDriver, diskDriver, handle), volume(diskDriver, diskDriver, handle)
	kept.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	bare.Spec.CSI = nil
	zonal := Disk{Name: "pvc-1", Project: "acme", Location: "us-central1-a", Size: "500Gi", Claim: "ml/x-scratch"}
	regional, retained, domain := zonal, zonal, zonal
	domain.Project = "example.com:acme"
	regional.Location, regional.Regional = "us-central1", true
	retained.Kept = true
	for name, tt := range map[string]struct {
		volume corev1.PersistentVolume
		want   Disk
	}{
		"a disk of a zone":                   {volume(diskDriver, diskDriver, handle), zonal},
		"a disk of a region":                 {volume(diskDriver, diskDriver, "projects/acme/regions/us-central1/disks/pvc-1"), regional},
		"of the project":                     {volume(diskDriver, diskDriver, "projects/UNSPECIFIED/zones/us-central1-a/disks/pvc-1"), zonal},
		"one that someone wants":             {kept, retained},
		"one that was there before":          {volume(diskDriver, "", handle), Disk{}},
		"a share of Filestore":               {volume("filestore.csi.storage.gke.io", "filestore.csi.storage.gke.io", "modeInstance/us-central1-a/pvc-1/vol1"), Disk{}},
		"a directory of a node":              {bare, Disk{}},
		"a handle of an unknown form":        {volume(diskDriver, diskDriver, "pvc-1"), Disk{}},
		"a disk that a shell would run":      {volume(diskDriver, diskDriver, handle+";reboot"), Disk{}},
		"a disk that gcloud takes as a flag": {volume(diskDriver, diskDriver, "projects/acme/zones/us-central1-a/disks/--quiet"), Disk{}},
		"a location that a shell would run":  {volume(diskDriver, diskDriver, "projects/acme/zones/$(reboot)/disks/pvc-1"), Disk{}},
		"a project that a shell would run":   {volume(diskDriver, diskDriver, "projects/a b`reboot`/zones/us-central1-a/disks/pvc-1"), Disk{}},
		"a project of a domain":              {volume(diskDriver, diskDriver, "projects/example.com:acme/zones/us-central1-a/disks/pvc-1"), domain},
	} {
		got, ok := (&Cluster{Project: "acme"}).diskOf(&tt.volume)
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != Disk{}) {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
}
