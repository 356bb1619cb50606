package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/versions"
)

// server answers requests, "GET /version", with JSON; a code in it is that of the answer. It knows
// nothing else.
type server struct {
	answers map[string]string
	date    string

	mu sync.Mutex
	// sent are the requests that change something, with their bodies.
	sent []string
}

func (s *server) start(t *testing.T) *rest.Config {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		line := r.Method + " " + r.URL.Path
		if r.Method != http.MethodGet && !strings.Contains(line, "reviews") {
			s.mu.Lock()
			s.sent = append(s.sent, line+" "+string(body))
			s.mu.Unlock()
		}
		text, found := s.answers[line]
		if sub := line + " " + string(body); s.answers[sub] != "" { // for one body
			text, found = s.answers[sub], true
		}
		if !found {
			text = refusal(404, "NotFound", "not found")
		}
		if s.date != "" {
			w.Header()["Date"] = []string{s.date}
		}
		w.Header().Set("Content-Type", "application/json")
		var status struct{ Code int }
		if err := json.Unmarshal([]byte(text), &status); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if status.Code != 0 {
			w.WriteHeader(status.Code)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(h.Close)
	return &rest.Config{Host: h.URL, QPS: -1}
}

func refusal(code int, reason, message string) string {
	text, _ := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message})
	return string(text)
}

func forbidden(verb, resource string) string {
	return refusal(403, "Forbidden", resource+` is forbidden: User "bob" cannot `+verb+` resource "`+resource+`" in API group "" in the namespace "ml"`)
}

const (
	ml        = "/api/v1/namespaces/ml"
	rolesPath = "/apis/rbac.authorization.k8s.io/v1/namespaces/ml/roles"
	rules     = "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
	lws       = "/apis/leaderworkerset.x-k8s.io"
	kq        = "/apis/kueue.x-k8s.io"
	all       = `{"status":{"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}}`
	nodes     = `{"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Status"}],"rows":[{"cells":["n1","Ready"]},{"cells":["n2","Ready"]}]}`
	group     = `{"preferredVersion":{"version":"v1"}}`
	// deployment is of a controller with a pod that is ready.
	deployment = `{"spec":{"template":{"spec":{"containers":[{"name":"manager","image":"lws:v0.9.0"}]}}},"status":{"readyReplicas":1}}`
)

// complete returns the answers of a cluster that has all that jobs need.
func complete(t *testing.T) map[string]string {
	t.Helper()
	answers := map[string]string{
		"GET /version": `{"gitVersion":"v1.36.3"}`, "GET " + ml: `{}`, "GET " + ml + "/serviceaccounts/kinetic": `{}`, rules: all,
		"GET " + lws: group, "GET /apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager": deployment,
		"GET /apis/storage.k8s.io/v1/csidrivers/gcsfuse.csi.storage.gke.io": `{}`, "GET /api/v1/nodes": nodes,
		"GET /apis/batch/v1/namespaces/ml/jobs": `{"items":[]}`, "GET " + ml + "/pods": `{"items":[]}`, "GET " + ml + "/events": `{"items":[]}`,
		"GET " + ml + "/configmaps": `{"items":[]}`,
	}
	w, err := readWanted()
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range w.roles {
		text, _ := json.Marshal(role)
		answers["GET "+rolesPath+"/"+role.Name] = string(text)
	}
	return answers
}

// userRoleWithout returns the Role of users without the rules about an API group.
func userRoleWithout(t *testing.T, group string) string {
	t.Helper()
	w, err := readWanted()
	if err != nil {
		t.Fatal(err)
	}
	role := w.userRole()
	n := len(role.Rules)
	role.Rules = slices.DeleteFunc(slices.Clone(role.Rules), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.APIGroups, group) })
	if len(role.Rules) != n-1 {
		t.Errorf("%d rules are about %s", n-len(role.Rules), group)
	}
	text, _ := json.Marshal(role)
	return string(text)
}

func clusterOptions(connection *rest.Config) ClusterOptions {
	return ClusterOptions{
		Target: config.Target{Context: "gke_acme_us-central1-a_c", Namespace: "ml", GKE: true, Project: "acme", Zone: "us-central1-a", Cluster: "c",
			From: config.Sources{Context: "current context", Namespace: "--namespace"}},
		Config: connection, Client: versions.Client{Version: "v0.2.0", Runners: []string{"ours"}}, FixCommand: "kubectl kinetic doctor --fix", Now: time.Now,
	}
}

// gpuNodes answers with ready nodes that offer so many GPUs, both as a table and as objects.
func gpuNodes(gpus ...string) string {
	var rows, items []string
	for i, n := range gpus {
		rows = append(rows, fmt.Sprintf(`{"cells":["n%d","Ready"]}`, i))
		items = append(items, fmt.Sprintf(`{"status":{"allocatable":{"nvidia.com/gpu":%q}}}`, n))
	}
	return fmt.Sprintf(`{"kind":"Table","columnDefinitions":[{"name":"Name"},{"name":"Status"}],"rows":[%s],"items":[%s]}`, strings.Join(rows, ","), strings.Join(items, ","))
}

// withGPUs has the jobs want so many L4 GPUs on each host.
func withGPUs(n int) func(*ClusterOptions) {
	return func(o *ClusterOptions) {
		o.Accelerator = &api.Accelerator{Kind: api.GPU, Name: "l4", Label: "nvidia-l4", Chips: n, ChipsPerHost: n}
	}
}

// withPathways has the jobs be with the Pathways runtime on one TPU host.
func withPathways(o *ClusterOptions) {
	a, err := accelerator.Parse("v6e-4", accelerator.Options{Backend: api.BackendPathways})
	if err != nil {
		panic(err)
	}
	o.Accelerator, o.Pathways, o.Target.Store = &a, true, "gs://team"
}

// slowly lets checks take as long as a busy machine needs.
func slowly(checks []Check) []Check {
	for i := range checks {
		checks[i].Within = time.Minute
	}
	return checks
}

func found(t *testing.T, results []Result, name string) Finding {
	t.Helper()
	at := slices.IndexFunc(results, func(r Result) bool { return r.Name == name })
	if at < 0 {
		t.Fatalf("there is no check %s", name)
	}
	return results[at].Finding
}

func TestChecksEndInTime(t *testing.T) {
	if longest := Longest(ClusterChecks(clusterOptions(&rest.Config{}))); longest > 3*time.Second {
		t.Errorf("all checks together may take %v", longest)
	}
}

func TestACompleteCluster(t *testing.T) {
	s := &server{answers: complete(t)}
	for _, r := range Run(t.Context(), slowly(ClusterChecks(clusterOptions(s.start(t))))) {
		want := OK
		if r.Name == "Kueue" {
			want = Skipped
		}
		if r.State != want {
			t.Errorf("%s is %s, want %s: %s", r.Name, r.State, want, r.Detail)
		}
	}
}

func TestClusterChecks(t *testing.T) {
	const bind = "kubectl create rolebinding kinetic-users -n ml --role=kinetic-user --user="
	tests := map[string]struct {
		check   string
		answers map[string]string
		set     func(*ClusterOptions)
		state   State
		detail  string
		fix     string
	}{
		"no kubeconfig": {check: Kubeconfig, set: func(o *ClusterOptions) { o.Problem = errors.New("no context: choose one") }, state: Wrong, detail: "no context: choose one"},
		"in a pod": {check: Kubeconfig, set: func(o *ClusterOptions) { o.Target.Context = ""; o.Target.From.Context = config.InPod }, state: OK,
			detail: config.InPod + ", namespace ml"},
		"where values come from": {check: Kubeconfig, state: OK, detail: "context gke_acme_us-central1-a_c (current context), namespace ml (--namespace)"},
		"the version":            {check: APIServer, state: OK, detail: "Kubernetes v1.36.3"},
		"credentials have expired": {check: APIServer, answers: map[string]string{"GET /version": refusal(401, "Unauthorized", "no")}, state: Wrong,
			detail: "does not accept your credentials, which may have expired: log in again"},

		"no namespace": {check: Namespace, answers: map[string]string{"GET " + ml: ""}, state: Wrong, detail: "there is no namespace ml", fix: "kubectl create namespace ml"},
		"a namespace that goes": {check: Namespace, answers: map[string]string{"GET " + ml: `{"status":{"phase":"Terminating"}}`}, state: Wrong,
			detail: "ml is being deleted: wait until it is gone"},
		"no service account without a namespace": {check: Account, answers: map[string]string{"GET " + ml: "", "GET " + ml + "/serviceaccounts/kinetic": ""}, state: Skipped, detail: "needs: namespace"},
		"no Roles without a namespace":           {check: "Roles", answers: map[string]string{"GET " + ml: "", "GET " + rolesPath + "/kinetic-user": ""}, state: Skipped, detail: "needs: namespace"},
		"namespaces are secret":                  {check: Namespace, answers: map[string]string{"GET " + ml: forbidden("get", "namespaces")}, state: Skipped, detail: "no permission to check"},

		"no service account": {check: Account, answers: map[string]string{"GET " + ml + "/serviceaccounts/kinetic": ""}, state: Wrong,
			detail: "namespace ml has no service account kinetic", fix: "kubectl create serviceaccount kinetic -n ml"},
		"service accounts are secret": {check: Account, answers: map[string]string{"GET " + ml + "/serviceaccounts/kinetic": forbidden("get", "serviceaccounts")},
			state: Skipped, detail: "no permission to read service account kinetic"},

		"some rights": {check: "rights", answers: map[string]string{rules: `{"status":{"resourceRules":[
 {"verbs":["create","get","list","watch"],"apiGroups":["batch"],"resources":["jobs"]}, {"verbs":["*"],"apiGroups":["leaderworkerset.x-k8s.io","rbac.authorization.k8s.io","kueue.x-k8s.io"],"resources":["*"]},
 {"verbs":["create","get"],"apiGroups":["resource.k8s.io"],"resources":["resourceclaimtemplates"]},
 {"verbs":["get"],"apiGroups":[""],"resources":["*/log"]}, {"verbs":["*"],"apiGroups":[""],"resources":["services","pods/portforward","configmaps","secrets","events","resourcequotas","persistentvolumeclaims"]},
 {"verbs":["*"],"apiGroups":[""],"resources":["pods"],"resourceNames":["mine"]}]}}`,
			"POST /apis/authentication.k8s.io/v1/selfsubjectreviews": `{"status":{"userInfo":{"username":"bob"}}}`},
			state: Wrong, detail: "no permission to delete jobs; create, get networkpolicies; get, list, watch pods in namespace ml", fix: bind + "bob"},
		"an authorizer that lists nothing, and allows all": {check: "rights", answers: map[string]string{rules: `{"status":{"incomplete":true}}`,
			"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews": `{"status":{"allowed":true}}`}, state: OK, detail: "all that run and jobs need"},
		"an authorizer that lists nothing, and allows little": {check: "rights", answers: map[string]string{rules: `{"status":{"incomplete":true}}`,
			"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews": `{"status":{}}`}, state: Wrong, detail: "create, get, list, watch, delete jobs;", fix: bind + "USER"},

		"no Roles": {check: "Roles", answers: map[string]string{"GET " + rolesPath + "/kinetic-user": "", "GET " + rolesPath + "/kinetic-release": ""}, state: Wrong,
			detail: "namespace ml has no Role kinetic-release, kinetic-user", fix: "kubectl kinetic doctor --fix"},
		"an older Role": {check: "Roles", answers: map[string]string{"GET " + rolesPath + "/kinetic-user": `{"metadata":{"name":"kinetic-user"},"rules":[{"verbs":["get"],"apiGroups":["batch"],"resources":["jobs"]}]}`},
			state: Wrong, detail: "kinetic-user lacks rights that this version needs", fix: "kubectl patch role kinetic-user -n ml --type=json -p '["},
		"a Role without what is nice to have": {check: "Roles", answers: map[string]string{"GET " + rolesPath + "/kinetic-user": userRoleWithout(t, optionalGroup)}, state: OK, detail: "as in manifests/rbac"},
		"Roles are secret":                    {check: "Roles", answers: map[string]string{"GET " + rolesPath + "/kinetic-cleanup": forbidden("get", "roles")}, state: Skipped, detail: "no permission to read Roles"},

		"no LeaderWorkerSet": {check: "LeaderWorkerSet", answers: map[string]string{"GET " + lws: ""}, state: Wrong,
			detail: "not installed, but jobs on several hosts need it", fix: "kubectl apply --server-side -f https://github.com/kubernetes-sigs/lws/"},
		"no LeaderWorkerSet for one host": {check: "LeaderWorkerSet", answers: map[string]string{"GET " + lws: ""},
			set:   func(o *ClusterOptions) { o.Accelerator = &api.Accelerator{Kind: api.GPU, Name: "l4", Hosts: 1} },
			state: Skipped, detail: "not needed: l4 has one host"},
		"no LeaderWorkerSet for Pathways on one host": {check: "LeaderWorkerSet", answers: map[string]string{"GET " + lws: ""}, set: withPathways,
			state: Wrong, detail: "not installed, but jobs on several hosts and those with Pathways need it", fix: "kubectl apply --server-side -f https://github.com/kubernetes-sigs/lws/"},
		"Pathways, and no node yet": {check: "Pathways", answers: map[string]string{"GET /api/v1/nodes": `{"items":[]}`}, set: withPathways,
			state: OK, detail: "the leader, with 96 CPUs and 380 GiB, fits on ct6e-standard-4t; compiled programs go to gs://team/pathways"},
		"Pathways, and nodes that have no room": {check: "Pathways", answers: map[string]string{"GET /api/v1/nodes": `{"items":[{"status":{"allocatable":{"cpu":"180","memory":"379Gi"}}}]}`}, set: withPathways,
			state: Wrong, detail: "no node for v6e-2x2 has room for the leader, with 96 CPUs and 380 GiB: ask for less", fix: "kubectl get nodes -l cloud.google.com/gke-accelerator-count=4,"},
		"Pathways without a bucket": {check: "Pathways", answers: map[string]string{"GET /api/v1/nodes": forbidden("list", "nodes")},
			set:   func(o *ClusterOptions) { withPathways(o); o.Target.Store = "" },
			state: Skipped, detail: "the leader, with 96 CPUs and 380 GiB, fits; without a gs:// store"},
		"a controller that does not run": {check: "LeaderWorkerSet", answers: map[string]string{
			"GET /apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager": `{}`}, state: Wrong,
			detail: "API v1, but no pod of its controller is ready", fix: "kubectl get pods -n lws-system"},
		"that of the Python package": {check: "LeaderWorkerSet", answers: map[string]string{
			"GET /apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager": strings.Replace(deployment, "v0.9.0", "v0.5.1", 1)}, state: Skipped,
			detail: "v0.5.1, API v1: jobs on several hosts were tried with v0.7.0 and later only; replace it with: kubectl apply"},
		"its version": {check: "LeaderWorkerSet", state: OK, detail: "v0.9.0, API v1"},

		"no Kueue": {check: "Kueue", state: Skipped, detail: "only --queue needs it"},
		"no Kueue for a queue": {check: "Kueue", set: func(o *ClusterOptions) { o.Queue = "team" }, state: Wrong, detail: "not installed, so --queue team has no effect",
			fix: "kubectl apply --server-side -f https://github.com/kubernetes-sigs/kueue/releases/"},
		"a queue": {check: "Kueue", set: func(o *ClusterOptions) { o.Queue = "team" }, answers: map[string]string{"GET " + kq: group,
			"GET " + kq + "/v1/namespaces/ml/localqueues": `{"items":[{"metadata":{"name":"team"}}]}`}, state: OK, detail: "API v1, queue team"},
		"no such queue": {check: "Kueue", set: func(o *ClusterOptions) { o.Queue = "teem" }, answers: map[string]string{"GET " + kq: group,
			"GET " + kq + "/v1/namespaces/ml/localqueues": `{"items":[{"metadata":{"name":"team"}}]}`}, state: Wrong, detail: "namespace ml has no queue teem; it has team",
			fix: "kubectl get localqueues -n ml"},
		"no queue at all": {check: "Kueue", set: func(o *ClusterOptions) { o.Queue = "team" }, answers: map[string]string{"GET " + kq: group,
			"GET " + kq + "/v1/namespaces/ml/localqueues": `{"items":[]}`}, state: Wrong, detail: "namespace ml has no queue team; it has none",
			fix: "kubectl get clusterqueues"},
		"a queue that admits nothing": {check: "Kueue", set: func(o *ClusterOptions) { o.Queue = "team" }, answers: map[string]string{"GET " + kq: group,
			"GET " + kq + "/v1/namespaces/ml/localqueues": `{"items":[{"metadata":{"name":"team"},"status":{"conditions":[{"type":"Active","status":"False","message":"no ClusterQueue"}]}}]}`},
			state: Wrong, detail: "queue team admits no job: no ClusterQueue", fix: "kubectl describe localqueue team -n ml"},

		"no FUSE driver": {check: "FUSE driver", answers: map[string]string{"GET /apis/storage.k8s.io/v1/csidrivers/gcsfuse.csi.storage.gke.io": ""}, state: Wrong,
			detail: "the Cloud Storage FUSE add-on is off", fix: "gcloud container clusters update c --update-addons GcsFuseCsiDriver=ENABLED --location us-central1-a --project acme"},
		"no FUSE driver elsewhere": {check: "FUSE driver", answers: map[string]string{"GET /apis/storage.k8s.io/v1/csidrivers/gcsfuse.csi.storage.gke.io": ""},
			set: func(o *ClusterOptions) { o.Target.GKE = false }, state: Skipped, detail: "only GKE has it"},

		"nodes": {check: "nodes", state: OK, detail: "2, all ready"},
		"a node that is not ready": {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": strings.Replace(nodes, `"n2","Ready"`, `"n2","NotReady"`, 1)},
			state: OK, detail: "1 of 2 nodes are ready; not n2"},
		"no node with the accelerator": {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": `{"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[]}`},
			set: func(o *ClusterOptions) {
				o.Target.GKE = false
				o.Accelerator = &api.Accelerator{Kind: api.TPU, Name: "v6e", Chips: 8, ChipsPerHost: 8, Label: "tpu-v6e-slice", Topology: "2x4", Spot: true}
			}, state: Wrong, detail: "0 of 0 nodes for v6e-2x4:spot are ready",
			fix: "kubectl get nodes -l cloud.google.com/gke-accelerator-count=8,cloud.google.com/gke-spot=true,cloud.google.com/gke-tpu-accelerator=tpu-v6e-slice,cloud.google.com/gke-tpu-topology=2x4"},
		"no node on GKE": {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": `{"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[]}`},
			set: func(o *ClusterOptions) {
				o.Accelerator = &api.Accelerator{Kind: api.GPU, Name: "l4", Label: "nvidia-l4"}
			}, state: Skipped,
			detail: "there is no node for l4 now; GKE may add some"},
		"nodes without a GPU driver": {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": gpuNodes("0", "0")}, set: withGPUs(1),
			state: Wrong, detail: "no node for l4 offers a GPU: its driver is being installed, or missing", fix: "kubectl describe nodes -l cloud.google.com/gke-accelerator=nvidia-l4"},
		"nodes with fewer GPUs": {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": gpuNodes("1", "2")}, set: withGPUs(4),
			state: Skipped, detail: "no node has 4 GPUs for l4x4 now, but 2 at most; GKE may add some"},
		"nodes with fewer GPUs elsewhere": {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": gpuNodes("1", "2")}, set: func(o *ClusterOptions) {
			withGPUs(4)(o)
			o.Target.GKE = false
		}, state: Wrong, detail: "no node has 4 GPUs for l4x4, but 2 at most", fix: "kubectl describe nodes -l cloud.google.com/gke-accelerator=nvidia-l4"},
		"nodes with the GPUs": {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": gpuNodes("1", "4")}, set: withGPUs(4), state: OK, detail: "2 for l4x4, all ready"},
		"nodes are secret":    {check: "nodes", answers: map[string]string{"GET /api/v1/nodes": forbidden("list", "nodes")}, state: Skipped, detail: "no permission to list nodes"},

		"no runner": {check: "runners", state: OK, detail: "not installed yet: the next job installs it"},
		"an older runner": {check: "runners", answers: map[string]string{"GET " + ml + "/configmaps": `{"items":[{"metadata":{"name":"kinetic-runner-a","annotations":{"kubectl-kinetic.github.io/runner-version":"v0.1.0"}}}]}`},
			state: OK, detail: "the newest is version v0.1.0; the next job adds this client's version, v0.2.0"},
		"a newer runner": {check: "runners", answers: map[string]string{"GET " + ml + "/configmaps": `{"items":[{"metadata":{"name":"kinetic-runner-a","annotations":{"kubectl-kinetic.github.io/runner-version":"v0.3.0"}}}]}`},
			state: Skipped, detail: "this namespace already uses v0.3.0, which is newer than this client, v0.2.0: upgrade it"},
		"runners that can't be read": {check: "runners", answers: map[string]string{"GET " + ml + "/configmaps": refusal(404, "NotFound", "")}, state: Wrong, detail: "it can't be read"},
		"runners are secret":         {check: "runners", answers: map[string]string{"GET " + ml + "/configmaps": forbidden("list", "configmaps")}, state: Skipped, detail: "forbidden: you need the verb list on configmaps"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &server{answers: complete(t)}
			maps.Copy(s.answers, tt.answers)
			maps.DeleteFunc(s.answers, func(_, text string) bool { return text == "" })
			o := clusterOptions(s.start(t))
			if tt.set != nil {
				tt.set(&o)
			}
			got := found(t, Run(t.Context(), slowly(ClusterChecks(o))), tt.check)
			if got.State != tt.state || !strings.Contains(got.Detail, tt.detail) || !strings.HasPrefix(got.Fix, tt.fix) || (got.Fix == "") != (tt.fix == "") {
				t.Errorf("got %s %q, fix %q;\nwant %s %q, fix %q", got.State, got.Detail, got.Fix, tt.state, tt.detail, tt.fix)
			}
		})
	}
}

func TestClock(t *testing.T) {
	for name, tt := range map[string]struct {
		ahead time.Duration
		state State
		want  string
	}{
		"the same": {0, OK, "the same as the API server's"},
		"behind":   {time.Hour, Wrong, "behind the API server's"},
		"ahead":    {-time.Hour, Wrong, "ahead of the API server's"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{answers: complete(t), date: time.Now().Add(tt.ahead).UTC().Format(http.TimeFormat)}
			got := found(t, Run(t.Context(), slowly(ClusterChecks(clusterOptions(s.start(t))))), "clock")
			if got.State != tt.state || !strings.Contains(got.Detail, tt.want) {
				t.Errorf("got %s %q", got.State, got.Detail)
			}
		})
	}
}
