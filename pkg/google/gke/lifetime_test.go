package gke

import (
	"testing"

	"google.golang.org/api/container/v1"
)

func TestLifetimes(t *testing.T) {
	pool := func(name, longest string, flexStart bool) *container.NodePool {
		return &container.NodePool{Name: name, Config: &container.NodeConfig{MaxRunDuration: longest, FlexStart: flexStart}}
	}
	for name, tt := range map[string]struct {
		pools []*container.NodePool
		want  string
	}{
		"pools of keras-kinetic": {[]*container.NodePool{pool("stays", "", false), pool("v6e", "86400s", false), pool("l4", "604800s", false), pool("waits", "604800s", true)},
			"GKE deletes the nodes of v6e 24h after their start and the nodes of l4 7d after their start, with the jobs on them; make node pools without that limit with: " +
				"kubectl kinetic pool add ACCELERATOR --project acme --zone us-east5-a --cluster c; then remove these with: kubectl kinetic pool remove v6e l4 --project acme --zone us-east5-a --cluster c"},
		"flex-start alone": {[]*container.NodePool{pool("waits", "604800s", true)}, ""},
		"no limit":         {[]*container.NodePool{pool("stays", "", false), pool("zero", "0s", false), {Name: "bare"}}, ""},
		"no pools":         {nil, ""},
	} {
		c := Cluster{Project: "acme", Location: "us-east5-a", Name: "c"}
		if got := c.Lifetimes(&container.Cluster{NodePools: tt.pools}); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
