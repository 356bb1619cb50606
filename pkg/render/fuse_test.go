package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestFuseVolume(t *testing.T) {
	for name, c := range map[string]struct {
		fuse fuse
		want string
	}{
		"read": {fuse{bucket: "acme", dir: "images/train"}, `
volume:
  csi:
    driver: gcsfuse.csi.storage.gke.io
    readOnly: true
    volumeAttributes:
      bucketName: acme
      mountOptions: implicit-dirs,only-dir=images/train,metadata-cache:ttl-secs:-1
  name: data-0
mount:
  mountPath: /mnt/images
  name: data-0
  readOnly: true
`},
		"a whole bucket, with a cache, on a new cluster": {fuse{bucket: "acme", cache: "20Gi", checked: true, anyUser: true}, `
volume:
  csi:
    driver: gcsfuse.csi.storage.gke.io
    readOnly: true
    volumeAttributes:
      bucketName: acme
      fileCacheCapacity: 20Gi
      mountOptions: implicit-dirs,metadata-cache:ttl-secs:-1,file-cache:enable-parallel-downloads:true
      skipCSIBucketAccessCheck: "true"
  name: data-0
mount:
  mountPath: /mnt/images
  name: data-0
  readOnly: true
`},
		"write": {fuse{bucket: "acme", dir: "out", writable: true}, `
volume:
  csi:
    driver: gcsfuse.csi.storage.gke.io
    readOnly: false
    volumeAttributes:
      bucketName: acme
      mountOptions: implicit-dirs,only-dir=out,metadata-cache:ttl-secs:0,rename-dir-limit=200000
  name: data-0
mount:
  mountPath: /mnt/images
  name: data-0
`},
		"write as the pod's user": {fuse{bucket: "acme", writable: true, uid: 65532, gid: 65532, anyUser: true}, `
volume:
  csi:
    driver: gcsfuse.csi.storage.gke.io
    readOnly: false
    volumeAttributes:
      bucketName: acme
      mountOptions: implicit-dirs,metadata-cache:ttl-secs:0,rename-dir-limit=200000,uid=65532,gid=65532
  name: data-0
mount:
  mountPath: /mnt/images
  name: data-0
`},
		"write as the image's user": {fuse{bucket: "acme", writable: true, anyUser: true}, `
volume:
  csi:
    driver: gcsfuse.csi.storage.gke.io
    readOnly: false
    volumeAttributes:
      bucketName: acme
      mountOptions: implicit-dirs,metadata-cache:ttl-secs:0,rename-dir-limit=200000,file-mode=666,dir-mode=777
  name: data-0
mount:
  mountPath: /mnt/images
  name: data-0
`},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, part := range []struct {
				key   string
				value any
			}{{"volume", c.fuse.volume("data-0")}, {"mount", c.fuse.mount("data-0", "/mnt/images")}} {
				text, err := yaml.Marshal(map[string]any{part.key: part.value})
				if err != nil {
					t.Fatal(err)
				}
				got.Write(text)
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseFuse(t *testing.T) {
	for _, c := range []struct {
		url, bucket, dir string
	}{
		{"gs://acme", "acme", ""},
		{"gs://acme/", "acme", ""},
		{"gs://acme/images", "acme", "images"},
		{"gs://acme/images/train set/", "acme", "images/train set"},
		{"gs://acme/a=b:c", "acme", "a=b:c"},
	} {
		f, file, err := parseFuse(c.url, false)
		if want := (fuse{bucket: c.bucket, dir: c.dir}); f != want || file != "" || err != nil {
			t.Errorf("%s: got %+v, %q and %v, want %+v", c.url, f, file, err, want)
		}
	}
}

// Only directories can be mounted.
func TestParseFuseOfAnObject(t *testing.T) {
	for url, want := range map[string]struct{ dir, file string }{
		"gs://acme/weights.h5":         {"", "weights.h5"},
		"gs://acme/models/weights.h5":  {"models", "weights.h5"},
		"gs://acme/models/weights,.h5": {"models", "weights,.h5"},
	} {
		f, file, err := parseFuse(url, true)
		if f.bucket != "acme" || f.dir != want.dir || file != want.file || err != nil {
			t.Errorf("%s: got %+v, %q and %v, want %+v", url, f, file, err, want)
		}
	}
}

func TestParseFuseRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"gs://acme/a,b":      "comma",
		"gs://acme/a,b/c":    "comma",
		"gs://acme/a//b":     "empty part",
		"gs://acme//a":       "empty part",
		"gs://acme/a//":      "empty part",
		"gs://acme/a/../b":   "..",
		"gs://acme/./images": "..",
	} {
		_, _, err := parseFuse(url, false)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: got %v, want an error with %q", url, err, want)
		}
	}
}
