package gke_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
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
		note, err   string
	}{
		"in its zone":                       {zonal, "l4", gke.Options{Min: 2}, []string{"us-central1-a"}, []string{"us-central1-a"}, 2, "", ""},
		"in those of a region that have it": {regional, "l4", gke.Options{Min: 3}, []string{"us-central1-b", "us-central1-c", "us-central1-f"}, []string{"us-central1-b", "us-central1-f"}, 2, "", ""},
		"in those that were asked for":      {regional, "l4", gke.Options{Min: 3, Zones: []string{"us-central1-c"}}, nil, []string{"us-central1-c"}, 3, "", ""},
		"a slice is in one":                 {regional, "v6e-4x4", gke.Options{Min: 4}, nil, []string{"us-central1-a"}, 4, "all nodes are in us-central1-a: the hosts of a slice must be in one zone; choose another with --zones: us-central1-b, us-central1-f", ""},
		"close machines are in one":         {regional, "l4", gke.Options{Min: 3, Compact: true}, []string{"us-central1-b", "us-central1-f"}, []string{"us-central1-b"}, 3, "all nodes are in us-central1-b: with --compact, machines must be in one zone; choose another with --zones: us-central1-f", ""},
		"networks of GPUs are in one":       {networks, "b200", gke.Options{Min: 2, Nodes: gke.Nodes{Networks: true}}, nil, []string{"us-central1-a"}, 2, "all nodes are in us-central1-a: the networks of GPUs are in one zone; choose another with --zones: us-central1-b, us-central1-f", ""},
		"GPUs without networks":             {regional, "b200", gke.Options{Min: 3, Nodes: gke.Nodes{Networks: true}}, nil, regional.Locations, 1, "", ""},
		"zones are not known":               {regional, "l4", gke.Options{Min: 3}, nil, []string{"us-central1-a", "us-central1-b", "us-central1-f"}, 1, "", ""},
		"a new cluster in a zone":           {&container.Cluster{Name: "main", Location: "us-central1-a"}, "l4", gke.Options{Min: 3}, nil, []string{"us-central1-a"}, 3, "", ""},
		"a new cluster in a region":         {planned, "l4", gke.Options{Min: 3}, []string{"us-central1-b", "us-east1-b"}, []string{"us-central1-b"}, 3, "", ""},
		"a new one, zones are not known":    {planned, "l4", gke.Options{Min: 3}, nil, nil, 1, "", ""},
		"a slice, zones are not known":      {planned, "v6e-4x4", gke.Options{Min: 4}, nil, nil, 4, "all nodes are in the same zone: the hosts of a slice must be in one zone", ""},
		"more than usual": {zonal, "l4", gke.Options{Min: 20}, nil, []string{"us-central1-a"}, 20,
			"--min-nodes 20 is more than the usual maximum of 10 nodes, so the maximum is 20, too; change it with --max-nodes", ""},
		"the zone lacks it, and another of the region has it": {zonal, "l4", gke.Options{}, []string{"europe-west4-a", "us-central1-b", "us-central1-c"}, []string{"us-central1-b"}, 0,
			"the nodes are in us-central1-b, since there is no l4 (g2-standard-4) in us-central1-a, where the cluster is", ""},
		"the zones of a region lack it, and others have it": {regional, "l4", gke.Options{}, []string{"us-central1-c", "us-central1-d"}, []string{"us-central1-c", "us-central1-d"}, 0,
			"the nodes are in us-central1-c, us-central1-d, since there is no l4 (g2-standard-4) in us-central1-a, us-central1-b, us-central1-f, where the cluster is", ""},
		"the zone has the machine without the GPU": {zonal, "t4", gke.Options{}, []string{"us-central1-b"}, []string{"us-central1-b"}, 0,
			"the nodes are in us-central1-b, since there is no t4 (n1-standard-4) in us-central1-a, where the cluster is", ""},
		"a slice is in another zone": {regional, "v6e-4x4", gke.Options{}, []string{"us-central1-c", "us-central1-d"}, []string{"us-central1-c"}, 0,
			"the nodes are in us-central1-c, since there is no v6e-4x4 (ct6e-standard-4t) in us-central1-a, us-central1-b, us-central1-f, where the cluster is; " +
				"all nodes are in us-central1-c: the hosts of a slice must be in one zone; choose another with --zones: us-central1-d", ""},
		"a slice in a cluster of one zone": {zonal, "v6e-4x4", gke.Options{Min: 4}, nil, []string{"us-central1-a"}, 4, "", ""},
		"a reservation's zone is not guessed": {zonal, "l4", gke.Options{Reservation: "r"}, []string{"us-central1-b", "us-central1-c"}, nil, 0, "",
			"cluster main in us-central1-a has no l4 (g2-standard-4); the nearest zones that have it: us-central1-b, us-central1-c; name the zone of reservation r with --zones"},
		"a reservation's zone is not chosen from several": {regional, "gb200", gke.Options{Min: 2, Reservation: "r"}, nil, nil, 0, "",
			"reservation r is in one zone, and the cluster has several: name it with --zones: us-central1-a, us-central1-b, us-central1-f"},
		"a rack, zones are not known": {planned, "gb200", gke.Options{Min: 2, Reservation: "r"}, nil, nil, 2, "all nodes are in the same zone: the machines of a rack must be in one zone", ""},
		"a reservation and its zone":  {regional, "h100x8", gke.Options{Reservation: "r", Zones: []string{"us-central1-f"}}, nil, []string{"us-central1-f"}, 0, "", ""},
		"the zone that was asked for lacks it": {zonal, "l4", gke.Options{Zones: []string{"us-central1-a"}}, []string{"europe-west4-a", "us-east5-b", "us-central1-b"}, nil, 0, "",
			"--zones us-central1-a has no l4 (g2-standard-4); the nearest zones that have it: us-central1-b, us-east5-b, europe-west4-a"},
		"the region lacks it": {planned, "l4", gke.Options{}, []string{"us-east5-b"}, nil, 0, "",
			"cluster main in us-central1 has no l4 (g2-standard-4); the nearest zones that have it: us-east5-b; they need a cluster in their region"},
		"a zone of another region": {zonal, "l4", gke.Options{Zones: []string{"us-east5-b"}}, []string{"us-east5-b"}, nil, 0, "",
			"--zones us-east5-b: cluster main is in us-central1, and has no nodes in other regions"},
		"none may be used": {zonal, "l4", gke.Options{}, []string{}, nil, 0, "", "no zone has machines of type g2-standard-4 that this project may use"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, parse(t, tt.accelerator), tt.options)
			placing, err := p.Settle(tt.cluster, tt.have)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || !slices.Equal(p.Pool.Locations, tt.want) || p.Pool.InitialNodeCount != tt.initial {
				t.Errorf("got %d nodes in each of %q, %v", p.Pool.InitialNodeCount, p.Pool.Locations, err)
			}
			if got := joined(placing.Notes); got != tt.note {
				t.Errorf("noted %q, want %q", got, tt.note)
			}
			if got := placing.First(p.Pool); got < tt.options.Min || len(tt.want) > 0 && got != len(tt.want)*int(tt.initial) {
				t.Errorf("begins with %d nodes", got)
			}
		})
	}
}

// Networks are in one zone. A pool whose zones are not known yet may be in several, and gets them once they are.
func TestSettleNetworks(t *testing.T) {
	planned := &container.Cluster{Name: "main", Location: "us-central1", NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2}}
	p := plan(t, parse(t, "v6e-8"), gke.Options{Nodes: gke.Nodes{Networks: true}})
	for _, tt := range []struct {
		have []string
		want bool
	}{{nil, false}, {[]string{"us-central1-b"}, true}, {[]string{"us-central1-b", "us-central1-c"}, false}} {
		if _, err := p.Settle(planned, tt.have); err != nil || gke.HasNetworks(p.Pool) != tt.want {
			t.Errorf("in %q: networks %v, %v", tt.have, gke.HasNetworks(p.Pool), err)
		}
	}
}

func joined(notes []gke.Note) string {
	var all []string
	for _, n := range notes {
		all = append(all, n.String())
	}
	return strings.Join(all, "; ")
}
