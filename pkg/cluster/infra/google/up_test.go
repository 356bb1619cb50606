package google

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/artifactregistry/v1"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestUp(t *testing.T) {
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	w.complete(t)
	c := w.Cluster(names.Project, zone, "research")
	pool := c.NodePools[0].Config
	for what, ok := range map[string]bool{
		"workload identity":      c.WorkloadIdentityConfig.WorkloadPool == "acme.svc.id.goog",
		"FUSE driver":            c.AddonsConfig.GcsFuseCsiDriverConfig.Enabled,
		"image streaming":        pool.GcfsConfig.Enabled,
		"API of that":            slices.Contains(APIs(), "containerfilesystem.googleapis.com"),
		"nodes' role for that":   w.HasRole("projects/acme", "roles/serviceusage.serviceUsageConsumer", "serviceAccount:"+nodesEmail),
		"nodes' account":         pool.ServiceAccount == nodesEmail,
		"autoscaling profile":    c.Autoscaling.AutoscalingProfile == "OPTIMIZE_UTILIZATION",
		"private nodes":          c.NetworkConfig.DefaultEnablePrivateNodes,
		"named endpoint":         c.ControlPlaneEndpointsConfig.DnsEndpointConfig.AllowExternalTraffic,
		"Dataplane V2":           c.NetworkConfig.DatapathProvider == "ADVANCED_DATAPATH" && c.NetworkConfig.EnableMultiNetworking,
		"networks of the pool":   c.NodePools[1].NetworkConfig != nil && c.NodePools[1].NetworkConfig.AcceleratorNetworkProfile == "auto",
		"label":                  c.ResourceLabels["kubectl-kinetic"] == "research" && c.ResourceLabels["kinetic"] == "true",
		"accelerator pool":       len(c.NodePools) == 2,
		"nodes' role":            w.HasRole("projects/acme", "roles/container.defaultNodeServiceAccount", "serviceAccount:"+nodesEmail),
		"jobs' role":             w.HasRole("b/"+jobsBucket, "roles/storage.objectUser", "serviceAccount:"+jobsEmail),
		"jobs see the bucket":    w.HasRole("b/"+jobsBucket, BucketReader, "serviceAccount:"+jobsEmail),
		"builds see theirs":      w.HasRole("b/acme-kn-research-builds", BucketReader, "serviceAccount:kn-research-builds@acme.iam.gserviceaccount.com"),
		"nodes have no bucket":   !w.HasRole("b/"+jobsBucket, "roles/storage.objectUser", "serviceAccount:"+nodesEmail),
		"identity":               w.HasRole("projects/acme/serviceAccounts/"+jobsEmail, "roles/iam.workloadIdentityUser", "serviceAccount:acme.svc.id.goog[ml/kinetic]"),
		"NAT":                    len(w.Router("acme", "us-central1", "kn-research-router").Nats) == 1,
		"repository's clean-up":  len(w.Repository("projects/acme/locations/us/repositories/kn-research").CleanupPolicies) == 3,
		"bucket without objects": w.Bucket(jobsBucket).IamConfiguration.UniformBucketLevelAccess.Enabled,
	} {
		if !ok {
			t.Errorf("%s: not as it should be", what)
		}
	}
	rule := w.Bucket(jobsBucket).Lifecycle.Rule[0]
	if !slices.Equal(rule.Condition.MatchesPrefix, []string{"blobs/", "data/", "pathways/", "warm/"}) || *rule.Condition.Age != 30 {
		t.Errorf("the bucket's rule is %+v", rule.Condition)
	}
}

// A complete cluster is looked at in three round trips, and left alone.
func TestUpOnACompleteCluster(t *testing.T) {
	w := newWorld(t)
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	again := w.again(t)
	again.read(t) // which gets the token
	w.ForgetCalls()
	w.SetLatency(50 * time.Millisecond) // long enough for requests to be made at the same time
	if err := again.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	for _, call := range w.Calls() {
		if call.Method != "GET" && !strings.HasSuffix(call.Path, ":getIamPolicy") {
			t.Errorf("changed: %s", call)
		}
		if call.Depth > 3 {
			t.Errorf("%d requests deep: %s", call.Depth, call)
		}
	}
}

// older puts a cluster there as the Python package makes it.
func older(s *gcptest.Server) {
	s.SetProject("acme", func(p *gcptest.Project) {
		for _, name := range APIs() {
			p.APIs[name] = true
		}
	})
	labels := map[string]string{"goog-packaged-solution": "kinetic"}
	age := int64(30)
	everything := &storage.BucketLifecycle{Rule: []*storage.BucketLifecycleRule{{Action: &storage.BucketLifecycleRuleAction{Type: "Delete"}, Condition: &storage.BucketLifecycleRuleCondition{Age: &age}}}}
	uniform := &storage.BucketIamConfiguration{UniformBucketLevelAccess: &storage.BucketIamConfigurationUniformBucketLevelAccess{Enabled: true}}
	s.AddBucket("acme", &storage.Bucket{Name: jobsBucket, Labels: labels, Location: "US-CENTRAL1", IamConfiguration: uniform, Lifecycle: everything})
	s.AddBucket("acme", &storage.Bucket{Name: "acme-kn-research-builds", Labels: labels, Location: "US", IamConfiguration: uniform, Lifecycle: everything})
	s.AddRepository("projects/acme/locations/us/repositories/kn-research", &artifactregistry.Repository{Format: "DOCKER", Labels: labels})
	s.AddAccount("acme", "kn-research-nodes")
	s.AddAccount("acme", "kn-research-builds")
	s.AddNetwork("acme", &compute.Network{Name: "kn-research", AutoCreateSubnetworks: true})
	s.AddRouter("acme", "us-central1", "kn-research", &compute.Router{Name: "kn-research-router"})
	s.Grant("b/"+jobsBucket, "roles/storage.objectAdmin", "serviceAccount:"+nodesEmail)
	s.AddCluster("acme", zone, &container.Cluster{
		Name: "research", ResourceLabels: map[string]string{"kinetic": "true", "goog-packaged-solution": "kinetic"}, Network: "kn-research",
		ReleaseChannel:         &container.ReleaseChannel{Channel: "STABLE"},
		WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: "acme.svc.id.goog"},
		AddonsConfig:           &container.AddonsConfig{GcsFuseCsiDriverConfig: &container.GcsFuseCsiDriverConfig{}},
		Autoscaling:            &container.ClusterAutoscaling{AutoscalingProfile: "OPTIMIZE_UTILIZATION", EnableNodeAutoprovisioning: true},
		NodePools:              []*container.NodePool{{Name: "default-pool", Config: &container.NodeConfig{MachineType: "e2-standard-4", ServiceAccount: nodesEmail}}},
	})
}

func TestUpAdoptsAndReconciles(t *testing.T) {
	w := newWorld(t)
	older(w.Server)
	found := w.read(t)
	for id, state := range found {
		if state.Foreign {
			t.Errorf("%s is not taken for Python's", id)
		}
	}
	if w.cluster.Maker() != Python {
		t.Errorf("the maker is %v", w.cluster.Maker())
	}
	cluster := found[infra.ID{Kind: infra.KindCluster, Name: "research"}]
	if len(cluster.Missing) != 1 || !slices.Equal(settings(cluster.Differences), append([]string{"Cloud Storage FUSE driver"}, forGood...)) {
		t.Errorf("got %+v", cluster)
	}
	if err := w.up(t.Context(), false, quiet); err != nil {
		t.Fatal(err)
	}
	var differing []string
	for _, step := range infra.MakePlan(w.items, w.again(t).read(t), false) {
		if step.Action != infra.Fine {
			differing = append(differing, string(step.Action)+" "+step.ID.String())
		}
	}
	want := []string{"differs repository kn-research", "differs bucket " + jobsBucket, "differs bucket acme-kn-research-builds", "differs cluster research"}
	if !slices.Equal(differing, want) {
		t.Errorf("got %v, want %v", differing, want)
	}
	labels := w.Cluster("acme", zone, "research").ResourceLabels
	if labels["goog-packaged-solution"] != "kinetic" || labels["kubectl-kinetic"] != "research" {
		t.Errorf("the labels are %v", labels)
	}
	if err := w.again(t).up(t.Context(), true, quiet); err != nil {
		t.Fatal(err)
	}
	after := w.again(t)
	after.reconciled(t)
	if after.cluster.Maker() != Ours {
		t.Errorf("then the maker is %v", after.cluster.Maker())
	}
	if !w.HasRole("b/"+jobsBucket, "roles/storage.objectAdmin", "serviceAccount:"+nodesEmail) {
		t.Error("a role of others was lost")
	}
	if scaling := w.Cluster("acme", zone, "research").Autoscaling; !scaling.EnableNodeAutoprovisioning {
		t.Error("auto-provisioning was switched off")
	}
}

// One run adds what is missing, and changes what differs.
func TestReconcileCompletesAndChangesAtOnce(t *testing.T) {
	w := newWorld(t)
	older(w.Server)
	var words strings.Builder
	if err := infra.MakePlan(w.items, w.read(t), true).Write(&words); err != nil {
		t.Fatal(err)
	}
	if want := "~ cluster research: add the label kubectl-kinetic\n    Cloud Storage FUSE driver: off now, on wanted\n"; !strings.Contains(words.String(), want) {
		t.Errorf("no %q in:\n%s", want, words.String())
	}
	if err := w.up(t.Context(), true, quiet); err != nil {
		t.Fatal(err)
	}
	w.again(t).reconciled(t)
}

// Pools that are older than Workload Identity are told one by one: GKE replaces their nodes for the change.
func TestPoolsWhosePodsActAsTheNode(t *testing.T) {
	w := newWorld(t)
	older(w.Server)
	c := w.Cluster("acme", zone, "research")
	for name, mode := range map[string]string{"v6e": "GCE_METADATA", "l4": "GKE_METADATA"} {
		c.NodePools = append(c.NodePools, &container.NodePool{Name: name, Config: &container.NodeConfig{WorkloadMetadataConfig: &container.WorkloadMetadataConfig{Mode: mode}}})
	}
	told := func() string {
		var words strings.Builder
		if err := infra.MakePlan(w.items, w.read(t), true).Write(&words); err != nil {
			t.Fatal(err)
		}
		return words.String()
	}
	const want = "    metadata of node pool v6e: GCE_METADATA now, GKE_METADATA wanted; `up` does not change it; change it with: " +
		"gcloud container node-pools update v6e --cluster=research --location=us-central1-a --project=acme --workload-metadata=GKE_METADATA\n"
	if got := told(); !strings.Contains(got, want) || strings.Count(got, "metadata of node pool") != 1 {
		t.Errorf("got:\n%s", got)
	}
	c.Autopilot = &container.Autopilot{Enabled: true}
	if got := told(); strings.Contains(got, "metadata of") {
		t.Errorf("on Autopilot:\n%s", got)
	}
}

// forGood are the settings in which clusters of the Python package differ for good.
var forGood = []string{"Dataplane V2", "multi-networking", "upgrades of nodes"}

func settings(all []infra.Difference) []string {
	var names []string
	for _, d := range all {
		names = append(names, d.Setting)
	}
	return names
}

// reconciled fails the test unless nothing but that differs.
func (w *world) reconciled(t *testing.T) {
	t.Helper()
	for _, step := range infra.MakePlan(w.items, w.read(t), true) {
		if differs := settings(step.Differences); step.Action != infra.Fine && (step.Action != infra.Differs || !slices.Equal(differs, forGood)) {
			t.Errorf("%s: %s %v %v", step.ID, step.Action, step.Missing, differs)
		}
	}
}

func TestMaker(t *testing.T) {
	for name, tt := range map[string]struct {
		labels map[string]string
		want   Maker
	}{
		"ours":             {map[string]string{"kinetic": "true", "kubectl-kinetic": "research"}, Ours},
		"a copy of labels": {map[string]string{"kubectl-kinetic": "other"}, Someone},
		"Python's":         {map[string]string{"kinetic": "true", "goog-packaged-solution": "kinetic"}, Python},
		"adopted":          {map[string]string{"kinetic": "true", "goog-packaged-solution": "kinetic", "kubectl-kinetic": "research"}, Ours},
		"a team's label":   {map[string]string{"kinetic": "true", "team": "a"}, Someone},
		"without a name":   {map[string]string{"kinetic": "true", "app-kubernetes-io-managed-by": "kubectl-kinetic"}, Someone},
		"someone's":        {nil, Someone},
	} {
		c := &Cluster{last: &container.Cluster{Name: "research", ResourceLabels: tt.labels}}
		if got := c.Maker(); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
	if got := (&Cluster{}).Maker(); got != Nobody {
		t.Errorf("without a cluster: got %v", got)
	}
}

func TestDown(t *testing.T) {
	for name, data := range map[string]bool{"without data": false, "with data": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if err := w.up(t.Context(), false, quiet); err != nil {
				t.Fatal(err)
			}
			w.AddFirewall("acme", "kn-research", "gke-research-1f3c-all")
			w.AddFirewall("acme", "other", "gke-other-1f3c-all")
			for _, object := range []string{"blobs/sha256/ab/abc", "cpu-train/handle.json", "cpu-train/result.json"} {
				w.AddObject(jobsBucket, object, 10)
			}
			for range 2 {
				d := connect(t, w.Server, infra.Wanted{Names: names, DeleteData: data})
				if err := infra.Remove(t.Context(), d.list, infra.PlanRemoval(d.items, d.read(t), false), quiet); err != nil {
					t.Fatal(err)
				}
			}
			if w.Cluster("acme", zone, "research") != nil || w.Network("acme", "kn-research") != nil || w.Repository("projects/acme/locations/us/repositories/kn-research") != nil || w.HasAccount(jobsEmail) {
				t.Error("something is still there")
			}
			if got := w.Bucket(jobsBucket) == nil; got != data {
				t.Errorf("the bucket is gone: %v", got)
			}
			if left := w.Policy("projects/acme").Bindings; len(left) > 0 {
				t.Errorf("the project's policy still has %+v", left[0])
			}
		})
	}
}
