package stack_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// pool returns a node pool of the cluster by the beginning of its name.
func (w *world) pool(t *testing.T, location, prefix string) *container.NodePool {
	t.Helper()
	cluster := w.Cluster("acme", location, "research")
	if cluster == nil {
		t.Fatal("there is no cluster")
	}
	i := slices.IndexFunc(cluster.NodePools, func(p *container.NodePool) bool { return strings.HasPrefix(p.Name, prefix) })
	if i < 0 {
		t.Fatalf("there is no pool %s", prefix)
	}
	return cluster.NodePools[i]
}

// Nodes are in the zones of the region that have the machines, and each of them has its price.
func TestUpInARegion(t *testing.T) {
	w := newWorld(t)
	w.SetMachineTypes("us-central1-a", "g2-standard-4", "ct6e-standard-4t")
	w.SetMachineTypes("us-central1-b", "g2-standard-4")
	w.SetMachineTypes("us-east5-a", "ct6e-standard-8t")
	w.up(t, "--yes", "--zone", "us-central1", "-a", "l4", "-a", "v6e-4x4").check(t, 0, "ready")
	if p := w.pool(t, "us-central1", "gpu-l4"); !slices.Equal(p.Locations, []string{"us-central1-a", "us-central1-b"}) {
		t.Errorf("the nodes are in %q", p.Locations)
	}
	if p := w.pool(t, "us-central1", "tpu-v6e"); !slices.Equal(p.Locations, []string{"us-central1-a"}) {
		t.Errorf("the slice is in %q", p.Locations)
	}
	w.up(t, "--dry-run", "--zone", "us-central1", "-a", "v6e-8").check(t, 2, "--accelerator: cluster research in us-central1-a, us-central1-b, us-central1-c has no v6e-2x4 (ct6e-standard-8t); the nearest zones that have it: us-east5-a; they need a cluster in their region")
}

// GKE keeps a pool that it could not make.
func TestUpAfterAPoolHasFailed(t *testing.T) {
	w := newWorld(t)
	const why = "Instance 'gke-l4' creation failed: the zone does not have enough resources available. [GCE_STOCKOUT]"
	w.FailOperation(gcptest.OperationFault{Kind: "CREATE_NODE_POOL", Error: &gcptest.Error{Code: http.StatusTooManyRequests, Message: why}})
	args := []string{"-a", "l4", "--min-nodes", "1"}
	w.up(t, append(args, "--yes")...).check(t, 1, "us-central1-a has no g2-standard-4 machines free now")
	pool := w.pool(t, zone, "gpu-l4").Name
	remove := "remove it with: kubectl kinetic pool remove " + pool + " --project acme --zone us-central1-a --cluster research"
	w.up(t, append(args, "--dry-run")...).check(t, 0, "+ node pool "+pool+": exists, but could not be created\n", ": 1 to create, ")
	w.up(t, append(args, "--yes")...).check(t, 1, "creating node pool "+pool+" in cluster research: it exists, but making it has failed: "+why+"; "+remove)
	w.up(t, append(args, "--yes", "--reconcile", "--max-nodes", "3")...).check(t, 1, remove)
	w.removePool(t, pool)
	w.up(t, append(args, "--yes")...).check(t, 0, "ready")
	w.down(t, "--dry-run").check(t, 0)
	if p := w.pool(t, zone, "gpu-l4"); p.Status != "RUNNING" {
		t.Errorf("the pool is %s", p.Status)
	}
}

// removePool begins to remove a pool.
func (w *world) removePool(t *testing.T, name string) {
	t.Helper()
	access, err := gcp.New(t.Context(), w.Env)
	if err != nil {
		t.Fatal(err)
	}
	service, err := container.NewService(t.Context(), access.Options(gcp.Container)...)
	if err != nil {
		t.Fatal(err)
	}
	path := "projects/acme/locations/" + zone + "/clusters/research/nodePools/" + name
	if _, err := service.Projects.Locations.Clusters.NodePools.Delete(path).Context(t.Context()).Do(); err != nil {
		t.Fatal(err)
	}
}

// What nobody has asked for is said without flags that `up` doesn't have, or that mean something else there.
func TestUpNotesHaveNoAdviceOfPoolAdd(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
	for want, args := range map[string][]string{
		"node pool gpu-l4-1-4197: --min-nodes 20 is more than the usual maximum of 10 nodes, so the maximum is 20, too\n": {"-a", "l4", "--min-nodes", "20"},
		": all nodes are in us-central1-a: the hosts of a slice must be in one zone\n":                                    {"-a", "v6e-4x4", "--zone", "us-central1"},
	} {
		w.up(t, append(args, "--dry-run")...).check(t, 0, want)
	}
}

func TestUpPricesAllNodes(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"in a zone":   {[]string{"-a", "l4", "--min-nodes", "2"}, []string{"1 node of e2-standard-4 $98, 2 nodes of g2-standard-4 $", ", 250 GB of disks "}},
		"in a region": {[]string{"-a", "l4", "--min-nodes", "4", "--zone", "us-central1"}, []string{"1 node of e2-standard-4 $98, 4 nodes of g2-standard-4 $", ", 450 GB of disks "}},
		"a slice":     {[]string{"-a", "v6e-4x4", "--min-nodes", "4", "--zone", "us-central1"}, []string{"1 node of e2-standard-4 $98, 4 nodes of ct6e-standard-4t $"}},
		"no pool":     {[]string{"-a", "l4"}, []string{"(cluster $73, 1 node of e2-standard-4 $98, 50 GB of disks $"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
			w.up(t, append(tt.args, "--dry-run")...).check(t, 0, tt.want...)
			w.up(t, append(tt.args, "--yes")...).check(t, 0, tt.want...)
			w.up(t, append(tt.args, "--dry-run")...).check(t, 0, tt.want...) // the same once it exists
		})
	}
}

// What a cluster has stays on, and not what the command line would make.
func TestUpPricesTheClusterThatExists(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, w *world)
		args    []string
		want    string
	}{
		"its pools, named without their limits": {func(t *testing.T, w *world) { w.up(t, "--yes", "-a", "l4", "--min-nodes", "2").check(t, 0) },
			[]string{"-a", "l4"}, "(cluster $73, 1 node of e2-standard-4 $98, 2 nodes of g2-standard-4 $1037, 250 GB of disks $25, NAT $3, its address $4; "},
		"its pools, not named": {func(t *testing.T, w *world) { w.up(t, "--yes", "-a", "l4", "--min-nodes", "2").check(t, 0) },
			nil, "1 node of e2-standard-4 $98, 2 nodes of g2-standard-4 $1037, 250 GB of disks $25, NAT $3, its address $4; "},
		"and those that are added": {func(t *testing.T, w *world) { w.up(t, "--yes", "-a", "l4", "--min-nodes", "1").check(t, 0) },
			[]string{"-a", "v6e-8:spot", "--min-nodes", "1"}, "1 node of g2-standard-4 $518, 1 node of ct6e-standard-8t $3329, 250 GB of disks $25, NAT $3, its address $4; "},
		"limits that are not changed": {func(t *testing.T, w *world) { w.up(t, "--yes", "-a", "l4").check(t, 0) },
			[]string{"-a", "l4", "--min-nodes", "2"}, "(cluster $73, 1 node of e2-standard-4 $98, 50 GB of disks $5, NAT $1, its address $4; "},
		"limits that are changed": {func(t *testing.T, w *world) { w.up(t, "--yes", "-a", "l4").check(t, 0) },
			[]string{"-a", "l4", "--min-nodes", "2", "--reconcile"}, "2 nodes of g2-standard-4 $1037, 250 GB of disks $25, NAT $3, its address $4; "},
		"Autopilot": {func(t *testing.T, w *world) { w.up(t, "--yes", "--autopilot").check(t, 0) },
			[]string{"--zone", "us-central1"}, "(cluster $73, NAT $1, its address $4; "},
		"someone's": {func(_ *testing.T, w *world) { w.other(nil) },
			[]string{"--force"}, "(cluster $73, 3 nodes of e2-standard-4 $293, 300 GB of disks $30; "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
			tt.prepare(t, w)
			if c := w.Cluster("acme", zone, "research"); c != nil && c.ResourceLabels == nil {
				c.Network, c.NodePools = "default", []*container.NodePool{{Name: "main", InitialNodeCount: 3, Locations: []string{zone},
					Config: &container.NodeConfig{MachineType: "e2-standard-4", DiskSizeGb: 100}}}
			}
			w.up(t, append(tt.args, "--dry-run")...).check(t, 0, tt.want)
		})
	}
}

// Which zones have a machine is only known once the API is enabled.
func TestUpCreatesNothingWhereTheMachinesAreNot(t *testing.T) {
	w := newWorld(t)
	w.SetMachineTypes("us-east5-b", "g2-standard-4")
	w.up(t, "--yes", "-a", "l4").check(t, 1, "cluster research in us-central1-a has no l4 (g2-standard-4); the nearest zones that have it: us-east5-b; they need a cluster in their region", "not tried: ")
	if w.Network("acme", "kn-research") != nil || w.HasAccount("kn-research-nodes@acme.iam.gserviceaccount.com") {
		t.Error("something was created")
	}
	w.up(t, "--yes", "-a", "l4").check(t, 2, "cluster research in us-central1-a has no l4")
	w.SetMachineTypes("us-central1-b", "g2-standard-4")
	w.up(t, "--yes", "-a", "l4:spot").check(t, 0, "+ node pool gpu-l4-1-spot-4197: 0 to 10 nodes of g2-standard-4, spot",
		"node pool gpu-l4-1-spot-4197: the nodes are in us-central1-b, since there is no l4 (g2-standard-4) in us-central1-a, where the cluster is", "ready")
	if p := w.pool(t, "us-central1-a", "gpu-l4"); !slices.Equal(p.Locations, []string{"us-central1-b"}) {
		t.Errorf("the nodes are in %q", p.Locations)
	}
}

// What is known only once the API is enabled is said then, and what was said before is not said again.
func TestUpSaysNotesOnceInANewProject(t *testing.T) {
	w := newWorld(t)
	w.SetMachineTypes("us-central1-b", "g2-standard-4")
	r := w.up(t, "--yes", "-a", "l4", "--min-nodes", "11")
	r.check(t, 0, "ready")
	for _, note := range []string{
		"node pool gpu-l4-1-4197: the nodes are in us-central1-b, since there is no l4 (g2-standard-4) in us-central1-a, where the cluster is\n",
		"node pool gpu-l4-1-4197: --min-nodes 11 is more than the usual maximum of 10 nodes, so the maximum is 11, too\n",
	} {
		if n := strings.Count(r.err, note); n != 1 {
			t.Errorf("%q is there %d times in:\n%s", note, n, r.err)
		}
	}
}

// Zones that can't be looked up are reported, unless they don't matter or are looked up later.
func TestUpWarnsOfUnknownZones(t *testing.T) {
	const warning = "warning: could not check which zones have the machines, so GKE may reject them: asking which zones have which machines: "
	w := newWorld(t)
	args := []string{"-a", "v6e-4x4", "--zone", "us-central1", "--dry-run"}
	if r := w.up(t, args...); r.code != 0 || strings.Contains(r.err, "warning: ") {
		t.Errorf("the API is not enabled yet: %+v", r)
	}
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
	w.Deny("compute.machineTypes.list")
	w.up(t, args...).check(t, 0, warning, "needs the permission compute.machineTypes.list in project acme")
	w.up(t, "--yes").check(t, 0, warning)
	if r := w.up(t); r.code != 0 || strings.Contains(r.err, "warning: ") {
		t.Errorf("nothing is created: %+v", r)
	}
	again := newWorld(t)
	again.Deny("compute.machineTypes.list")
	again.up(t, "--yes", "-a", "l4").check(t, 0, warning, "ready")
}

// Settings that differ from what was asked for are shown, and changed only with --reconcile.
func TestUpWithOtherSettings(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "-a", "l4").check(t, 0, "ready")
	if r := w.up(t, "-a", "l4"); strings.Contains(r.err, "~") {
		t.Errorf("nothing else was asked for:\n%s", r.err)
	}
	const machine = "gcloud container node-pools update default-pool --cluster=research --location=us-central1-a --project=acme --machine-type=e2-standard-8"
	args := []string{"-a", "l4", "--min-nodes", "2", "--max-nodes", "8", "--machine-type", "e2-standard-8"}
	w.up(t, args...).check(t, 0, "2 with other settings; --reconcile changes them", "~ cluster research", "~ node pool gpu-l4-1-4197",
		"machine type of default-pool: e2-standard-4 now, e2-standard-8 wanted; `up` does not change it; change it with: "+machine+"\n",
		"limits of default-pool: 1 to 5 nodes now, 1 to 8 nodes wanted; it alone is changed by: kubectl kinetic pool set default-pool --min-nodes 1 --max-nodes 8 --project acme --zone us-central1-a --cluster research",
		"limits: 0 to 10 nodes now, 2 to 10 nodes wanted; it alone is changed by: kubectl kinetic pool set gpu-l4-1-4197 --min-nodes 2 --max-nodes 10 ")
	if p := w.pool(t, zone, "gpu-l4"); p.Autoscaling.TotalMinNodeCount != 0 {
		t.Error("changed without --reconcile")
	}
	const last = "warning: --reconcile does not change cluster research: machine type of default-pool: e2-standard-4 now, e2-standard-8 wanted; change it with: " + machine + "\n"
	changed := w.up(t, append(args, "--yes", "--reconcile")...)
	if !strings.HasSuffix(changed.err, last) || strings.Count(changed.err, "warning: ") != 1 {
		t.Errorf("it doesn't end with what stays different:\n%s", changed.err)
	}
	changed.check(t, 0, "1 node of e2-standard-4 $98", "changed     cluster research", "changed     node pool gpu-l4-1-4197")
	if p := w.pool(t, zone, "gpu-l4"); p.Autoscaling.TotalMinNodeCount != 2 || p.Autoscaling.TotalMaxNodeCount != 10 {
		t.Errorf("the limits are %+v", p.Autoscaling)
	}
	if p := w.pool(t, zone, "default-pool"); p.Autoscaling.TotalMaxNodeCount != 8 {
		t.Errorf("the limits are %+v", p.Autoscaling)
	}
	w.up(t, args...).check(t, 0, "1 with other settings (", "e2-standard-8 wanted")
}

// A pool of our name in a cluster of someone else is theirs, unless it has the labels of ours.
func TestUpLeavesPoolsOfOthers(t *testing.T) {
	const name = "gpu-l4-1-4197"
	for made, tt := range map[string]struct {
		labels map[string]string
		words  string
		least  int64
		price  string
	}{
		"by someone":    {nil, "`up` does not change it; change it with: kubectl kinetic pool set " + name + " --min-nodes 2 --max-nodes 10 --project acme ", 0, "(cluster $73, NAT $1, its address $4; "},
		"with pool add": {gke.ResourceLabels(), "changed     node pool " + name, 2, "2 nodes of g2-standard-4 $1037"},
	} {
		t.Run(made, func(t *testing.T) {
			w := newWorld(t)
			w.other(nil)
			c := w.Cluster("acme", zone, "research")
			l4 := &container.NodeConfig{MachineType: "g2-standard-4", DiskSizeGb: 100, ResourceLabels: tt.labels,
				Accelerators: []*container.AcceleratorConfig{{AcceleratorType: "nvidia-l4", AcceleratorCount: 1}}}
			c.NodePools = append(c.NodePools, &container.NodePool{Name: name, Config: l4, Autoscaling: &container.NodePoolAutoscaling{Enabled: true, TotalMaxNodeCount: 10}})
			w.up(t, "--yes", "--force", "--reconcile", "-a", "l4", "--min-nodes", "2").check(t, 0, tt.words, tt.price)
			if p := w.pool(t, zone, name); p.Autoscaling.TotalMinNodeCount != tt.least {
				t.Errorf("the limits are %+v", p.Autoscaling)
			}
		})
	}
}

func TestUpChecksTheZone(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"a zone that isn't there":  {[]string{"--zone", "us-central1-q"}, "--zone us-central1-q: it doesn't exist, or has no e2-standard-4; the nearest zones that have it: us-central1-a, us-central1-b, us-central1-c, "},
		"a region that isn't":      {[]string{"--zone", "europe-west44"}, "--zone europe-west44: it doesn't exist, or has no e2-standard-4; the nearest zones that have it: europe-west4-a, "},
		"a zone with other ones":   {[]string{"--zone", "us-central2-b"}, "--zone us-central2-b has no e2-standard-4; the nearest zones that have it: us-central1-a, us-central1-b, us-central1-c, us-east5-a; they need a cluster in their region; or choose available machines for the cluster's own components with --machine-type: n1-standard-4"},
		"on Autopilot":             {[]string{"--zone", "europe-west44", "--autopilot"}, "--zone europe-west44: it doesn't exist"},
		"machines that aren't":     {[]string{"--machine-type", "e2-standard-5"}, "--machine-type e2-standard-5: no zone has machines of type e2-standard-5"},
		"machines, mistyped":       {[]string{"--machine-type", "e2-standrd-4"}, "--machine-type e2-standrd-4: no zone has machines of type e2-standrd-4 that this project may use; did you mean \"e2-standard-4\""},
		"in a region":              {[]string{"--machine-type", "e2-standrd-4", "--zone", "us-central1"}, "; did you mean \"e2-standard-4\""},
		"machines of no such kind": {[]string{"--machine-type", "quantum"}, "that this project may use; ask Google Cloud for access"},
		"accelerators that aren't": {[]string{"-a", "h100x8"}, "--accelerator: cluster research in us-central1-a has no h100x8 (a3-highgpu-8g); the nearest zones that have it: us-east5-a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
			w.SetMachineTypes("us-east5-a", "a3-highgpu-8g")
			w.SetMachineTypes("us-central2-b", "ct4p-hightpu-4t", "g2-standard-4", "n1-standard-4", "n1-standard-8")
			w.up(t, append(tt.args, "--yes")...).check(t, 2, tt.want)
			for _, change := range w.Changes() {
				if !strings.HasSuffix(change, ":getIamPolicy") {
					t.Errorf("changed: %s", change)
				}
			}
		})
	}
}

// Each price says where and when it holds, each place once.
func TestUpSaysWhatItsPricesAre(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
	args := []string{"-a", "l4", "--min-nodes", "1", "--dry-run"}
	w.up(t, args...).check(t, 0, "baseline cost: $", "NAT $2, its address $4; list prices, 2025; us-central1, 2025; us-central1, 2025-03)")
	w.up(t, append(args, "-o", "json")...).check(t, 0, basesInJSON("2025", "us-central1, 2025", "us-central1, 2025-03"))
	w.up(t, "--machine-type", "e2-standard-8", "--dry-run").check(t, 0, "baseline cost: at least $", "; not known: 1 node of e2-standard-8")
}

// basesInJSON returns how the list is printed within the price.
func basesInJSON(bases ...string) string {
	return `"priceBases": [` + "\n      \"" + strings.Join(bases, "\",\n      \"") + "\"\n    ]"
}

// A mistake in the file of prices is no reason not to create a cluster.
func TestUpWarnsOfPrices(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "prices.txt")
	if err := os.WriteFile(path, []byte("cluster-hours 0 - * 2026\nnat-hour 1 - * 2026\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KINETIC_PRICES", path)
	w.up(t, "--dry-run").check(t, 0, "warning: KINETIC_PRICES: "+path+`:1: "cluster-hours" is not an item: expected a TPU such as v6e`, "NAT $1,")
	w.status(t).check(t, 2, path+":1: ")
}

// GKE manages the nodes of a cluster that is in Autopilot mode, also if that is not said again.
func TestUpOnAnAutopilotCluster(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--autopilot").check(t, 0, "ready")
	before := len(w.Changes())
	r := w.up(t, "--zone", "us-central1")
	r.check(t, 0, ": 0 to create, ")
	if strings.Contains(r.err, "~") || strings.Contains(r.err, "e2-standard-4") {
		t.Errorf("it has no nodes of ours:\n%s", r.err)
	}
	for want, args := range map[string][]string{
		"--accelerator l4: cluster research is in Autopilot mode, which creates nodes for each job itself: omit --accelerator": {"-a", "l4"},
		"--accelerator l4:spot: ": {"-a", "l4", "--spot", "--dry-run"},
		"--machine-type: cluster research is in Autopilot mode, which chooses the nodes by itself: omit --machine-type": {"--machine-type", "e2-standard-8"},
		"--max-nodes: cluster research is in Autopilot mode, which chooses the nodes by itself: omit --max-nodes":       {"--max-nodes", "3"},
	} {
		w.up(t, append(args, "--zone", "us-central1", "--yes")...).check(t, 2, want)
	}
	w.unchanged(t, before)
}
