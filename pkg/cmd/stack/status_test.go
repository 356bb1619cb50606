package stack_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/status"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func (w *world) status(t *testing.T, args ...string) result {
	t.Helper()
	return w.command(t.Context(), status.NewCommand, nil, args)
}

func node(w *world, name, pool string) {
	w.kubernetes.Put("/api/v1/nodes/"+name, map[string]any{"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"cloud.google.com/gke-nodepool": pool}}})
}

func TestStatus(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "v6e-8").check(t, 0)
	pool := w.Cluster("acme", zone, "research").NodePools[1].Name
	node(w, "node-1", "default-pool")
	node(w, "node-2", pool)
	w.AddObject("acme-kn-research-jobs", "cpu-train/result.json", 2048)
	w.status(t).check(t, 0, "research in us-central1-a of project acme: running, Kubernetes 1.", "0 running, 0 waiting",
		"acme-kn-research-jobs: 2.0 KiB in 1 object", "$21.73 an hour, $21.60 of it for idle ones (list prices, us-central1, 2025; us-central1, 2026)", pool, "idle")
	r := w.status(t, "-o", "json")
	r.check(t, 0)
	type sum struct {
		USD     *float64
		AtLeast bool
	}
	var s struct {
		PerHour, IdlePerHour sum
		Pools                []struct {
			Name string
			Idle bool
		}
	}
	if err := json.Unmarshal([]byte(r.out), &s); err != nil || *s.IdlePerHour.USD != 21.6 || *s.PerHour.USD <= 21.6 || s.PerHour.AtLeast || len(s.Pools) != 2 || s.Pools[0].Idle {
		t.Errorf("got %+v, %v", s, err)
	}
}

// jobIn is a job with a pod that began at a time and, unless it still runs, ran for an hour.
type jobIn struct {
	id, owner, node, accelerator, capacity string
	began                                  time.Time
	runs                                   bool
}

func (j jobIn) add(w *world) {
	id, labels := j.id, map[string]any{"app": "kinetic", "job-id": j.id}
	for key, value := range map[string]string{"owner": j.owner, "kubectl-kinetic.github.io/capacity": j.capacity} {
		if value != "" {
			labels[key] = value
		}
	}
	stamp := j.began.Format(time.RFC3339)
	annotations := map[string]any{"kubectl-kinetic.github.io/store": "gs://acme-kn-research-jobs", "kubectl-kinetic.github.io/accelerator": j.accelerator}
	meta := func(name string) map[string]any {
		return map[string]any{"name": name, "namespace": "ml", "uid": "u-" + name, "creationTimestamp": stamp, "labels": labels, "annotations": annotations}
	}
	status, state, phase := map[string]any{"startTime": stamp}, map[string]any{"running": map[string]any{"startedAt": stamp}}, "Running"
	if !j.runs {
		end := j.began.Add(time.Hour).Format(time.RFC3339)
		status["succeeded"], status["completionTime"] = 1, end
		status["conditions"] = []any{map[string]any{"type": "Complete", "status": "True", "lastTransitionTime": end}}
		state, phase = map[string]any{"terminated": map[string]any{"startedAt": stamp, "finishedAt": end, "exitCode": 0}}, "Succeeded"
	}
	w.kubernetes.Put("/apis/batch/v1/namespaces/ml/jobs/kinetic-"+id, map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("kinetic-" + id),
		"spec": map[string]any{"completions": 1, "parallelism": 1, "backoffLimit": 0}, "status": status})
	w.kubernetes.Put("/api/v1/namespaces/ml/pods/kinetic-"+id+"-x", map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": meta("kinetic-" + id + "-x"),
		"spec":   map[string]any{"nodeName": j.node, "containers": []any{map[string]any{"name": "kinetic-worker"}}},
		"status": map[string]any{"phase": phase, "containerStatuses": []any{map[string]any{"name": "kinetic-worker", "state": state}}}})
}

func TestStatusAddsUpTheCostOfJobs(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "v6e-8", "--accelerator", "l4:spot").check(t, 0)
	pools := w.Cluster("acme", zone, "research").NodePools
	slices.SortFunc(pools, func(a, b *container.NodePool) int { return cmp.Compare(a.Name, b.Name) })
	node(w, "node-1", pools[1].Name)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for _, j := range []jobIn{
		{id: "one", owner: "ada", node: "node-1", accelerator: "v6e-8", began: today.Add(-30 * time.Minute)},
		{id: "two", owner: "ada", node: "gone", accelerator: "l4", capacity: "spot", began: today.Add(-12 * time.Hour)},
		{id: "three", node: "node-1", accelerator: "cpu", began: today.Add(-30 * time.Minute), runs: true},
		{id: "four", node: "gone", accelerator: "b200", began: today.Add(-5 * time.Hour)},
		{id: "old", owner: "bob", node: "gone", accelerator: "l4", began: today.Add(-200 * time.Hour)},
	} {
		j.add(w)
	}
	r := w.status(t)
	r.check(t, 0, "1 running, 0 waiting", "at least $21.60 on demand, $0.28 on spot, for 3 jobs still in the cluster, from "+today.AddDate(0, 0, -6).Format(time.DateOnly),
		"some jobs have no label owner")
	for _, row := range []string{`(?m)^ada +2 +9\.0 +\$21\.60 +\$0\.28$`, `(?m)^- +1 +8\.0 +- +\$0\.00$`} {
		if !regexp.MustCompile(row).MatchString(r.out) {
			t.Errorf("no row %s in\n%s", row, r.out)
		}
	}
	if strings.Contains(r.out, "bob") {
		t.Errorf("a job from before is there:\n%s", r.out)
	}
	w.status(t, "--days", "30", "--owner-label", "team").check(t, 0, "4 jobs", "no label team")
	w.status(t, "--days", "1", "-o", "json").check(t, 0, `"byPerson"`, `"chipHours": 4`, `"running": [`)
	w.status(t, "--days", "0").check(t, 2, "expected a whole number from 1 to 3650")
	w.status(t, "--owner-label", "a b").check(t, 2, "--owner-label")
}

// The nodes of Autopilot are GKE's own.
func TestStatusOfAutopilot(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--autopilot").check(t, 0)
	t.Setenv("KINETIC_ZONE", "us-central1")
	found := w.Cluster("acme", "us-central1", "research")
	found.NodePools = []*container.NodePool{{Name: "nap-1", Config: &container.NodeConfig{MachineType: "e2-standard-4"}}}
	node(w, "node-1", "nap-1")
	r := w.status(t)
	r.check(t, 0, "Autopilot", "their price is not known", "the jobs still in the cluster used no accelerators")
	if strings.Contains(r.out, "nap-1") {
		t.Errorf("got %s", r.out)
	}
	w.status(t, "-o", "json").check(t, 0, `"autopilot": true`, `"perHour": null`, `"pools": []`)
}

// The size of a bucket that may not be read is not known, which is not zero.
func TestStatusOfABucketThatMayNotBeRead(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.AddObject("acme-kn-research-jobs", "cpu-train/result.json", 2048)
	w.Deny("storage.objects.list")
	r := w.status(t)
	r.check(t, 0, "acme-kn-research-jobs: size not known: needs the permission storage.objects.list\n", "default-pool", "0 running, 0 waiting",
		"warning: listing bucket acme-kn-research-jobs: ")
	if strings.Contains(r.out, "0 B") {
		t.Errorf("got %s", r.out)
	}
	w.status(t, "-o", "json").check(t, 0, `"objects": null`, `"bytes": null`, `"unknown": "needs the permission storage.objects.list"`)
	w.Allow("storage.objects.list")
	w.Fail(gcptest.Fault{Path: "/b/acme-kn-research-jobs/o$", Times: 100, Status: http.StatusTeapot})
	w.status(t).check(t, 0, "acme-kn-research-jobs: size not known\n", "acme-kn-research-builds: 0 B in 0 objects")
}

// A price that is not known is never zero.
func TestStatusOfUnknownPrices(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes", "--accelerator", "v6e-8").check(t, 0)
	pools := w.Cluster("acme", zone, "research").NodePools
	node(w, "node-1", "default-pool")
	node(w, "node-2", pools[1].Name)
	pools[0].Config.Spot = true
	w.status(t).check(t, 0, "at least $21.60 an hour, $21.60 of it for idle ones (list price, us-central1, 2026)", "spot")
	pools[1].Config.FlexStart = true
	r := w.status(t)
	r.check(t, 0, "their price is not known", "flex-start")
	if strings.Contains(r.out, "0.00") {
		t.Errorf("got %s", r.out)
	}
	w.status(t, "-o", "json").check(t, 0, `"usd": null`, `"atLeast": true`, `"capacity": "flex-start"`)
	pools[1].QueuedProvisioning = &container.QueuedProvisioning{Enabled: true}
	if r := w.status(t); r.code != 0 || !strings.Contains(r.out, "queued") || strings.Contains(r.out, "flex-start") {
		t.Errorf("the pool is for jobs of a queue: %s", r.out)
	}
	w.status(t, "-o", "json").check(t, 0, `"capacity": "flex-start"`, `"queued": true`)
}

func TestStatusWithoutNodes(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	r := w.status(t)
	r.check(t, 0, "default-pool")
	if !regexp.MustCompile(`(?m)^nodes +none$`).MatchString(r.out) {
		t.Errorf("got %s", r.out)
	}
}

// A cluster of that name in another location is what was meant: up would refuse a second one.
func TestStatusNamesTheRightZone(t *testing.T) {
	w := newWorld(t)
	w.other(nil)
	t.Setenv("KINETIC_ZONE", "")
	r := w.status(t, "--zone", "europe-west4-a")
	r.check(t, 1, "there is no cluster research in europe-west4-a of project acme, but there is one in us-central1-a: use --zone us-central1-a")
	if strings.Contains(r.err, "kinetic up") {
		t.Errorf("got %s", r.err)
	}
	w.status(t, "--zone", zone, "--cluster", "reserch").check(t, 1, "there is no cluster reserch in us-central1-a of project acme; it has research in us-central1-a; create it with: kubectl kinetic up --project acme")
}

// The API server of a cluster that is being created doesn't answer yet.
func TestStatusOfAClusterThatIsBeingCreated(t *testing.T) {
	w := newWorld(t)
	w.other(nil)
	w.SetClusterStatus("acme", zone, "research", "PROVISIONING")
	r := w.status(t)
	r.check(t, 0, "provisioning", "warning: nodes and jobs are not known: the cluster is being created: wait until it runs, then repeat: kubectl kinetic status --project acme --zone us-central1-a --cluster research\n")
	if strings.Contains(r.out, "ACCELERATOR") {
		t.Errorf("a table without rows:\n%s", r.out)
	}
	w.status(t, "-o", "json").check(t, 0, `"errors": [`, "is being created")
}

func TestStatusOfNothing(t *testing.T) {
	w := newWorld(t)
	w.status(t).check(t, 1, "there is no cluster research in us-central1-a of project acme", "kubectl kinetic up --project acme")
	w.status(t, "cpu-train").check(t, 2, "kubectl kinetic jobs status cpu-train")
	w.status(t, "-o", "xml").check(t, 2, "one of json, yaml")
}

// What the cluster doesn't answer is said; the rest is still printed.
func TestStatusWithoutTheCluster(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.kubernetes.Before(func(string, string) (int, string) { return http.StatusForbidden, "pods is forbidden" })
	r := w.status(t)
	r.check(t, 0, "default-pool", "acme-kn-research-jobs", "- running, - waiting", "not known",
		"to find the cause: kubectl kinetic doctor --project acme --zone us-central1-a --cluster research\n")
	if !regexp.MustCompile(`^warning: nodes and jobs are not known: .*pods is forbidden.*\n$`).MatchString(r.err) {
		t.Errorf("got %s", r.err)
	}
	w.status(t, "-o", "json").check(t, 0, `"nodes": null`, `"running": null`, `"perHour": null`)
}

// Without the right to list them, jobs on several hosts are missing from the others.
func TestStatusWithoutJobsOnSeveralHosts(t *testing.T) {
	w := newWorld(t)
	w.up(t, "--yes").check(t, 0)
	w.kubernetes.Before(func(_, path string) (int, string) {
		if strings.HasSuffix(path, "/leaderworkersets") {
			return http.StatusForbidden, `leaderworkersets is forbidden: User "me" cannot list resource "leaderworkersets"`
		}
		return 0, ""
	})
	r := w.status(t)
	r.check(t, 0, "0 running, 0 waiting")
	if !strings.HasPrefix(r.err, "warning: jobs on several hosts are not known: listing leaderworkersets in the whole cluster: forbidden") {
		t.Errorf("got %s", r.err)
	}
}
