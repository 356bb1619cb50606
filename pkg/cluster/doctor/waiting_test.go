package doctor

import (
	"maps"
	"strings"
	"testing"
	"time"
)

// job and pod are of a job that waits for a node since a time.
func job(id, since string) string {
	return `{"metadata":{"name":"kinetic-` + id + `","namespace":"ml","uid":"` + id + `","creationTimestamp":"` + since + `","labels":{"app":"kinetic","job-id":"` + id + `"}},"spec":{"parallelism":1},"status":{"active":1}}`
}

func pod(id string) string {
	return `{"metadata":{"name":"kinetic-` + id + `-x","namespace":"ml","labels":{"app":"kinetic","job-id":"` + id + `"},"ownerReferences":[{"kind":"Job","name":"kinetic-` + id + `","uid":"` + id + `"}]},
 "status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/2 nodes are available: 2 Insufficient cpu."}]}}`
}

func TestWaitingJobs(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	const account, events = "GET " + ml + "/serviceaccounts/kinetic", "GET " + ml + "/events"
	const refused = `{"items":[{"metadata":{"name":"e"},"reason":"FailedCreate","lastTimestamp":"2026-01-02T02:59:01Z","involvedObject":{"kind":"Job","name":"kinetic-cpu-a","uid":"cpu-a","namespace":"ml"},
 "message":"Error creating: pods \"kinetic-cpu-a-\" is forbidden: error looking up service account ml/kinetic: serviceaccount \"kinetic\" not found"}]}`
	const jobs, pods = "GET /apis/batch/v1/namespaces/ml/jobs", "GET " + ml + "/pods"
	for name, tt := range map[string]struct {
		answers map[string]string
		state   State
		detail  string
		fix     string
	}{
		"none": {nil, OK, "none", ""},
		"for a minute": {map[string]string{jobs: `{"items":[` + job("cpu-a", "2026-01-02T02:59:00Z") + `]}`, pods: `{"items":[` + pod("cpu-a") + `]}`},
			OK, "cpu-a waits: no node has room: 2 of 2 with too little cpu free", ""},
		"for an hour": {map[string]string{
			jobs: `{"items":[` + job("cpu-a", "2026-01-02T02:59:00Z") + `,` + job("cpu-b", "2026-01-02T02:00:00Z") + `]}`, pods: `{"items":[` + pod("cpu-a") + `,` + pod("cpu-b") + `]}`},
			Wrong, "cpu-b waits: no node has room: 2 of 2 with too little cpu free; 1 more", "kubectl describe pod kinetic-cpu-b-x -n ml"},
		"for a service account": {map[string]string{jobs: `{"items":[` + job("cpu-a", "2026-01-02T02:59:00Z") + `]}`, events: refused, account: refusal(404, "NotFound", "not found")},
			Wrong, "cpu-a waits: service account kinetic is missing in namespace ml", "kubectl create serviceaccount kinetic -n ml"},
		"for a service account that is there now": {map[string]string{jobs: `{"items":[` + job("cpu-a", "2026-01-02T02:59:00Z") + `]}`, events: refused},
			OK, "cpu-a waits: service account kinetic was missing; it is there now, and Kubernetes tries again within minutes", ""},
		"no right": {map[string]string{jobs: forbidden("list", "jobs")}, Skipped, "no permission to list jobs in namespace ml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{answers: complete(t), date: now.Format("Mon, 02 Jan 2006 15:04:05 GMT")}
			maps.Copy(s.answers, tt.answers)
			o := clusterOptions(s.start(t))
			o.Now = time.Now // the server's clock counts
			got := found(t, Run(t.Context(), slowly(ClusterChecks(o))), "waiting jobs")
			if got.State != tt.state || !strings.Contains(got.Detail, tt.detail) || got.Fix != tt.fix {
				t.Errorf("got %s %q, fix %q", got.State, got.Detail, got.Fix)
			}
		})
	}
}
