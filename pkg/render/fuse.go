package render

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/gcsfuse"
)

// fuse is a bucket, or a directory in it, that the pods mount with Cloud Storage FUSE.
type fuse struct {
	bucket   string
	dir      string // without slashes at its ends; "" for the whole bucket
	writable bool
	// cache is how much of the files a pod keeps on its disk, such as 20Gi; "" for none.
	cache string
	// uid and gid are those of the pods, 0 if they don't say. anyUser means that the
	// image has a user of its own, who may not be root.
	uid, gid int64
	anyUser  bool
	// checked means that the sidecar tries again if it has no access to the bucket yet,
	// as of GKE 1.34.1-gke.3899001, so that the driver need not.
	checked bool
}

// parseFuse returns what to mount for a gs:// URL. An object can't be mounted, only the
// directory around it: file is then its name in there.
func parseFuse(url string, isObject bool) (f fuse, file string, err error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(url, "gs://"), "/")
	if isObject {
		key, file = path.Split(key)
	}
	key = strings.TrimSuffix(key, "/")
	switch {
	case strings.Contains(key, ","):
		return fuse{}, "", fmt.Errorf("%s can't be mounted by FUSE: a comma in its path would end the mount option; leave out fuse to have a copy", url)
	case key != "" && path.Join("/", key) != "/"+key:
		return fuse{}, "", fmt.Errorf("%s can't be mounted by FUSE: its path has an empty part, . or ..; leave out fuse to have a copy", url)
	}
	return fuse{bucket: bucket, dir: key}, file, nil
}

// volume returns the pod's volume.
func (f fuse) volume(name string) corev1.Volume {
	attributes := map[string]string{"bucketName": f.bucket, "mountOptions": strings.Join(f.options(), ",")}
	if f.cache != "" {
		attributes["fileCacheCapacity"] = f.cache
	}
	if f.checked {
		attributes["skipCSIBucketAccessCheck"] = "true"
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
		Driver: gcsfuse.Driver, ReadOnly: new(!f.writable), VolumeAttributes: attributes,
	}}}
}

// mount returns where the worker finds the volume.
func (f fuse) mount(name, at string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: name, MountPath: at, ReadOnly: !f.writable}
}

// options returns the mount options. Folders are often only part of objects' names. What
// is read does not change meanwhile; what is written must be seen by other hosts.
func (f fuse) options() []string {
	options := []string{"implicit-dirs"}
	if f.dir != "" {
		options = append(options, "only-dir="+f.dir)
	}
	if !f.writable {
		options = append(options, "metadata-cache:ttl-secs:-1")
		if f.cache != "" {
			options = append(options, "file-cache:enable-parallel-downloads:true")
		}
		return options
	}
	options = append(options, "metadata-cache:ttl-secs:0", "rename-dir-limit=200000")
	switch { // files are root's otherwise, and others may only read them
	case f.uid != 0:
		options = append(options, fmt.Sprintf("uid=%d", f.uid), fmt.Sprintf("gid=%d", f.gid))
	case f.anyUser:
		options = append(options, "file-mode=666", "dir-mode=777")
	}
	return options
}
