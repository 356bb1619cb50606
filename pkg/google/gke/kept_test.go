package gke_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

func TestKept(t *testing.T) {
	const update = "change them with: gcloud container node-pools update tpus --cluster=main --location=us-central1-a --project=acme "
	is := func(placed bool) *container.NodePool {
		p := &container.NodePool{Name: "tpus", Locations: []string{"us-central1-b", "us-central1-a"}, Config: &container.NodeConfig{Labels: map[string]string{"team": "vision", "a": "b"}}}
		if placed {
			p.PlacementPolicy = &container.PlacementPolicy{Type: "COMPACT"}
		}
		return p
	}
	for name, tt := range map[string]struct {
		placed  bool
		options gke.Options
		want    []string
	}{
		"nothing is asked for": {false, gke.Options{}, nil},
		"it has all of it":     {false, gke.Options{Zones: []string{"us-central1-a", "us-central1-b"}, Labels: map[string]string{"team": "vision"}}, nil},
		"other zones": {false, gke.Options{Zones: []string{"us-central1-c"}},
			[]string{"node pool tpus stays in us-central1-a,us-central1-b instead of the requested us-central1-c; " + update + "--node-locations=us-central1-c"}},
		"another zone of a slice": {true, gke.Options{Zones: []string{"us-central1-c"}},
			[]string{"node pool tpus stays in us-central1-a,us-central1-b instead of the requested us-central1-c; choose another --name, or remove that pool with: kubectl kinetic pool remove tpus --project acme --zone us-central1-a --cluster main"}},
		"other labels": {false, gke.Options{Labels: map[string]string{"team": "audio", "x": "y"}},
			[]string{"node pool tpus doesn't get the requested labels team=audio,x=y; " + update + "--node-labels=a=b,team=audio,x=y"}},
	} {
		if diff := cmp.Diff(tt.want, gke.Kept(theCluster, is(tt.placed), tt.options)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
