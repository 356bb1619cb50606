package gke_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

var theCluster = gke.Cluster{Project: "acme", Location: "us-central1-a", Name: "main"}

// world is a server with the cluster main, and a client for it.
type world struct {
	*gcptest.Server
	*gke.Client
	access *gcp.Access
	told   []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Server: gcptest.New(t)}
	w.AddCluster(theCluster.Project, theCluster.Location, &container.Cluster{Name: theCluster.Name, NodePools: []*container.NodePool{
		{Name: "default-pool", Config: &container.NodeConfig{MachineType: "e2-standard-4"}}}})
	var err error
	if w.access, err = gcp.New(t.Context(), w.Env); err != nil {
		t.Fatal(err)
	}
	w.access.Interval = time.Millisecond
	w.Client = w.client(t)
	return w
}

// client returns another client, as a second process has it.
func (w *world) client(t *testing.T) *gke.Client {
	t.Helper()
	client, err := gke.New(t.Context(), w.access, theCluster)
	if err != nil {
		t.Fatal(err)
	}
	client.Progress = func(text string) { w.told = append(w.told, text) }
	return client
}

// pool returns a node pool as the server has it, nil if there is none.
func (w *world) pool(name string) *container.NodePool {
	pools := w.Cluster(theCluster.Project, theCluster.Location, theCluster.Name).NodePools
	i := slices.IndexFunc(pools, func(p *container.NodePool) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return pools[i]
}

// A pool of every shape is made, as GKE takes it, and found again.
func TestCreateEveryShape(t *testing.T) {
	w := newWorld(t)
	w.SetPolls(1)
	for _, a := range shapes(t) {
		p := plan(t, a, usual(a))
		for _, want := range []gke.Outcome{gke.Created, gke.Unchanged} {
			if outcome, err := w.Create(t.Context(), p); err != nil || outcome != want {
				t.Errorf("%s on %d: got %s, %v, want %s", a.Short(), a.Hosts, outcome, err, want)
			}
		}
	}
	pools, err := w.Pools(t.Context())
	if err != nil || len(pools) != 1+len(shapes(t)) {
		t.Errorf("there are %d pools, %v", len(pools), err)
	}
	for _, p := range pools {
		if p.Status != "RUNNING" {
			t.Errorf("%s is %s", p.Name, p.Status)
		}
	}
}

func TestProgress(t *testing.T) {
	w := newWorld(t)
	w.SetPolls(3)
	if _, err := w.Create(t.Context(), plan(t, parse(t, "v6e-8"), gke.Options{})); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.told, "; "); got != "pending; 1 of 3 nodes; 2 of 3 nodes" {
		t.Errorf("told %q", got)
	}
}

// Each request of each change fails once, in each way that passes.
func TestEachRequestFailsOnce(t *testing.T) {
	faults := map[string]gcptest.Fault{
		"too many requests": {Status: http.StatusTooManyRequests}, "unavailable": {Status: http.StatusServiceUnavailable},
		"reset": {Reset: true}, "lost": {Lost: true},
	}
	for name, fault := range faults {
		for n := 0; ; n++ {
			w := newWorld(t)
			fault.After = n
			w.Fail(fault)
			p := plan(t, parse(t, "tpu7x-2x2x2"), gke.Options{Cluster: theCluster, Name: "iron"})
			if _, err := w.Create(t.Context(), p); err != nil || w.pool("iron") == nil || w.pool("iron").Status != "RUNNING" {
				t.Errorf("%s at request %d: created %v, %v", name, n, w.pool("iron"), err)
			}
			if _, err := w.Resize(t.Context(), w.pool("iron"), gke.Size{Min: 2, Max: 2}); err != nil || w.pool("iron").Autoscaling.MinNodeCount != 2 {
				t.Errorf("%s at request %d: resized %+v, %v", name, n, w.pool("iron").Autoscaling, err)
			}
			if _, err := w.Delete(t.Context(), "iron"); err != nil || w.pool("iron") != nil {
				t.Errorf("%s at request %d: removed, %v", name, n, err)
			}
			if len(w.Calls()) <= n {
				break // it had no request so late
			}
		}
	}
}

func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(w *world)
		want    []string
	}{
		"an operation that fails": {func(w *world) {
			w.FailOperation(gcptest.OperationFault{Kind: "CREATE_NODE_POOL", Error: &gcptest.Error{Code: 500, Message: "Internal error."}})
		}, []string{"creating node pool gpus in cluster main: the service answered 500: Internal error"}},
		"no machines left": {func(w *world) {
			w.FailOperation(gcptest.OperationFault{Kind: "CREATE_NODE_POOL", Error: &gcptest.Error{Code: 429,
				Message: "Instance gke-main-0 creation failed: The zone 'us-central1-a' does not have enough resources available to fulfill the request (GCE_STOCKOUT)."}})
		}, []string{"us-central1-a has no g2-standard-48 machines free now; try other --zones, --spot, --flex-start or a --reservation"}},
		"quota": {func(w *world) { w.SetQuota("us-central1", "NVIDIA_L4_GPUS", 1, 0) },
			[]string{"the quota NVIDIA_L4_GPUS is exceeded, its limit is 1", "https://console.cloud.google.com/iam-admin/quotas"}},
		"permission": {func(w *world) { w.Deny("container.clusters.update") },
			[]string{"needs the permission container.clusters.update in project acme", "--role=roles/container.admin"}},
		"a cluster that is gone": {func(w *world) { w.Fail(gcptest.Fault{Status: 404, Message: "Not found: clusters/main."}) },
			[]string{"creating node pool gpus in cluster main: it doesn't exist: Not found: clusters/main"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			_, err := w.Create(t.Context(), plan(t, parse(t, "l4x4"), gke.Options{Name: "gpus", Min: 1}))
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
		})
	}
}

// What failed is named when the same is asked for again.
func TestBrokenPool(t *testing.T) {
	w := newWorld(t)
	w.FailOperation(gcptest.OperationFault{Error: &gcptest.Error{Code: 500, Message: "no luck"}})
	p := plan(t, parse(t, "l4"), gke.Options{Name: "gpus"})
	_, _ = w.Create(t.Context(), p)
	_, err := w.Create(t.Context(), p)
	if want := "it exists, but making it has failed: no luck; remove it with: kubectl kinetic pool remove gpus --project acme --zone us-central1-a --cluster main"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if outcome, err := w.Delete(t.Context(), "gpus"); err != nil || outcome != gke.Removed {
		t.Errorf("got %s, %v", outcome, err)
	}
}

func TestNameTaken(t *testing.T) {
	w := newWorld(t)
	if _, err := w.Create(t.Context(), plan(t, parse(t, "l4"), gke.Options{Name: "gpus"})); err != nil {
		t.Fatal(err)
	}
	for text, o := range map[string]gke.Options{"l4x2": {}, "v6e-8": {}, "l4:spot": {}, "l4": {FlexStart: true}} {
		o.Name = "gpus"
		_, err := w.Create(t.Context(), plan(t, parse(t, text), o))
		if err == nil || !strings.Contains(err.Error(), "the name is taken by a pool with ") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if outcome, err := w.Create(t.Context(), plan(t, parse(t, "l4"), gke.Options{Name: "gpus", Max: 20})); err != nil || outcome != gke.Unchanged {
		t.Errorf("other limits: got %s, %v", outcome, err)
	}
}

// Whoever is interrupted leaves the operation running, and joins it later.
func TestInterrupted(t *testing.T) {
	w := newWorld(t)
	w.SetPolls(100)
	p := plan(t, parse(t, "v6e-8"), gke.Options{Name: "tpus"})
	ctx, cancel := context.WithCancel(t.Context())
	w.Progress = func(string) { cancel() }
	_, err := w.Create(ctx, p)
	var unfinished *gcp.UnfinishedError
	if !errors.As(err, &unfinished) || !strings.Contains(err.Error(), "the operation continues, see: gcloud container operations describe operation-1 --location=us-central1-a --project=acme") {
		t.Errorf("got %v", err)
	}
	if got := w.pool("tpus").Status; got != "PROVISIONING" {
		t.Errorf("the pool is %s", got)
	}
	w.SetPolls(1)
	if outcome, err := w.client(t).Create(t.Context(), p); err != nil || outcome != gke.Created || w.pool("tpus").Status != "RUNNING" {
		t.Errorf("then got %s, %v", outcome, err)
	}
}

// Another operation of the cluster or the pool is waited for.
func TestOtherOperation(t *testing.T) {
	w := newWorld(t)
	service, err := container.NewService(t.Context(), w.access.Options(gcp.Container)...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Projects.Locations.Clusters.Update("projects/acme/locations/us-central1-a/clusters/main",
		&container.UpdateClusterRequest{Update: &container.ClusterUpdate{DesiredLoggingService: "none"}}).Context(t.Context()).Do()
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := w.Create(t.Context(), plan(t, parse(t, "l4"), gke.Options{Name: "gpus"})); err != nil || outcome != gke.Created {
		t.Errorf("got %s, %v", outcome, err)
	}
	if !slices.Contains(w.told, "waiting for operation-1") {
		t.Errorf("told %q", w.told)
	}
}

// A pool that is just being removed is made again.
func TestCreateWhileItIsRemoved(t *testing.T) {
	w := newWorld(t)
	w.SetPolls(50)
	p := plan(t, parse(t, "l4"), gke.Options{Name: "gpus"})
	w.AddCluster(theCluster.Project, theCluster.Location, &container.Cluster{Name: theCluster.Name, NodePools: []*container.NodePool{p.Pool}})
	service, err := container.NewService(t.Context(), w.access.Options(gcp.Container)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.Projects.Locations.Clusters.NodePools.Delete("projects/acme/locations/us-central1-a/clusters/main/nodePools/gpus").Context(t.Context()).Do(); err != nil {
		t.Fatal(err)
	}
	w.SetPolls(1)
	outcome, err := w.Create(t.Context(), plan(t, parse(t, "l4"), gke.Options{Name: "gpus"}))
	if err != nil || outcome != gke.Created || w.pool("gpus") == nil || w.pool("gpus").Status != "RUNNING" {
		t.Errorf("got %s, %v, and the pool is %+v", outcome, err, w.pool("gpus"))
	}
}

// Two who ask for the same pool at the same time get one.
func TestTwoCreateTheSame(t *testing.T) {
	w := newWorld(t)
	p := plan(t, parse(t, "l4"), gke.Options{Name: "gpus"})
	done := make(chan error)
	for range 2 {
		client := w.client(t)
		client.Progress = nil
		go func() {
			_, err := client.Create(t.Context(), p)
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if pools, err := w.Pools(t.Context()); err != nil || len(pools) != 2 {
		t.Errorf("there are %d pools, %v", len(pools), err)
	}
}

func TestResize(t *testing.T) {
	w := newWorld(t)
	if _, err := w.Create(t.Context(), plan(t, parse(t, "l4"), gke.Options{Name: "gpus"})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []gke.Outcome{gke.Changed, gke.Unchanged} {
		if outcome, err := w.Resize(t.Context(), w.pool("gpus"), gke.Size{Min: 1, Max: 3}); err != nil || outcome != want {
			t.Errorf("got %s, %v, want %s", outcome, err, want)
		}
	}
	if got := gke.Limits(w.pool("gpus")); got != (gke.Size{Min: 1, Max: 3}) {
		t.Errorf("the limits are %+v", got)
	}
}

func TestLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		pool *container.NodePool
		want gke.Size
	}{
		"of each zone": {&container.NodePool{Locations: []string{"a", "b"}, Autoscaling: &container.NodePoolAutoscaling{Enabled: true, MinNodeCount: 1, MaxNodeCount: 4}}, gke.Size{Min: 2, Max: 8}},
		"in total":     {&container.NodePool{Locations: []string{"a", "b"}, Autoscaling: &container.NodePoolAutoscaling{Enabled: true, TotalMaxNodeCount: 4}}, gke.Size{Max: 4}},
		"fixed":        {&container.NodePool{Locations: []string{"a", "b"}, InitialNodeCount: 3}, gke.Size{Min: 6, Max: 6}},
	} {
		if got := gke.Limits(tt.pool); got != tt.want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	if outcome, err := w.Delete(t.Context(), "none"); err != nil || outcome != gke.Unchanged {
		t.Errorf("got %s, %v", outcome, err)
	}
	if _, err := w.Create(t.Context(), plan(t, parse(t, "tpu7x-2x2x2"), gke.Options{Cluster: theCluster, Name: "iron"})); err != nil {
		t.Fatal(err)
	}
	w.ForgetCalls()
	if outcome, err := w.Delete(t.Context(), "iron"); err != nil || outcome != gke.Removed {
		t.Errorf("got %s, %v", outcome, err)
	}
	want := []string{"DELETE container/v1/projects/acme/locations/us-central1-a/clusters/main/nodePools/iron",
		"DELETE compute/compute/v1/projects/acme/regions/us-central1/resourcePolicies/iron-9cf41e50"}
	if got := w.Changes(); !slices.Equal(got, want) {
		t.Errorf("made %q", got)
	}
	w.FailOperation(gcptest.OperationFault{Kind: "DELETE_NODE_POOL", Error: &gcptest.Error{Code: http.StatusNotFound, Message: "Not found: the instance group."}})
	if outcome, err := w.Delete(t.Context(), "default-pool"); err == nil || w.pool("default-pool") == nil {
		t.Errorf("an operation that has failed: got %s, %v", outcome, err)
	}
	w.Deny("container.clusters.update")
	if _, err := w.Delete(t.Context(), "default-pool"); err == nil || !strings.HasPrefix(err.Error(), "removing node pool default-pool of cluster main: ") {
		t.Errorf("got %v", err)
	}
}

func TestClusters(t *testing.T) {
	w := newWorld(t)
	w.AddCluster("acme", "us-east5", &container.Cluster{Name: "second"})
	clusters, err := gke.Clusters(t.Context(), w.access, "acme")
	if err != nil || len(clusters) != 2 {
		t.Errorf("got %v, %v", clusters, err)
	}
	if _, err := gke.Clusters(t.Context(), w.access, "other"); err == nil || !strings.HasPrefix(err.Error(), "listing the clusters of project other: ") {
		t.Errorf("got %v", err)
	}
	if got, err := w.Get(t.Context()); err != nil || got.Name != "main" {
		t.Errorf("got %v, %v", got, err)
	}
	gone, err := gke.New(t.Context(), w.access, gke.Cluster{Project: "acme", Location: "us-east5-a", Name: "gone"})
	if err != nil {
		t.Fatal(err)
	}
	for want, prepare := range map[string]func(){
		"project acme has no cluster gone in us-east5-a; it has main in us-central1-a, second in us-east5": func() {},
		"project acme has no cluster gone in us-east5-a":                                                   func() { w.Deny("container.clusters.list") },
	} {
		w.Allow("container.clusters.list")
		prepare()
		var missing *gke.NoClusterError
		if _, err := gone.Get(t.Context()); !errors.As(err, &missing) || err.Error() != want || missing.Kind() != api.KindNotFound {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// A zone that does not answer may have the others.
	w.Allow("container.clusters.list")
	w.Fail(gcptest.Fault{Path: "locations/-/clusters$", Status: http.StatusOK, Body: `{"missingZones": ["us-east1-b"]}`})
	if _, err := gone.Get(t.Context()); err == nil || err.Error() != "project acme has no cluster gone in us-east5-a" {
		t.Errorf("got %v", err)
	}
}

// gcloud makes pools of tpu7x whose topology is only in their policy.
func TestTopologyOfAPolicy(t *testing.T) {
	w := newWorld(t)
	c := w.Cluster(theCluster.Project, theCluster.Location, theCluster.Name)
	w.AddPolicy(theCluster.Project, "us-central1", &compute.ResourcePolicy{Name: "iron", WorkloadPolicy: &compute.ResourcePolicyWorkloadPolicy{Type: "HIGH_THROUGHPUT", AcceleratorTopology: "2x2x2"}})
	for _, policy := range []string{"iron", "lost"} {
		c.NodePools = append(c.NodePools, &container.NodePool{Name: policy, Config: &container.NodeConfig{MachineType: "tpu7x-standard-4t"},
			PlacementPolicy: &container.PlacementPolicy{PolicyName: policy}})
	}
	pools, err := w.Pools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pools {
		a, known := gke.Shape(p)
		switch p.Name {
		case "iron":
			if !known || a.Topology != "2x2x2" || a.Hosts != 2 {
				t.Errorf("got %+v, %v", a, known)
			}
		case "lost":
			if known {
				t.Errorf("got %+v of a policy that can't be read", a)
			}
		}
	}
}
