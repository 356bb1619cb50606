package gcsfuse

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/apimachinery/pkg/api/resource"
)

// options are the mount options of a volume.
type options struct {
	list     []string // gcsfuse's
	readOnly bool
}

// attributes are the attributes of a volume that stand for an option of gcsfuse.
var attributes = map[string]struct {
	option string
	isSize bool
}{
	"fileCacheCapacity":         {"file-cache:max-size-mb:", true},
	"fileCacheForRangeRead":     {"file-cache:cache-file-for-range-read:", false},
	"gcsfuseLoggingSeverity":    {"logging:severity:", false},
	"metadataCacheTTLSeconds":   {"metadata-cache:ttl-secs:", false},
	"metadataStatCacheCapacity": {"metadata-cache:stat-cache-max-size-mb:", true},
	"metadataTypeCacheCapacity": {"metadata-cache:type-cache-max-size-mb:", true},
}

// parse returns a volume's bucket and options.
func parse(r *csi.NodePublishVolumeRequest) (bucket string, o options, err error) {
	given, mount := r.GetVolumeContext(), r.GetVolumeCapability().GetMount()
	bucket, _, _ = strings.Cut(r.GetVolumeId(), ":") // of a PersistentVolume
	if given["csi.storage.k8s.io/ephemeral"] == "true" {
		bucket = given["bucketName"]
	}
	if bucket == "" {
		return "", o, errors.New(`NodePublishVolume VolumeContext "bucketName" must be provided for ephemeral storage`)
	}
	var all []string
	if group := mount.GetVolumeMountGroup(); group != "" {
		all = append(all, "gid="+group, "file-mode=664", "dir-mode=775")
	}
	all = slices.Concat(all, mount.GetMountFlags(), strings.Split(given["mountOptions"], ","))
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value, ok := given[name]
		if !ok {
			continue
		}
		if attributes[name].isSize {
			if value, err = megabytes(value); err != nil {
				return "", o, fmt.Errorf("volume attribute %s only accepts a valid Quantity value, got %q, error: %w", name, given[name], err)
			}
		}
		all = append(all, attributes[name].option+value)
	}
	o.readOnly = r.GetReadonly() || slices.Contains(all, "ro")
	o.list = slices.DeleteFunc(all, func(s string) bool { return s == "" || s == "ro" || s == "rw" })
	return bucket, o, nil
}

// megabytes converts a quantity. If it is negative, there is no limit.
func megabytes(text string) (string, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return "", err
	}
	switch {
	case q.Value() < 0:
		return "-1", nil
	case q.Format == resource.BinarySI:
		return strconv.FormatInt(q.Value()>>20, 10), nil
	}
	return strconv.FormatInt(q.Value()/1e6, 10), nil
}
