package doctor

import (
	"context"
	"encoding/json"
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

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

// google answers requests, "GET /storage/b/B", with JSON; a code in its error is that of the answer.
type google struct {
	answers map[string]string
	tokens  *gcptest.Server
	url     string

	mu   sync.Mutex
	sent []string // what changes something, with the body
}

func serve(t *testing.T, answers map[string]string) *google {
	t.Helper()
	g := &google{answers: completeCloud(), tokens: gcptest.New(t)}
	maps.Copy(g.answers, answers)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.URL.Path
		if r.Method == http.MethodPatch {
			body, _ := io.ReadAll(r.Body)
			g.mu.Lock()
			g.sent = append(g.sent, line+"?"+r.URL.RawQuery+" "+strings.TrimSpace(string(body)))
			g.mu.Unlock()
		}
		text := g.answers[line]
		if text == "" {
			text = answerRefused(404, "not found")
		}
		var answer struct{ Error struct{ Code int } }
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		w.Header().Set("Content-Type", "application/json")
		if answer.Error.Code != 0 {
			w.WriteHeader(answer.Error.Code)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(h.Close)
	g.url = h.URL
	return g
}

func (g *google) env(name string) string {
	for _, s := range gcp.Services() {
		if s.Variable() == name {
			return g.url + "/" + string(s) + "/"
		}
	}
	return g.tokens.Env(name)
}

func answerRefused(code int, message string) string {
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message}})
	return string(text)
}

// disabled is the refusal of an API that is not enabled.
func disabled(api string) string {
	return `{"error":{"code":403,"message":"It is disabled.","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","metadata":{"service":"` + api + `.googleapis.com"}}]}}`
}

const (
	projectPath  = "GET /cloudresourcemanager/v3/projects/acme"
	billingPath  = "GET /cloudbilling/v1/projects/acme/billingInfo"
	apisPath     = "GET /serviceusage/v1/projects/acme/services:batchGet"
	clusterPath  = "GET /container/v1/projects/acme/locations/us-central1-a/clusters/c"
	clustersPath = "GET /container/v1/projects/acme/locations/-/clusters"
	regionPath   = "GET /compute/projects/acme/regions/us-central1"
	gpusPath     = "GET /compute/projects/acme"
	bucketPath   = "/storage/b/acme-kn-c-jobs"
	accountPath  = "POST /iam/v1/projects/-/serviceAccounts/jobs@acme.iam.gserviceaccount.com:getIamPolicy"
	pods         = `"workloadMetadataConfig":{"mode":"GKE_METADATA"}`
	pools        = `"nodePools":[{"name":"cpus","status":"RUNNING","config":{"machineType":"e2-standard-4",` + pods + `}},{"name":"v6e","status":"RUNNING","config":{"machineType":"ct6e-standard-8t",` + pods + `}}]`
	running      = `{"status":"RUNNING","currentMasterVersion":"1.33.2","workloadIdentityConfig":{"workloadPool":"acme.svc.id.goog"},` + pools + `}`
	autopilot    = `{"status":"RUNNING","currentMasterVersion":"1.33.2","workloadIdentityConfig":{"workloadPool":"acme.svc.id.goog"},"autopilot":{"enabled":true},"nodePools":[{"name":"pool-1","status":"ERROR"}]}`
	seesBucket   = `{"role":"roles/storage.legacyBucketReader","members":["serviceAccount:jobs@acme.iam.gserviceaccount.com","` + ofPods + `"]}`
	policyPath   = "POST /cloudresourcemanager/v3/projects/acme:getIamPolicy"
	member       = "serviceAccount:acme.svc.id.goog[ml/kinetic]"
	ofPods       = "principal://iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/acme.svc.id.goog/subject/ns/ml/sa/kinetic"
)

// completeCloud returns the answers about a project that has all that jobs need.
func completeCloud() map[string]string {
	return map[string]string{
		projectPath: `{"name":"projects/123","projectId":"acme","state":"ACTIVE"}`,
		billingPath: `{"billingEnabled":true,"billingAccountName":"billingAccounts/1-2"}`,
		apisPath:    apisWithout(""),
		clusterPath: running,
		gpusPath:    `{"name":"acme","quotas":[{"metric":"GPUS_ALL_REGIONS","limit":16}]}`,
		regionPath:  `{"name":"us-central1","quotas":[{"metric":"NVIDIA_L4_GPUS","limit":4,"usage":1}]}`,
		"GET /artifactregistry/v1/projects/acme/locations/us/repositories/kn-c": `{"format":"DOCKER"}`,
		accountPath:                  `{"bindings":[{"role":"roles/iam.workloadIdentityUser","members":["` + member + `"]}]}`,
		"GET " + bucketPath + "/iam": `{"bindings":[{"role":"roles/storage.objectUser","members":["serviceAccount:jobs@acme.iam.gserviceaccount.com"]},` + seesBucket + `]}`,
		"GET " + bucketPath + "/iam/testPermissions": `{"permissions":["storage.objects.create","storage.objects.get","storage.objects.list","storage.objects.delete"]}`,
		"GET " + bucketPath:                          `{"metageneration":"7","lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":{"age":30,"matchesPrefix":["blobs/","data/","pathways/","warm/"]}}]}}`,
	}
}

func options(env func(string) string) GoogleOptions {
	return GoogleOptions{
		Target: config.Target{GKE: true, Project: "acme", Zone: "us-central1-a", Cluster: "c", Namespace: "ml", Store: "gs://acme-kn-c-jobs",
			From: config.Sources{Project: "profile dev"}},
		Images: "us-docker.pkg.dev/acme/kn-c/env",
		Env:    env, FixCommand: "kubectl kinetic doctor --fix", IdentityNeeds: "account",
		Identity: func(context.Context) (string, error) { return "jobs@acme.iam.gserviceaccount.com", nil },
	}
}

// checks returns the checks, with one of the cluster before those of the store.
func checks(o GoogleOptions) []Check {
	project, store := GoogleChecks(o)
	account := Check{Name: "account", Run: func(context.Context) Finding { return Good("there") }}
	return slices.Concat(project, []Check{account}, store)
}

// run makes the checks, for as long as a busy machine needs.
func run(t *testing.T, o GoogleOptions) []Result {
	t.Helper()
	all := checks(o)
	for i := range all {
		all[i].Within = time.Minute
	}
	return Run(t.Context(), all)
}

func find(t *testing.T, results []Result, name string) Finding {
	t.Helper()
	at := slices.IndexFunc(results, func(r Result) bool { return r.Name == name })
	if at < 0 {
		t.Fatalf("there is no check %s", name)
	}
	return results[at].Finding
}

func parse(t *testing.T, text string) *api.Accelerator {
	t.Helper()
	a, err := accelerator.Parse(text, accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

// apisWithout is the answer about the APIs that up enables, of which one is off; "" for none.
func apisWithout(off string) string {
	var services []string
	for _, name := range infracloud.APIs() {
		state := "ENABLED"
		if name == off {
			state = "DISABLED"
		}
		services = append(services, fmt.Sprintf(`{"name":"projects/1/services/%s","state":%q}`, name, state))
	}
	return `{"services":[` + strings.Join(services, ",") + `]}`
}
