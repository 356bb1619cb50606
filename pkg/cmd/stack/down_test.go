package stack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/down"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestDown(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "l4").check(t, 0)
	w.AddObject("acme-kn-research-jobs", "cpu-train/result.json", 10)
	w.down(t).check(t, 2, "- cluster research", "- node pool default-pool: 1 to 5 nodes of e2-standard-4\n", "- node pool gpu-l4-1-4197: 0 to 10 nodes of g2-standard-4\n", "= bucket acme-kn-research-jobs stays", "confirm with --yes=research")
	w.down(t, "--yes=other").check(t, 2, "confirm with --yes=research")
	r := w.down(t, "--yes=research")
	r.check(t, 0, "deleted     cluster research", "deleted     network kn-research")
	if n := strings.Count(r.err, "\n- "); !strings.Contains(r.err, fmt.Sprintf(": %d to delete, ", n)) {
		t.Errorf("%d are listed:\n%s", n, r.err)
	}
	if w.Cluster("acme", zone, "research") != nil || w.Bucket("acme-kn-research-jobs") == nil {
		t.Error("the cluster is still there, or the bucket is gone")
	}
	profiles, err := os.ReadFile(w.profiles)
	if err != nil || strings.Contains(string(profiles), "research") {
		t.Errorf("the profiles are %s, %v", profiles, err)
	}
	w.down(t, "--yes=research", "--delete-data").check(t, 0, "deleted     bucket acme-kn-research-jobs")
	w.down(t).check(t, 0, "there is nothing to delete")
}

// The slices of some accelerators have a placement policy, which GKE leaves behind. A policy of someone
// else may be used by a node pool, and stays.
func TestDownDeletesPlacementPolicies(t *testing.T) {
	for name, interrupted := range map[string]bool{"at once": false, "after an interruption": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.up(t, "--yes", "--accelerator", "tpu7x-2x2x2").check(t, 0)
			w.AddPolicy("acme", "us-central1", &compute.ResourcePolicy{Name: "team", Description: "of our team"})
			pools := w.Cluster("acme", zone, "research").NodePools
			pools[0].PlacementPolicy = &container.PlacementPolicy{PolicyName: "team"}
			policy := pools[1].PlacementPolicy.PolicyName
			if w.ResourcePolicy("acme", "us-central1", policy) == nil {
				t.Fatalf("there is no policy %q", policy)
			}
			if interrupted {
				w.Fail(gcptest.Fault{Method: http.MethodDelete, Path: "resourcePolicies", Status: http.StatusTeapot})
				w.down(t, "--yes=research").check(t, 1, "deleting placement policies of cluster research: ")
			}
			w.down(t, "--yes=research").check(t, 0, "- placement policies of cluster research: "+policy)
			if w.ResourcePolicy("acme", "us-central1", policy) != nil {
				t.Error("the policy is still there")
			}
			if w.ResourcePolicy("acme", "us-central1", "team") == nil {
				t.Error("the policy of someone else was deleted")
			}
		})
	}
}

// In earlier versions, pools of the same shape in two clusters of a region had the same policy.
func TestDownLeavesAPolicyThatAnotherClusterUses(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "tpu7x-2x2x2").check(t, 0)
	first := w.Cluster("acme", zone, "research").NodePools[1].PlacementPolicy
	w.up(t, "--yes", "--accelerator", "tpu7x-2x2x2", "--cluster", "second").check(t, 0)
	second := w.Cluster("acme", zone, "second").NodePools[1].PlacementPolicy
	if first.PolicyName == second.PolicyName {
		t.Errorf("both clusters have the policy %s", first.PolicyName)
	}
	second.PolicyName = first.PolicyName
	w.down(t, "--yes=research").check(t, 0)
	if w.ResourcePolicy("acme", "us-central1", first.PolicyName) == nil {
		t.Error("the policy was deleted")
	}
}

// Who may not list the policies may still have some: a colleague can have added the node pools.
func TestDownSaysThatPoliciesAreNotKnown(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "tpu7x-2x2x2").check(t, 0)
	policy := w.Cluster("acme", zone, "research").NodePools[1].PlacementPolicy.PolicyName
	w.Deny("compute.resourcePolicies.list")
	w.down(t, "--yes=research").check(t, 0, "= placement policies of cluster research stays: whether there are any is not known: ",
		"needs the permission compute.resourcePolicies.list in project acme", "--role=roles/compute.instanceAdmin.v1")
	w.Allow("compute.resourcePolicies.list")
	w.down(t, "--yes=research").check(t, 0, "- placement policies of cluster research: "+policy)
	if w.ResourcePolicy("acme", "us-central1", policy) != nil {
		t.Error("the policy is still there")
	}
}

func TestDownDryRun(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	before := len(w.Changes())
	w.down(t, "--dry-run=server").check(t, 2, `--dry-run "server": expected one of none, client; Google Cloud can't`)
	w.down(t, "--dry-run=none").check(t, 2, "confirm with --yes=research")
	w.down(t, "--dry-run=client").check(t, 0, "- cluster research")
	w.down(t, "--yes").check(t, 2, "--yes needs the name of the cluster: --yes=NAME")
	r := w.down(t, "--dry-run", "-o", "json")
	r.check(t, 0)
	var plan struct {
		Plan []struct{ Action string }
	}
	if err := json.Unmarshal([]byte(r.out), &plan); err != nil || len(plan.Plan) == 0 {
		t.Errorf("%v in:\n%s", err, r.out)
	}
	w.unchanged(t, before)
}

// An up that was cut off is taken down.
func TestDownAfterHalfAnUp(t *testing.T) {
	w := newWorld(t)
	w.FailOperation(gcptest.OperationFault{Kind: "CREATE_CLUSTER", Error: &gcptest.Error{Code: 500, Message: "Internal error."}})
	w.up(t, "--yes").check(t, 1, "creating cluster research: ")
	w.up(t, "--yes").check(t, 1, "its status is ERROR", "kubectl kinetic down --project acme --zone us-central1-a --cluster research")
	w.down(t, "--yes=research").check(t, 0)
	if w.Cluster("acme", zone, "research") != nil || w.Network("acme", "kn-research") != nil {
		t.Error("something is still there")
	}
	w.up(t, "--yes").check(t, 0, "ready")
}

func TestDownRefusesWhileJobsRunOrWait(t *testing.T) {
	id := "cpu-train-20261122-060000-abc1234"
	labels := map[string]any{"app": "kinetic", "job-id": id}
	pod := func(node, phase string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "kinetic-" + id + "-x", "namespace": "ml", "labels": labels},
			"spec": map[string]any{"nodeName": node}, "status": map[string]any{"phase": phase}}
	}
	for name, tt := range map[string]struct {
		pod       map[string]any
		condition string // of the Job
		cluster   string // its status
		refused   bool
	}{
		"running":                      {pod("node-1", "Running"), "", "RUNNING", true},
		"while GKE changes something":  {pod("node-1", "Running"), "", "RECONCILING", true},
		"while nodes are missing":      {pod("node-1", "Running"), "", "DEGRADED", true},
		"without a node":               {pod("", "Pending"), "", "RUNNING", true},
		"in a queue":                   {nil, "Suspended", "RUNNING", true},
		"ended":                        {pod("node-1", "Succeeded"), "Complete", "RUNNING", false},
		"in a cluster that is not one": {pod("node-1", "Running"), "", "ERROR", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.up(t, "--yes").check(t, 0)
			w.kubernetes.Put("/apis/batch/v1/namespaces/ml/jobs/kinetic-"+id, map[string]any{"apiVersion": "batch/v1", "kind": "Job",
				"metadata": map[string]any{"name": "kinetic-" + id, "namespace": "ml", "labels": labels, "creationTimestamp": "2026-11-22T06:00:00Z"},
				"spec":     map[string]any{"suspend": tt.condition == "Suspended"},
				"status":   map[string]any{"conditions": []any{map[string]any{"type": tt.condition, "status": "True"}}}})
			if tt.pod != nil {
				w.kubernetes.Put("/api/v1/namespaces/ml/pods/kinetic-"+id+"-x", tt.pod)
			}
			w.SetClusterStatus("acme", zone, "research", tt.cluster)
			if !tt.refused {
				w.down(t, "--yes=research").check(t, 0, "deleted     cluster research")
				return
			}
			w.down(t, "--yes=research").check(t, 2, "cluster research has 1 unfinished job: "+id, "--force")
			if w.Cluster("acme", zone, "research") == nil {
				t.Error("the cluster was deleted")
			}
			w.down(t, "--yes=research", "--force").check(t, 0, "deleted     cluster research")
		})
	}
}

// Volumes of failed jobs outlive their cluster, and are paid.
func TestDownNamesTheDisksThatGKEMayLeave(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.volume("pvc-1", "acme/zones/us-central1-a", "Delete")
	w.volume("pvc-2", "acme/zones/us-central1-a", "Delete")
	w.volume("pvc-3", "acme/regions/us-central1", "Delete")
	w.volume("pvc-4", "acme/zones/us-central1-a", "Retain")
	w.volume("pvc-5", "other/zones/us-central1-a", "Delete")
	planned := []string{
		"= disk pvc-1 may stay: 500Gi in us-central1-a, of claim ml/job-pvc-1: GKE does not always delete it with the cluster, and it costs money until it is gone; delete it afterwards with: gcloud compute disks delete pvc-1 --zone=us-central1-a --project=acme\n",
		"gcloud compute disks delete pvc-3 --region=us-central1 --project=acme\n", "of claim ml/job-pvc-4: its reclaim policy is Retain"}
	w.down(t).check(t, 2, planned...)
	w.down(t, "--dry-run", "-o", "json").check(t, 0, `"kind": "disk",`, `"action": "may stay",`)
	w.down(t, "--yes=research").check(t, 0, append(planned, "delete them with: gcloud compute disks delete pvc-1 pvc-2 --zone=us-central1-a --project=acme\n",
		"delete them with: gcloud compute disks delete pvc-3 --region=us-central1 --project=acme\n",
		"delete them with: gcloud compute disks delete pvc-5 --zone=us-central1-a --project=other\n")...)
	if r := w.down(t, "--yes=research"); strings.Contains(r.err, "disk") {
		t.Errorf("of a cluster that is gone:\n%s", r.err)
	}
}

// volume adds a volume whose disk is in a project and a zone or region.
func (w *world) volume(name, where, policy string) {
	w.kubernetes.Put("/api/v1/persistentvolumes/"+name, map[string]any{"apiVersion": "v1", "kind": "PersistentVolume",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{"pv.kubernetes.io/provisioned-by": "pd.csi.storage.gke.io"}},
		"spec": map[string]any{"capacity": map[string]any{"storage": "500Gi"}, "claimRef": map[string]any{"namespace": "ml", "name": "job-" + name},
			"persistentVolumeReclaimPolicy": policy, "csi": map[string]any{"driver": "pd.csi.storage.gke.io", "volumeHandle": "projects/" + where + "/disks/" + name}}})
}

// The next run can't ask a cluster that is being deleted for its volumes.
func TestDownNamesTheDisksIfItFails(t *testing.T) {
	const command = "gcloud compute disks delete pvc-1 --zone=us-central1-a --project=acme\n"
	const note = "delete them with: " + command
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.volume("pvc-1", "acme/zones/us-central1-a", "Delete")
	w.Fail(gcptest.Fault{Method: http.MethodDelete, Path: "/clusters/research$", Status: http.StatusForbidden})
	if r := w.down(t, "--yes=research"); r.code != 1 || strings.Contains(r.err, note) {
		t.Errorf("exit code %d, the cluster is still there:\n%s", r.code, r.err)
	}
	w.Fail(gcptest.Fault{Method: http.MethodDelete, Path: "/clusters/research$", Status: http.StatusOK, Body: "<html>"})
	w.down(t, "--yes=research").check(t, 1, "once the cluster is gone, "+note)
	w.FailOperation(gcptest.OperationFault{Kind: "DELETE_CLUSTER", Error: &gcptest.Error{Code: http.StatusServiceUnavailable, Message: "later"}})
	w.down(t, "--yes=research").check(t, 1, "once the cluster is gone, "+note)
}

// A cluster that can't be reached is deleted all the same.
func TestDownSaysThatDisksAreNotKnown(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.kubernetes.Close()
	w.down(t, "--yes=research", "--force").check(t, 0, "warning: can't list the disks of volumes: listing PersistentVolume: ",
		"gcloud compute disks list --project=acme --filter='name~^pvc- AND -users:*'", "deleted     cluster research")
}

// Jobs on several hosts that may not be listed could run.
func TestDownRefusesWhenJobsCannotBeSeen(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.kubernetes.Before(func(method, path string) (int, string) {
		if strings.HasSuffix(path, "/leaderworkersets") {
			return http.StatusForbidden, "leaderworkersets is forbidden"
		}
		return 0, ""
	})
	w.down(t, "--yes=research").check(t, 1, "looking for jobs in cluster research: ", "to delete it without looking, use --force")
	w.down(t, "--yes=research", "--force").check(t, 0, "deleted     cluster research")
}

func TestDownRefusesClustersOfOthers(t *testing.T) {
	for name, labels := range map[string]map[string]string{
		"of a team":             {"kinetic": "true", "team": "a"},
		"of the Python package": {"kinetic": "true", "goog-packaged-solution": "kinetic"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.other(labels)
			w.down(t, "--yes=research").check(t, 2, "was not made by `kubectl kinetic up`", "--force")
			w.down(t, "--yes=research", "--force").check(t, 0, "deleted     cluster research")
		})
	}
}

// A label that anyone may choose doesn't say that up may take the cluster, and so down delete it.
func TestUpRefusesAClusterThatATeamLabelled(t *testing.T) {
	w := newWorld(t)
	w.other(map[string]string{"kinetic": "true", "team": "a"})
	w.up(t, "--yes").check(t, 2, "was not made by `kubectl kinetic up`")
}

// What belongs to a cluster has no location in its name, and must not be deleted from another one.
func TestDownRefusesTheWrongLocation(t *testing.T) {
	for name, tt := range map[string]struct{ up, down []string }{
		"Autopilot":    {[]string{"--autopilot"}, nil},
		"another zone": {nil, []string{"--zone", "us-east1-b"}},
		"by force":     {nil, []string{"--zone", "us-east1-b", "--force"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.up(t, append(tt.up, "--yes")...).check(t, 0)
			location := zone
			if tt.up != nil {
				location = "us-central1"
			}
			before := len(w.Changes())
			w.down(t, append(tt.down, "--yes=research")...).check(t, 2, "there is no cluster research in ", "use --zone "+location)
			w.unchanged(t, before)
			w.down(t, "--zone", location, "--yes=research").check(t, 0, "deleted     cluster research")
		})
	}
}

func TestDownRefusesWhatAnotherClusterUses(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.AddCluster("acme", "us-east1-b", &container.Cluster{Name: "other", Network: "kn-research"})
	before := len(w.Changes())
	w.down(t, "--zone", "us-west1-b", "--yes=research").check(t, 2, "there is one in us-central1-a: use --zone us-central1-a")
	w.down(t, "--yes=research", "--force").check(t, 2, "cluster other in us-east1-b of project acme uses",
		"gcloud container clusters delete research --location=us-central1-a --project=acme")
	w.unchanged(t, before)
}

func TestInterruptedDown(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	ctx, interrupt := context.WithCancel(t.Context())
	r := w.command(ctx, down.NewCommand, func(text string) {
		if strings.Contains(text, "deleted     repository kn-research") {
			interrupt()
		}
	}, []string{"--yes=research", "--delete-data"})
	r.check(t, 130, "continue with: kubectl kinetic down --project acme --zone us-central1-a --cluster research --delete-data")
	if profiles, err := os.ReadFile(w.profiles); err != nil || !strings.Contains(string(profiles), "research") {
		t.Errorf("the profiles are %s, %v", profiles, err)
	}
	t.Setenv("KINETIC_CLUSTER", "") // the profile says it
	w.down(t, "--yes=research", "--delete-data").check(t, 0, "deleted     profile research")
	if w.Cluster("acme", zone, "research") != nil || w.Bucket("acme-kn-research-jobs") != nil {
		t.Error("something is still there")
	}
}

// The profile may have been changed to name another cluster.
func TestDownKeepsTheProfileOfAnotherCluster(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.up(t, "--yes", "--cluster", "other", "--profile-name", "prod").check(t, 0)
	r := w.down(t, "--yes=research", "--profile-name", "prod", "--force")
	r.check(t, 0, "= profile prod stays: it is of cluster other in us-central1-a of project acme")
	if strings.Contains(r.err, "deleted     profile") || strings.Contains(r.err, "- profile") {
		t.Errorf("it says that the profile is deleted:\n%s", r.err)
	}
	if profiles, err := os.ReadFile(w.profiles); err != nil || !strings.Contains(string(profiles), "prod") {
		t.Errorf("the profiles are %s, %v", profiles, err)
	}
}

// Without a cluster, down has nothing to do, and status nothing to say.
func TestDownOfNothing(t *testing.T) {
	w := newWorld(t)
	w.down(t).check(t, 0, "there is nothing to delete")
	r := w.down(t, "-o", "json")
	r.check(t, 0)
	var plan struct {
		Cluster string
		Plan    []struct{ Action string }
	}
	if err := json.Unmarshal([]byte(r.out), &plan); err != nil || plan.Cluster != "research" || len(plan.Plan) == 0 {
		t.Errorf("%v in:\n%s", err, r.out)
	}
	w.status(t).check(t, 1, "there is no cluster research")
}

// A network of our name that someone else has made is used, but it stays.
func TestDownLeavesANetworkOfOthers(t *testing.T) {
	w := newWorld(t)
	w.SetProject("acme", func(p *gcptest.Project) { p.APIs["compute.googleapis.com"] = true })
	w.AddNetwork("acme", &compute.Network{Name: "kn-research", AutoCreateSubnetworks: true})
	w.up(t, "--yes").check(t, 0, "= network kn-research (not made by `kubectl kinetic up`)")
	w.down(t, "--yes=research").check(t, 0, "= network kn-research stays: not made by `kubectl kinetic up`; delete it with: gcloud compute networks delete kn-research --project=acme", "deleted     router kn-research-router")
	if w.Network("acme", "kn-research") == nil {
		t.Fatal("the network was deleted")
	}
	w.down(t, "--yes=research", "--force").check(t, 0, "= network kn-research stays: ", "there is nothing to delete")
}

// unchanged fails the test if something was changed after the first changes.
func (w *world) unchanged(t *testing.T, before int) {
	t.Helper()
	for _, change := range w.Changes()[before:] {
		if !strings.HasSuffix(change, ":getIamPolicy") {
			t.Errorf("changed: %s", change)
		}
	}
}

// A profile of another name is used, and goes with its cluster. What leads to the data is said.
func TestProfileOfAnotherName(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--profile-name", "work").check(t, 0, "ready       profile work")
	w.up(t, "--yes").check(t, 0, "= profile work", ": 0 to create")
	w.up(t, "--yes", "--namespace", "other").check(t, 0, "try: mkdir -p hello && cd hello && kubectl kinetic run -n other --command -- echo hello")
	w.down(t, "--yes=research").check(t, 0, "deleted     profile work",
		"buckets stay; to delete them, too: kubectl kinetic down --project acme --zone us-central1-a --cluster research --profile-name work --delete-data")
}
