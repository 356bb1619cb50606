package gke

import (
	"testing"

	"google.golang.org/api/container/v1"
)

func TestMetadata(t *testing.T) {
	for name, tt := range map[string]struct {
		pool *container.NodePool
		want string
	}{
		"pods as themselves": {&container.NodePool{Config: &container.NodeConfig{WorkloadMetadataConfig: &container.WorkloadMetadataConfig{Mode: "GKE_METADATA"}}}, PodMetadata},
		"pods as the node":   {&container.NodePool{Config: &container.NodeConfig{WorkloadMetadataConfig: &container.WorkloadMetadataConfig{Mode: "GCE_METADATA"}}}, "GCE_METADATA"},
		"no mode":            {&container.NodePool{Config: &container.NodeConfig{WorkloadMetadataConfig: &container.WorkloadMetadataConfig{}}}, "GCE_METADATA"},
		"an old pool":        {&container.NodePool{Config: &container.NodeConfig{}}, "GCE_METADATA"},
		"nothing":            {&container.NodePool{}, "GCE_METADATA"},
	} {
		if got := Metadata(tt.pool); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
