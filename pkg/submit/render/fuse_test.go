package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestFuseVolume(t *testing.T) {
	for name, tt := range map[string]struct {
		data api.Data
		want string
	}{
		"read": {api.Data{Bucket: "acme", Folder: "images/train"}, `
csi:
  driver: gcsfuse.csi.storage.gke.io
  readOnly: true
  volumeAttributes:
    bucketName: acme
    mountOptions: implicit-dirs,only-dir=images/train,metadata-cache:ttl-secs:-1
`},
		"a whole bucket, with a cache": {api.Data{Bucket: "acme", Cache: "20Gi"}, `
csi:
  driver: gcsfuse.csi.storage.gke.io
  readOnly: true
  volumeAttributes:
    bucketName: acme
    fileCacheCapacity: 20Gi
    mountOptions: implicit-dirs,metadata-cache:ttl-secs:-1,file-cache:enable-parallel-downloads:true
`},
		"write": {api.Data{Bucket: "acme", Folder: "out", Writable: true}, `
csi:
  driver: gcsfuse.csi.storage.gke.io
  readOnly: false
  volumeAttributes:
    bucketName: acme
    mountOptions: implicit-dirs,only-dir=out,metadata-cache:ttl-secs:0,rename-dir-limit=200000,file-mode=666,dir-mode=777
`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(fuseVolume(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
