package render

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// fuseVolume returns a volume that mounts a bucket, or a folder in it, with Cloud Storage
// FUSE.
func fuseVolume(d api.Data) corev1.VolumeSource {
	attributes := map[string]string{"bucketName": d.Bucket, "mountOptions": strings.Join(fuseOptions(d), ",")}
	if d.Cache != "" {
		attributes["fileCacheCapacity"] = d.Cache
	}
	return corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: diagnose.Driver, ReadOnly: new(!d.Writable), VolumeAttributes: attributes}}
}

// fuseOptions returns the mount options. Folders are often only part of objects' names. What
// is read does not change meanwhile; what is written must be seen by other hosts, and the
// files belong to root, whoever the image's user is.
func fuseOptions(d api.Data) []string {
	options := []string{"implicit-dirs"}
	if d.Folder != "" {
		options = append(options, "only-dir="+d.Folder)
	}
	switch {
	case d.Writable:
		return append(options, "metadata-cache:ttl-secs:0", "rename-dir-limit=200000", "file-mode=666", "dir-mode=777")
	case d.Cache != "":
		return append(options, "metadata-cache:ttl-secs:-1", "file-cache:enable-parallel-downloads:true")
	default:
		return append(options, "metadata-cache:ttl-secs:-1")
	}
}

// mountsBuckets reports whether a job has volumes of Cloud Storage FUSE.
func mountsBuckets(s api.Spec) bool {
	return s.OutputMount || slices.ContainsFunc(s.Data, func(d api.Data) bool { return d.Access == api.AccessFUSE })
}
