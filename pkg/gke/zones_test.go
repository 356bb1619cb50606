package gke_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/gke"
)

func TestSettle(t *testing.T) {
	zonal := &container.Cluster{Name: "main", Location: "us-central1-a", Locations: []string{"us-central1-a"}}
	regional := &container.Cluster{Name: "main", Location: "us-central1", Locations: []string{"us-central1-a", "us-central1-b", "us-central1-f"}}
	networks := &container.Cluster{Name: "main", Location: "us-central1", Locations: regional.Locations, NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2}}
	planned := &container.Cluster{Name: "main", Location: "us-central1"}
	for name, tt := range map[string]struct {
		cluster     *container.Cluster
		accelerator string
		options     gke.Options
		have        []string
		want        []string
		initial     int64
		err         string
	}{
		"in its zone":                       {zonal, "l4", gke.Options{Min: 2}, []string{"us-central1-a"}, []string{"us-central1-a"}, 2, ""},
		"in those of a region that have it": {regional, "l4", gke.Options{Min: 3}, []string{"us-central1-b", "us-central1-c", "us-central1-f"}, []string{"us-central1-b", "us-central1-f"}, 2, ""},
		"in those that were asked for":      {regional, "l4", gke.Options{Min: 3, Zones: []string{"us-central1-c"}}, nil, []string{"us-central1-c"}, 3, ""},
		"a slice is in one":                 {regional, "v6e-4x4", gke.Options{Min: 4}, nil, []string{"us-central1-a"}, 4, ""},
		"close machines are in one":         {regional, "l4", gke.Options{Min: 3, Compact: true}, []string{"us-central1-b", "us-central1-f"}, []string{"us-central1-b"}, 3, ""},
		"networks of GPUs are in one":       {networks, "b200", gke.Options{Min: 2, Nodes: gke.Nodes{Networks: true}}, nil, []string{"us-central1-a"}, 2, ""},
		"a rack is in one":                  {regional, "gb300", gke.Options{Min: 2, Reservation: "r"}, nil, []string{"us-central1-a"}, 2, ""},
		"GPUs without networks":             {regional, "b200", gke.Options{Min: 3, Nodes: gke.Nodes{Networks: true}}, nil, regional.Locations, 1, ""},
		"zones are not known":               {regional, "l4", gke.Options{Min: 3}, nil, []string{"us-central1-a", "us-central1-b", "us-central1-f"}, 1, ""},
		"a new cluster in a zone":           {&container.Cluster{Name: "main", Location: "us-central1-a"}, "l4", gke.Options{Min: 3}, nil, []string{"us-central1-a"}, 3, ""},
		"a new cluster in a region":         {planned, "l4", gke.Options{Min: 3}, []string{"us-central1-b", "us-east1-b"}, []string{"us-central1-b"}, 3, ""},
		"a new one, zones are not known":    {planned, "l4", gke.Options{Min: 3}, nil, nil, 1, ""},
		"the zone lacks it": {zonal, "l4", gke.Options{}, []string{"europe-west4-a", "us-east5-b", "us-central1-b"}, nil, 0,
			"cluster main in us-central1-a has no l4 (g2-standard-4); the nearest zones that have it: us-central1-b, us-east5-b, europe-west4-a"},
		"the region lacks it": {planned, "l4", gke.Options{}, []string{"us-east5-b"}, nil, 0,
			"cluster main in us-central1 has no l4 (g2-standard-4); the nearest zones that have it: us-east5-b; they need a cluster in their region"},
		"a zone of another region": {zonal, "l4", gke.Options{Zones: []string{"us-east5-b"}}, []string{"us-east5-b"}, nil, 0,
			"--zones us-east5-b: cluster main is in us-central1, and has no nodes in other regions"},
		"none may be used": {zonal, "l4", gke.Options{}, []string{}, nil, 0, "no zone has machines of type g2-standard-4 that this project may use"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, parse(t, tt.accelerator), tt.options)
			err := p.Settle(tt.cluster, tt.have)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || !slices.Equal(p.Pool.Locations, tt.want) || p.Pool.InitialNodeCount != tt.initial {
				t.Errorf("got %d nodes in each of %q, %v", p.Pool.InitialNodeCount, p.Pool.Locations, err)
			}
		})
	}
}
