package gke_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

// parse reads an accelerator; with "lws" after it, on several hosts.
func parse(t *testing.T, text string) api.Accelerator {
	t.Helper()
	text, several := strings.CutSuffix(text, " lws")
	o := accelerator.Options{}
	if several {
		o.Backend = api.BackendLWS
	}
	a, err := accelerator.Parse(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func plan(t *testing.T, a api.Accelerator, o gke.Options) gke.Planned {
	t.Helper()
	p, err := gke.Plan(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var nodes = gke.Nodes{Account: "kn-main-nodes@acme.iam.gserviceaccount.com", Identity: true, Networks: true}

// shapes are those of the catalogue on which accelerators are, and two large boxes.
func shapes(t *testing.T) []api.Accelerator {
	all := slices.DeleteFunc(accelerator.Catalogue(), func(a api.Accelerator) bool { return a.Kind == api.CPU || accelerator.IsBareMetal(a) })
	return append(all, parse(t, "v5p-4x4x12"), parse(t, "tpu7x-4x8x12"))
}

// usual returns the options without which machines that are not sold on demand can't be had.
func usual(a api.Accelerator) gke.Options {
	switch {
	case a.Spot:
		return gke.Options{}
	case a.Name == "gb200":
		return gke.Options{Reservation: "block-7"}
	}
	return gke.Options{FlexStart: a.Name == "h100" && a.ChipsPerHost < 8}
}

// TestRequests has the request for every shape in a golden file, each on a line.
func TestRequests(t *testing.T) {
	var b strings.Builder
	for _, a := range shapes(t) {
		o := usual(a)
		o.Cluster, o.Nodes = theCluster, nodes
		p := plan(t, a, o)
		fmt.Fprintf(&b, "%s on %d: %s\n", accelerator.Text(a), a.Hosts, encode(t, p.Pool))
		if p.Policy != nil {
			fmt.Fprintf(&b, "  policy: %s\n", encode(t, p.Policy))
		}
	}
	golden.Check(t, "testdata/shapes.golden", b.String())
}

// Large images start sooner with streaming, and every node's boot is measured. Drivers of accelerators may
// be unsigned, so that secure boot is left out.
func TestNodesStreamImages(t *testing.T) {
	for _, a := range shapes(t) {
		c := plan(t, a, usual(a)).Pool.Config
		if c.GcfsConfig == nil || !c.GcfsConfig.Enabled || c.ShieldedInstanceConfig == nil || !c.ShieldedInstanceConfig.EnableIntegrityMonitoring || c.ShieldedInstanceConfig.EnableSecureBoot {
			t.Errorf("%s: %s", accelerator.Text(a), encode(t, c))
		}
	}
}

// TestOptions has the request for each option in a golden file.
func TestOptions(t *testing.T) {
	var b strings.Builder
	for _, tt := range []struct {
		accelerator string
		options     gke.Options
	}{
		{"v6e-8", gke.Options{}},
		{"v6e-8 lws", gke.Options{}},
		{"v6e-8:spot", gke.Options{Min: 1, Max: 4}},
		{"v6e-4x4", gke.Options{Min: 4}},
		{"l4", gke.Options{Zones: []string{"us-central1-a", "us-central1-b"}, Min: 3, Max: 12}},
		{"l4", gke.Options{Name: "mine", DiskGB: 500, Labels: map[string]string{"team": "vision"}}},
		{"h100x8", gke.Options{Reservation: "projects/shared/reservations/block-7"}},
		{"v5p-8", gke.Options{FlexStart: true}},
		{"v5p-8", gke.Options{FlexStart: true, Queued: true}},
		{"h100x8", gke.Options{Compact: true, Zones: []string{"us-central1-c"}}},
		{"tpu7x-2x2x2", gke.Options{Zones: []string{"us-central1-c"}, Name: "iron"}},
	} {
		tt.options.Cluster, tt.options.Nodes = theCluster, nodes
		p := plan(t, parse(t, tt.accelerator), tt.options)
		fmt.Fprintf(&b, "%s %+v\n  pool: %s\n  policy: %s\n", tt.accelerator, tt.options, encode(t, p.Pool), encode(t, p.Policy))
	}
	golden.Check(t, "testdata/options.golden", b.String())
}

// A pool that was made is read as the accelerator that was asked for.
func TestShape(t *testing.T) {
	for _, a := range shapes(t) {
		for _, spot := range []bool{false, true} {
			if spot && accelerator.OnlyReserved(a) {
				continue
			}
			backend := api.BackendGKE
			if a.Hosts > 1 {
				backend = api.BackendLWS
			}
			want, err := accelerator.Parse(accelerator.Text(a), accelerator.Options{Spot: spot, Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			p := plan(t, want, usual(want))
			got, ok := gke.Shape(p.Pool)
			if !ok || encode(t, got) != encode(t, want) {
				t.Errorf("%s on %d: got %+v, %v", accelerator.Text(want), want.Hosts, got, ok)
			}
		}
	}
}

// Other tools give pools of a single host its topology, too.
func TestShapeOfASingleHostWithItsTopology(t *testing.T) {
	for _, want := range shapes(t) {
		if want.Kind != api.TPU || want.Hosts > 1 {
			continue
		}
		p := plan(t, want, usual(want)).Pool
		for _, kind := range []string{"", "COMPACT"} {
			p.PlacementPolicy = &container.PlacementPolicy{Type: kind, TpuTopology: want.Topology}
			if got, ok := gke.Shape(p); !ok || encode(t, got) != encode(t, want) {
				t.Errorf("%s with the topology %s: got %+v, %v", want.MachineType, want.Topology, got, ok)
			}
		}
	}
}

// Pools that others have made may have other machines, or nothing that is known.
func TestShapeOfOtherPools(t *testing.T) {
	gpu := func(machine, label string, count int64) *container.NodePool {
		return &container.NodePool{Config: &container.NodeConfig{MachineType: machine,
			Accelerators: []*container.AcceleratorConfig{{AcceleratorType: label, AcceleratorCount: count}}}}
	}
	for name, tt := range map[string]struct {
		pool *container.NodePool
		want string // "" for none
	}{
		"a larger machine with the same GPU": {gpu("g2-standard-32", "nvidia-l4", 1), "l4 1 g2-standard-32"},
		"an unknown GPU":                     {gpu("g2-standard-32", "nvidia-z9", 1), ""},
		"a GPU without its field":            {&container.NodePool{Config: &container.NodeConfig{MachineType: "a3-highgpu-8g"}}, "h100 8 a3-highgpu-8g"},
		"no accelerator":                     {&container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4"}}, ""},
		"an unknown topology": {&container.NodePool{Config: &container.NodeConfig{MachineType: "ct6e-standard-4t"},
			PlacementPolicy: &container.PlacementPolicy{TpuTopology: "3x5"}}, ""},
		"a topology that only its policy has": {&container.NodePool{Config: &container.NodeConfig{MachineType: "tpu7x-standard-4t"},
			PlacementPolicy: &container.PlacementPolicy{PolicyName: "iron"}}, ""},
		"no machine":          {&container.NodePool{Config: &container.NodeConfig{}}, ""},
		"nothing":             {&container.NodePool{}, ""},
		"preemptible machine": {&container.NodePool{Config: &container.NodeConfig{MachineType: "ct6e-standard-1t", Preemptible: true}}, "v6e 1 ct6e-standard-1t"},
	} {
		a, ok := gke.Shape(tt.pool)
		if got := fmt.Sprintf("%s %d %s", a.Name, a.Chips, a.MachineType); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: got %q, %v", name, got, ok)
		}
		if ok && strings.Contains(name, "preemptible") && !a.Spot {
			t.Errorf("%s: is not spot", name)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for want, tt := range map[string]struct {
		accelerator string
		options     gke.Options
	}{
		"cpu jobs run on the nodes that every cluster has; name a GPU or a TPU, such as l4 or v6e-8":                                                                   {"cpu", gke.Options{}},
		"--min-nodes 5 is more than --max-nodes 3":                                                                                                                     {"l4", gke.Options{Min: 5, Max: 3}},
		"--min-nodes -1: expected 0 or more":                                                                                                                           {"l4", gke.Options{Min: -1}},
		"--max-nodes -1: expected 1 or more":                                                                                                                           {"l4", gke.Options{Max: -1}},
		"--min-nodes 1: a pool of v6e 4x4 is one slice of 4 hosts; use 0 or 4":                                                                                         {"v6e-16", gke.Options{Min: 1}},
		"--spot and --reservation: reserved machines are not spot capacity; use one of the two":                                                                        {"l4:spot", gke.Options{Reservation: "r"}},
		"--flex-start and --spot: use one of the two":                                                                                                                  {"l4:spot", gke.Options{FlexStart: true}},
		"--flex-start and --reservation: use one of the two":                                                                                                           {"l4", gke.Options{FlexStart: true, Reservation: "r"}},
		"--flex-start: v4 is not available with flex-start; the nearest that is: v5e":                                                                                  {"v4", gke.Options{FlexStart: true}},
		"--min-nodes 1: a pool with --flex-start begins without nodes; use 0":                                                                                          {"l4", gke.Options{FlexStart: true, Min: 1}},
		"--zones us-central1: expected zones such as us-central1-a":                                                                                                    {"l4", gke.Options{Zones: []string{"us-central1"}}},
		"no a3-highgpu-1g is sold on demand, so the pool would never get a node: use --flex-start of pool add or --spot":                                               {"h100", gke.Options{}},
		"no a3-highgpu-4g is sold on demand, so the pool would never get a node: use --flex-start of pool add or --spot":                                               {"h100x4", gke.Options{}},
		"no a4x-highgpu-4g is sold on demand, so the pool would never get a node: use --reservation of pool add":                                                       {"gb200", gke.Options{}},
		"gb200 comes from reservations alone; instead of spot or flex-start, use --reservation of pool add":                                                            {"gb200:spot", gke.Options{}},
		"a4x-maxgpu-4g-metal is bare metal, with networks that a cluster needs first: make its pool as Google's Cluster Toolkit does (examples/gke-a4x-max-bm)":        {"gb300", gke.Options{Reservation: "r"}},
		"--queued: it needs --flex-start, whose machines the queue asks for":                                                                                           {"l4", gke.Options{Queued: true}},
		"--queued and --compact: GKE does not combine them; use one of the two":                                                                                        {"l4", gke.Options{Queued: true, FlexStart: true, Compact: true}},
		"--compact: the machines of gb200 are in one rack anyway; omit it":                                                                                             {"gb200", gke.Options{Compact: true, Reservation: "r"}},
		"--max-nodes 19: a pool of gb200 is one rack, which has 18 machines; use at most that, and another pool for more":                                              {"gb200", gke.Options{Max: 19, Reservation: "r"}},
		"--min-nodes 20: a pool of gb200 is one rack, which has 18 machines; use at most that, and another pool for more":                                              {"gb200", gke.Options{Min: 20, Reservation: "r"}},
		"--zones us-central1-a,us-central1-b: the machines of a rack are in one zone; name one":                                                                        {"gb200", gke.Options{Zones: []string{"us-central1-a", "us-central1-b"}, Reservation: "r"}},
		"--compact: GKE has no compact placement for the machines of t4 (n1-standard-4); omit it":                                                                      {"t4", gke.Options{Compact: true}},
		"--compact: the hosts of a TPU slice are placed by its topology; omit it":                                                                                      {"v6e-8", gke.Options{Compact: true}},
		"--zones us-central1-a,us-central1-b: with --compact, the machines are in one zone; name one":                                                                  {"l4", gke.Options{Compact: true, Zones: []string{"us-central1-a", "us-central1-b"}}},
		"--disk-size 5: expected 10 to 65536 GB":                                                                                                                       {"l4", gke.Options{DiskGB: 5}},
		"--labels cloud.google.com/x=y: labels of cloud.google.com belong to Kubernetes and GKE; use another name":                                                     {"l4", gke.Options{Labels: map[string]string{"cloud.google.com/x": "y"}}},
		"--zones us-central1-a,us-central1-a: name us-central1-a once":                                                                                                 {"l4", gke.Options{Zones: []string{"us-central1-a", "us-central1-a"}}},
		"--zones us-central1-a,us-east5-a: a node pool is in one region, and us-east5-a is in another":                                                                 {"l4", gke.Options{Zones: []string{"us-central1-a", "us-east5-a"}}},
		"--zones us-central1-a,us-central1-b: the 4 hosts of a slice are in one zone; name one":                                                                        {"v6e-16", gke.Options{Zones: []string{"us-central1-a", "us-central1-b"}}},
		"--name Mine: expected at most 40 lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit":                           {"l4", gke.Options{Name: "Mine"}},
		"--max-nodes 8: a pool of v6e 4x4 is one slice of 4 hosts; use 4, and add a pool with another --name for a second slice":                                       {"v6e-16", gke.Options{Max: 8}},
		"--reservation a/b: expected NAME or projects/PROJECT/reservations/NAME, optionally with /reservationBlocks/BLOCK and /reservationSubBlocks/SUBBLOCK appended": {"l4", gke.Options{Reservation: "a/b"}},
	} {
		if _, err := gke.Plan(parse(t, tt.accelerator), tt.options); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Names follow from what can't be changed later, and fit GKE's limit.
func TestName(t *testing.T) {
	a := parse(t, "v6e-8")
	base := gke.Name(a, gke.Options{})
	for name, o := range map[string]gke.Options{"zones": {Zones: []string{"us-central1-a"}}, "disk": {DiskGB: 200},
		"labels": {Labels: map[string]string{"a": "b"}}, "reservation": {Reservation: "r"}, "flex-start": {FlexStart: true}, "compact": {Compact: true}} {
		if gke.Name(a, o) == base {
			t.Errorf("%s is not part of the name", name)
		}
	}
	if queued := (gke.Options{FlexStart: true, Queued: true}); gke.Name(a, queued) == gke.Name(a, gke.Options{FlexStart: true}) {
		t.Error("queued is not part of the name")
	}
	for name, o := range map[string]gke.Options{"limits": {Min: 1, Max: 4}, "the cluster": {Nodes: nodes}, "the usual disk": {DiskGB: 100}} {
		if got := gke.Name(a, o); got != base {
			t.Errorf("%s is part of the name: %s, %s", name, got, base)
		}
	}
	if several := parse(t, "v6e-8 lws"); gke.Name(several, gke.Options{}) == base {
		t.Error("one host and several have one name")
	}
	for _, a := range shapes(t) {
		a.Spot = true
		if err := gke.CheckName(gke.Name(a, gke.Options{})); err != nil {
			t.Errorf("%s: %v", gke.Name(a, gke.Options{}), err)
		}
	}
}

// TestNodes has what the nodes of every shape get in a golden file.
func TestNodes(t *testing.T) {
	var b strings.Builder
	add := func(what string, p *container.NodePool) {
		p.Name = "pool"
		fmt.Fprintf(&b, "%s: %s", what, encode(t, gke.NodeLabels(p)))
		for _, taint := range gke.NodeTaints(p) {
			fmt.Fprintf(&b, " %s", taint.ToString())
		}
		b.WriteString("\n")
	}
	for _, a := range shapes(t) {
		add(fmt.Sprintf("%s on %d", accelerator.Text(a), a.Hosts), plan(t, a, usual(a)).Pool)
	}
	for what, o := range map[string]gke.Options{"reserved": {Reservation: "projects/shared/reservations/r/reservationBlocks/b"}} {
		add(what, plan(t, parse(t, "l4"), o).Pool)
	}
	add("spot", plan(t, parse(t, "l4:spot"), gke.Options{}).Pool)
	add("flex-start", plan(t, parse(t, "l4"), gke.Options{FlexStart: true, Labels: map[string]string{"team": "vision"}}).Pool)
	add("queued", plan(t, parse(t, "l4"), gke.Options{FlexStart: true, Queued: true}).Pool)
	add("tainted", &container.NodePool{Config: &container.NodeConfig{MachineType: "e2-standard-4", Taints: []*container.NodeTaint{{Key: "a", Value: "b", Effect: "NO_EXECUTE"}}}})
	add("empty", &container.NodePool{})
	golden.Check(t, "testdata/nodes.golden", b.String())
}

// GPUs may be shared by pods: their nodes have the same labels as those of whole GPUs.
func TestSharing(t *testing.T) {
	gpu := func(c container.AcceleratorConfig) *container.NodePool {
		return &container.NodePool{Config: &container.NodeConfig{Accelerators: []*container.AcceleratorConfig{&c}}}
	}
	for want, p := range map[string]*container.NodePool{
		"MIG 1g.5gb":        gpu(container.AcceleratorConfig{GpuPartitionSize: "1g.5gb"}),
		"time-sharing by 4": gpu(container.AcceleratorConfig{GpuSharingConfig: &container.GPUSharingConfig{GpuSharingStrategy: "TIME_SHARING", MaxSharedClientsPerGpu: 4}}),
		"MIG 1g.5gb, MPS by 3": gpu(container.AcceleratorConfig{GpuPartitionSize: "1g.5gb",
			GpuSharingConfig: &container.GPUSharingConfig{GpuSharingStrategy: "MPS", MaxSharedClientsPerGpu: 3}}),
		"": gpu(container.AcceleratorConfig{GpuSharingConfig: &container.GPUSharingConfig{}}),
	} {
		if got := gke.Sharing(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := gke.Sharing(&container.NodePool{}); got != "" {
		t.Errorf("got %q of an empty pool", got)
	}
}

func TestNodesOf(t *testing.T) {
	c := &container.Cluster{WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: "acme.svc.id.goog"},
		NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2}, NodePools: []*container.NodePool{
			{}, {Config: &container.NodeConfig{ServiceAccount: "default"}}, {Config: &container.NodeConfig{ServiceAccount: nodes.Account}}}}
	if got := gke.NodesOf(c); got != nodes {
		t.Errorf("got %+v", got)
	}
	if got := gke.NodesOf(&container.Cluster{}); got != (gke.Nodes{}) {
		t.Errorf("got %+v of an empty cluster", got)
	}
}
