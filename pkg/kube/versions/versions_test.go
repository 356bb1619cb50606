package versions

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
)

// server answers with the JSON of its paths, and elsewhere as an API server does for what it
// does not have, or with the text of "elsewhere".
type server map[string]string

const (
	hang      = "hang" // does not answer until the test ends
	elsewhere = "elsewhere"
	html      = "<html>not found</html>"
)

func (s server) start(t *testing.T) *rest.Config {
	t.Helper()
	over, end := context.WithCancel(t.Context())
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(over, t, w, r) }))
	t.Cleanup(h.Close)
	t.Cleanup(end)
	return &rest.Config{Host: h.URL, QPS: -1}
}

func (s server) answer(over context.Context, t *testing.T, w http.ResponseWriter, r *http.Request) {
	text, found := s[r.URL.Path]
	if text == hang {
		<-over.Done()
		return
	}
	if !found {
		http.Error(w, cmp.Or(s[elsewhere], "404 page not found"), http.StatusNotFound)
		return
	}
	var status struct{ Code int }
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Errorf("%s: %v", r.URL.Path, err)
	}
	w.Header().Set("Content-Type", "application/json")
	if status.Code != 0 {
		w.WriteHeader(status.Code)
	}
	_, _ = w.Write([]byte(text))
}

// inMemory is a server without a network, so that a test can wait without taking time.
type inMemory struct {
	server
	t *testing.T
}

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.answer(r.Context(), m.t, w, r)
	return w.Result(), r.Context().Err()
}

// forbidden is how an API server refuses a user without the right.
func forbidden(verb, resource string) string {
	return `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"` + resource +
		` is forbidden: User \"bob\" cannot ` + verb + ` resource \"` + resource + `\" in API group \"\""}`
}

const (
	lwsGroup   = `{"kind":"APIGroup","apiVersion":"v1","name":"leaderworkerset.x-k8s.io","preferredVersion":{"groupVersion":"leaderworkerset.x-k8s.io/v1","version":"v1"}}`
	deployment = `{"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"proxy:v9"},{"name":"manager","image":"registry.k8s.io:443/lws/lws:v0.7.0@sha256:00"}]}}},"status":{"readyReplicas":1}}`
	configMaps = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[
 {"metadata":{"name":"kinetic-runner-old","creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"kubectl-kinetic.github.io/runner-version":"v0.1.0"}}},
 {"metadata":{"name":"kinetic-runner-ours","creationTimestamp":"2026-02-01T00:00:00Z","annotations":{"kubectl-kinetic.github.io/runner-version":"v0.2.0"}}},
 {"metadata":{"name":"something-else","creationTimestamp":"2026-02-01T00:00:00Z"}},
 {"metadata":{"name":"kinetic-runner-new","creationTimestamp":"2026-03-01T00:00:00Z","annotations":{"kubectl-kinetic.github.io/runner-version":"v0.3.0"}}}]}`
	lwsPath, lwsDeployment = "/apis/leaderworkerset.x-k8s.io", "/apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager"
	configMapsPath         = "/api/v1/namespaces/ml/configmaps"
)

func at(month time.Month) time.Time { return time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC) }

func TestRead(t *testing.T) {
	kubernetes := &apiversion.Info{GitVersion: "v1.36.3"}
	runners := []Runner{
		{"kinetic-runner-ours", "v0.2.0", Current, at(2)},
		{"kinetic-runner-new", "v0.3.0", Newer, at(3)},
		{"kinetic-runner-old", "v0.1.0", Older, at(1)},
	}
	const notFound = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
	const unauthorized = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`
	tests := map[string]struct {
		server server
		want   Inventory
	}{
		"all that there can be": {
			server{"/version": `{"gitVersion":"v1.36.3"}`, lwsPath: lwsGroup, lwsDeployment: deployment, configMapsPath: configMaps},
			Inventory{Server: kubernetes, LeaderWorkerSet: &AddOn{true, "v1", "v0.7.0", new(true)}, Kueue: &AddOn{}, Runners: runners, Errors: map[string]string{}},
		},
		"a new namespace, and controllers that only others may see": {
			server{"/version": `{"gitVersion":"v1.36.3"}`, lwsPath: lwsGroup, lwsDeployment: forbidden("get", "deployments"), configMapsPath: `{"items":[]}`},
			Inventory{Server: kubernetes, LeaderWorkerSet: &AddOn{Installed: true, APIVersion: "v1"}, Kueue: &AddOn{}, Runners: []Runner{}, Errors: map[string]string{}},
		},
		"a controller that does not run": {
			server{"/version": `{"gitVersion":"v1.36.3"}`, lwsPath: lwsGroup, lwsDeployment: `{"spec":{"template":{"spec":{"containers":[{"name":"manager","image":"lws"}]}}}}`, configMapsPath: `{"items":[]}`},
			Inventory{Server: kubernetes, LeaderWorkerSet: &AddOn{true, "v1", "", new(false)}, Kueue: &AddOn{}, Runners: []Runner{}, Errors: map[string]string{}},
		},
		"a server that says in JSON what it does not have": {
			server{"/version": `{"gitVersion":"v1.36.3"}`, lwsPath: notFound, configMapsPath: `{"items":[]}`},
			Inventory{Server: kubernetes, LeaderWorkerSet: &AddOn{}, Kueue: &AddOn{}, Runners: []Runner{}, Errors: map[string]string{}},
		},
		"not an API server": {
			server{elsewhere: html},
			Inventory{Error: `not a Kubernetes API server response: "` + html + `": check the address (kubectl cluster-info) and HTTPS_PROXY if there is a proxy`},
		},
		"without a right": {
			server{"/version": `{"gitVersion":"v1.36.3"}`, configMapsPath: forbidden("list", "configmaps")},
			Inventory{Server: kubernetes, LeaderWorkerSet: &AddOn{}, Kueue: &AddOn{},
				Errors: map[string]string{PartRunners: "forbidden: you need the verb list on configmaps"}},
		},
		"credentials that have expired": {
			server{"/version": unauthorized, lwsPath: unauthorized, "/apis/kueue.x-k8s.io": unauthorized, configMapsPath: unauthorized},
			Inventory{Error: "the API server does not accept your credentials, which may have expired: log in again, on GKE with `gcloud auth login`; elsewhere, get a new kubeconfig"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Read(t.Context(), tt.server.start(t), Options{"ml", Client{"v0.2.0", []string{"ours"}}, time.Hour})
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAServerThatHangs(t *testing.T) {
	all := server{"/version": hang, lwsPath: hang, lwsDeployment: hang, "/apis/kueue.x-k8s.io": hang, configMapsPath: hang}
	const within = 10 * time.Millisecond
	got := Read(t.Context(), all.start(t), Options{"ml", Client{}, within})
	if diff := gocmp.Diff(Inventory{Error: "no answer within 10ms"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAControllerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server{"/version": `{}`, lwsPath: lwsGroup, lwsDeployment: hang, configMapsPath: `{"items":[]}`}
		config := &rest.Config{Host: "http://api.example", QPS: -1, Transport: inMemory{s, t}}
		got := Read(t.Context(), config, Options{"ml", Client{}, time.Second})
		want := Inventory{Server: &apiversion.Info{}, LeaderWorkerSet: &AddOn{Installed: true, APIVersion: "v1"}, Kueue: &AddOn{},
			Runners: []Runner{}, Errors: map[string]string{}}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAServerThatIsGone(t *testing.T) {
	got := Read(t.Context(), &rest.Config{Host: "https://127.0.0.1:1"}, Options{"ml", Client{}, time.Hour})
	want := Inventory{Error: "the API server can't be reached: nothing listens at 127.0.0.1:1: is the cluster running? check its address with kubectl config view --minify"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRelation(t *testing.T) {
	tests := map[string]struct {
		ours, theirs string
		want         Relation
	}{
		"a release before":                     {"v0.2.0", "v0.1.9", Older},
		"a release after":                      {"v0.2.0", "v0.10.0", Newer},
		"a candidate of it":                    {"v0.2.0", "v0.2.0-rc.1", Older},
		"a commit after the release before":    {"v0.2.0", "v0.1.0-5-g7fd66dd", Older},
		"a commit after the same release":      {"v0.2.0", "v0.2.0-5-g7fd66dd", Different},
		"two commits after the same release":   {"v0.2.0-1-gabcdef0", "v0.2.0-5-g7fd66dd", Different},
		"a commit without a release before it": {"v0.2.0", "v0.0.0-20261121123755-7fd66dd8a1b2", Different},
		"a build that knows no version":        {"v0.2.0", "devel-7fd66dd8a1b2", Different},
		"this build knows no version":          {"devel", "v0.1.0", Different},
		"without a version":                    {"v0.2.0", "", Different},
		"the same version, another runner":     {"v0.2.0", "v0.2.0", Different},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := Client{tt.ours, []string{"ours"}}
			if got := c.relation(tt.theirs, "theirs"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := c.relation(tt.theirs, "ours"); got != Current {
				t.Errorf("with the same hash: got %s", got)
			}
		})
	}
}

func TestTagOf(t *testing.T) {
	for image, want := range map[string]string{
		"registry.k8s.io/lws/lws:v0.7.0": "v0.7.0", "host:443/lws": "", "host:443/lws:v1@sha256:00": "v1", "lws": "", "lws@sha256:00": "",
	} {
		if got := tagOf(image); got != want {
			t.Errorf("%s: got %q, want %q", image, got, want)
		}
	}
}
