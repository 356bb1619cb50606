package stack_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"google.golang.org/api/container/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/up"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestUp(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "v6e-8").check(t, 0, "+ cluster research: in us-central1-a, 1 to 5 nodes of e2-standard-4", "+ node pool tpu-v6e-2x4-",
		"baseline cost: $", "cluster $73", "created     cluster research", "ready       profile research, context gke_acme_us-central1-a_research")
	account := w.kubernetes.Object("/api/v1/namespaces/ml/serviceaccounts/kinetic")
	if account == nil || !strings.Contains(toJSON(t, account), "kn-research-jobs@acme.iam.gserviceaccount.com") {
		t.Errorf("the service account is %v", account)
	}
	config, err := clientcmd.LoadFromFile(w.kubeconfig)
	if err != nil || config.Contexts["gke_acme_us-central1-a_research"] == nil || config.CurrentContext != "" {
		t.Errorf("the kubeconfig is %+v, %v", config, err)
	}
	profiles, err := os.ReadFile(w.profiles)
	if err != nil || !strings.Contains(string(profiles), `"namespace": "ml"`) {
		t.Errorf("the profiles are %s, %v", profiles, err)
	}
	changes := len(w.Changes())
	again := w.up(t, "--accelerator", "v6e-8")
	again.check(t, 0, ": 0 to create, ", "= cluster research")
	for _, change := range w.Changes()[changes:] {
		if !strings.HasSuffix(change, ":getIamPolicy") {
			t.Errorf("a second time: %s", change)
		}
	}
	if again.out != "" {
		t.Errorf("on stdout: %s", again.out)
	}
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDryRunChangesNothing(t *testing.T) {
	w := newWorld(t)
	for _, flag := range []string{"--dry-run", "--dry-run=client"} {
		w.up(t, flag).check(t, 0, "+ network kn-research", "list prices, ")
	}
	w.up(t, "--dry-run=none").check(t, 2, "confirm with --yes")
	r := w.up(t, "--dry-run", "-o", "json", "--autopilot")
	r.check(t, 0)
	var plan struct {
		Zone string
		Plan []struct {
			Resource struct{ Kind, Name string }
			Action   string
		}
		ListPrice struct{ PerMonth float64 }
	}
	if err := json.Unmarshal([]byte(r.out), &plan); err != nil {
		t.Fatalf("%v in:\n%s", err, r.out)
	}
	if plan.Zone != "us-central1" || len(plan.Plan) < 15 || plan.ListPrice.PerMonth < 50 {
		t.Errorf("got %+v", plan)
	}
	for _, change := range w.Changes() {
		if !strings.HasSuffix(change, ":getIamPolicy") {
			t.Errorf("changed: %s", change)
		}
	}
}

func TestUpAsksFirst(t *testing.T) {
	w := newWorld(t)
	w.up(t).check(t, 2, "stdin is not a terminal: confirm with --yes")
	if w.Network("acme", "kn-research") != nil {
		t.Error("something was created")
	}
}

func TestUpLeavesClustersOfOthersAlone(t *testing.T) {
	w := newWorld(t)
	w.other(nil)
	w.up(t, "--yes").check(t, 2, "was not made by `kubectl kinetic up`", "--force")
	w.up(t, "--yes", "--force").check(t, 0, "~ cluster research (not made by `kubectl kinetic up`)", "Cloud Storage FUSE driver: off now, on wanted")
	if labels := w.Cluster("acme", zone, "research").ResourceLabels; len(labels) > 0 {
		t.Errorf("the labels are %v", labels)
	}
	w.down(t, "--yes=research").check(t, 2, "was not made by `kubectl kinetic up`")
	if w.Cluster("acme", zone, "research") == nil {
		t.Error("the cluster was deleted")
	}
}

// Without Workload Identity no pod can use the store: nothing is made first.
func TestUpRefusesAClusterWithoutWorkloadIdentity(t *testing.T) {
	w := newWorld(t)
	w.other(nil)
	w.Cluster("acme", zone, "research").WorkloadIdentityConfig = nil
	before := len(w.Changes())
	for _, flag := range []string{"--yes", "--reconcile", "--dry-run"} {
		w.up(t, "--force", flag).check(t, 2, "cluster research has no Workload Identity, so no pod could act as the service account of jobs: enable it first with: "+
			"gcloud container clusters update research --location=us-central1-a --project=acme --workload-pool=acme.svc.id.goog")
	}
	w.unchanged(t, before)

	ours := newWorld(t)
	ours.up(t, "--yes").check(t, 0)
	ours.Cluster("acme", zone, "research").WorkloadIdentityConfig = nil
	before = len(ours.Changes())
	ours.up(t, "--yes").check(t, 2, "cluster research has no Workload Identity", "enable it with --reconcile")
	ours.unchanged(t, before)
	ours.up(t, "--yes", "--reconcile").check(t, 0, "changed     cluster research")
}

func TestUpRefusesASecondClusterOfTheName(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	before := len(w.Changes())
	w.up(t, "--yes", "--force", "--zone", "us-east1-b", "--profile-name", "other").check(t, 2, "project acme has a cluster research in us-central1-a already", "--zone us-central1-a, or choose another name")
	w.up(t, "--yes", "--autopilot", "--profile-name", "other").check(t, 2, "--zone us-central1-a without --autopilot")
	w.unchanged(t, before)
}

// A cluster of another name may use the network of a cluster that exists, but not that of a new one.
func TestUpRefusesANetworkThatIsInUse(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.AddCluster("acme", "us-east1-b", &container.Cluster{Name: "other", Network: "kn-research"})
	w.up(t, "--yes").check(t, 0)
	w.RemoveCluster("acme", zone, "research")
	before := len(w.Changes())
	w.up(t, "--yes", "--force").check(t, 2, "cluster other in us-east1-b of project acme uses the network")
	w.unchanged(t, before)
}

// On such nodes jobs would act as the node: a cluster that looks ready would not be.
func TestUpTellsOfPoolsWhosePodsActAsTheNode(t *testing.T) {
	w := newWorld(t)
	w.other(nil)
	c := w.Cluster("acme", zone, "research")
	c.NodePools = []*container.NodePool{{Name: "gpus", Config: &container.NodeConfig{WorkloadMetadataConfig: &container.WorkloadMetadataConfig{Mode: "GCE_METADATA"}}}}
	const how = "gcloud container node-pools update gpus --cluster=research --location=us-central1-a --project=acme --workload-metadata=GKE_METADATA"
	w.up(t, "--force", "--dry-run").check(t, 0, "metadata of node pool gpus: GCE_METADATA now, GKE_METADATA wanted", how)
	w.up(t, "--force", "--yes", "--reconcile").check(t, 0, "warning: --reconcile does not change cluster research: metadata of node pool gpus: GCE_METADATA now, GKE_METADATA wanted; change it with: "+how)
}

// The pools of the Python package end every job after a day.
func TestUpTellsOfNodesWithALifetimeBeforeItAdoptsThem(t *testing.T) {
	for maker, tt := range map[string]struct {
		labels map[string]string
		args   []string
	}{
		"the Python package": {map[string]string{"kinetic": "true", "goog-packaged-solution": "kinetic"}, nil},
		"someone":            {nil, []string{"--force"}},
	} {
		t.Run(maker, func(t *testing.T) {
			w := newWorld(t)
			w.other(tt.labels)
			c := w.Cluster("acme", zone, "research")
			c.NodePools = []*container.NodePool{{Name: "v6e", Config: &container.NodeConfig{MaxRunDuration: "86400s"}}}
			w.up(t, tt.args...).check(t, 2, "warning: GKE deletes the nodes of v6e 24h after their start, with the jobs on them; ", "kubectl kinetic pool remove v6e --project acme --zone us-central1-a --cluster research", "confirm with --yes")
			c.Autopilot = &container.Autopilot{Enabled: true}
			if r := w.up(t, tt.args...); strings.Contains(r.err, "GKE deletes the nodes") {
				t.Errorf("also of GKE's own pools:\n%s", r.err)
			}
			c.Autopilot, c.NodePools[0].Config.MaxRunDuration = nil, ""
			if r := w.up(t, tt.args...); strings.Contains(r.err, "GKE deletes the nodes") {
				t.Errorf("also without a limit:\n%s", r.err)
			}
		})
	}
}

// A cluster in another network needs none of ours.
func TestUpCreatesNoNetworkForAClusterThatHasOne(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["container.googleapis.com"] = true })
	w.AddCluster("acme", zone, &container.Cluster{Name: "research", Network: "default",
		WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: "acme.svc.id.goog"}})
	w.up(t, "--yes", "--force").check(t, 0, "ready")
	if w.Network("acme", "kn-research") != nil {
		t.Error("a network was created")
	}
}

func TestUpAdoptsThoseOfThePythonPackage(t *testing.T) {
	w := newWorld(t)
	w.other(map[string]string{"kinetic": "true", "goog-packaged-solution": "kinetic"})
	w.Cluster("acme", zone, "research").ReleaseChannel = &container.ReleaseChannel{Channel: "STABLE"}
	w.up(t, "--yes").check(t, 0, "its Pulumi state in gs://acme-kinetic-state will be out of date", "add the label kubectl-kinetic",
		"pulumi login gs://acme-kinetic-state && pulumi stack rm organization/kinetic/acme-research --force",
		"cluster research stays in the release channel STABLE; new clusters are in REGULAR",
		"Dataplane V2: off now, on wanted; it can't be changed while it exists", "upgrades of nodes: at any time now")
	w.down(t, "--yes=research").check(t, 0)
}

func TestUpRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"networks for no address": {[]string{"--private", "--authorized-networks", "203.0.113.0/24"}, "--authorized-networks 203.0.113.0/24 cannot be combined with --private"},
		"a network that is none":  {[]string{"--authorized-networks", "office"}, `--authorized-networks: "office": expected a network such as 203.0.113.0/24`},
		"an address in a network": {[]string{"--authorized-networks", "203.0.113.7/24"}, `"203.0.113.7/24" is not a network address: use 203.0.113.0/24`},
		"a subnet of no network":  {[]string{"--subnetwork", "jobs"}, "--subnetwork needs --network: add it, or omit --subnetwork"},
		"a range of no network":   {[]string{"--cluster-secondary-range-name", "pods"}, "--cluster-secondary-range-name needs --network"},
		"a network's wrong name":  {[]string{"--network", "a/b"}, "--network a/b: expected the name of a network"},
		"an unknown accelerator":  {[]string{"--accelerator", "v6x-8"}, "v6x"},
		"half a slice":            {[]string{"--accelerator", "v6e-4x4", "--min-nodes", "2"}, "use 0 or 4"},
		"pools on Autopilot":      {[]string{"--accelerator", "l4", "--autopilot"}, "omit --accelerator or --autopilot"},
		"spot without pools":      {[]string{"--spot"}, "--spot is about the node pools of --accelerator, and there is none"},
		"a minimum without pools": {[]string{"--min-nodes", "1"}, "--min-nodes is about the node pools of --accelerator, and there is none"},
		"machines on Autopilot":   {[]string{"--machine-type", "e2-standard-8", "--autopilot"}, "omit --machine-type or --autopilot"},
		"limits on Autopilot":     {[]string{"--max-nodes", "3", "--autopilot"}, "omit --max-nodes or --autopilot"},
		"spot on Autopilot":       {[]string{"--spot", "--autopilot"}, "omit --spot or --autopilot"},
		"a profile's wrong name":  {[]string{"--profile-name", "a b"}, "--profile-name: "},
		"a long name":             {[]string{"--cluster", strings.Repeat("c", 41)}, "at most 40"},
		"an unknown format":       {[]string{"-o", "xml"}, "one of json, yaml"},
		"an argument":             {[]string{"research"}, "name the cluster with --cluster"},
		"a dry-run by a server":   {[]string{"--dry-run=server"}, `--dry-run "server": expected one of none, client; Google Cloud can't check a request without carrying it out`},
		"a queue without =":       {[]string{"--kueue", "team"}, `up takes no argument, got "team": to set --kueue, write --kueue=team; to name a cluster, use --cluster`},
		"a queue's wrong name":    {[]string{"--kueue=Q q", "--dry-run"}, `--kueue "Q q": `},
		"--yes of down":           {[]string{"--yes=research"}, "--yes=research: --yes of up takes no value: use --yes alone; a cluster is named with --cluster"},
		"two flags without =":     {[]string{"--kueue", "--dry-run", "server"}, `up takes no argument, got "server": name the cluster with --cluster`},
		"a dry-run without =":     {[]string{"--dry-run", "client"}, `to set --dry-run, write --dry-run=client; to name a cluster, use --cluster`},
		"no dry-run of that kind": {[]string{"--dry-run=clint"}, `did you mean "client"?`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.up(t, tt.args...).check(t, 2, tt.want)
			if calls := w.Calls(); len(calls) > 0 {
				t.Errorf("contacted: %v", calls[0])
			}
		})
	}
}

func TestClusterThatVanishes(t *testing.T) {
	w := newWorld(t)
	w.Fail(gcptest.Fault{Method: http.MethodGet, Path: "clusters/research$", After: 2, Times: 100, Status: http.StatusNotFound,
		Message: "Not found: projects/acme/locations/us-central1-a/clusters/research."}) // once it was created
	w.up(t, "--yes").check(t, 1, "cluster research in us-central1-a of project acme was deleted in the meantime")
}

// All requests fail for the same reason, which is said once.
func TestUpInAProjectThatDoesNotExist(t *testing.T) {
	w := newWorld(t)
	r := w.up(t, "--yes", "--project", "nosuch")
	r.check(t, 1, "project nosuch doesn't exist, or admin@acme.iam.gserviceaccount.com may not use it", "list those that you may use with: gcloud projects list")
	if n := strings.Count(r.err, "may not use it"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, r.err)
	}
}

func TestUpLeavesProfilesOfOtherClustersAlone(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0, "ready       profile research")
	calls := len(w.Calls())
	for _, args := range [][]string{{"--yes", "--project", "other", "--reconcile"}, {"--cluster", "second", "--profile-name", "research"}} {
		w.up(t, args...).check(t, 2, "profile research is for cluster research in us-central1-a of project acme: choose another name with --profile-name, or remove that one with: kubectl kinetic profile rm research")
	}
	if len(w.Calls()) > calls {
		t.Errorf("contacted: %v", w.Calls()[calls])
	}
	w.up(t, "--yes", "--cluster", "second").check(t, 0, "ready       profile second")
}

// The profile of a cluster that is gone, in another zone, has the name.
func TestUpLeavesAnOldProfileAlone(t *testing.T) {
	w := newWorld(t)
	old := `{"profiles": {"research": {"project": "acme", "zone": "us-east5-a", "cluster": "research", "namespace": "default"}}}`
	if err := os.WriteFile(w.profiles, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	w.up(t, "--yes").check(t, 2, "profile research is for cluster research in us-east5-a of project acme: choose another name with --profile-name")
	if w.Network("acme", "kn-research") != nil {
		t.Error("something was created")
	}
}

func TestUpWithoutBilling(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.Billing = false })
	w.up(t, "--yes").check(t, 2, "gcloud billing projects link acme")
}

func TestInterruptedUpContinues(t *testing.T) {
	w := newWorld(t)
	ctx, interrupt := context.WithCancel(t.Context())
	r := w.command(ctx, up.NewCommand, func(text string) {
		if strings.Contains(text, "network kn-research") && strings.Contains(text, "created") {
			interrupt()
		}
	}, []string{"--yes"})
	r.check(t, 130)
	w.up(t, "--yes").check(t, 0, "ready")
}

func TestFailureInTheCluster(t *testing.T) {
	w := newWorld(t)
	w.kubernetes.Before(func(method, path string) (int, string) {
		if method == http.MethodPatch && strings.HasSuffix(path, "/serviceaccounts/kinetic") {
			return http.StatusForbidden, `serviceaccounts "kinetic" is forbidden: User "me" cannot patch resource "serviceaccounts"`
		}
		return 0, ""
	})
	w.up(t, "--yes").check(t, 1, "error: writing ServiceAccount kinetic in namespace ml: ", "roles/container.admin", "not tried: profile research")
	if _, err := os.Stat(w.profiles); err == nil {
		t.Error("a profile was written, although no job can run")
	}
	w.kubernetes.Before(nil)
	w.up(t, "--yes").check(t, 0, "ready")
}
