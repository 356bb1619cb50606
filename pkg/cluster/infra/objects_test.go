package infra

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/manifests/leaderworkerset"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver/apiservertest"
)

const (
	jobsAccount  = "kn-research-jobs@acme.iam.gserviceaccount.com"
	nodesAccount = "kn-research-nodes@acme.iam.gserviceaccount.com"
	account      = "/api/v1/namespaces/ml/serviceaccounts/kinetic"
	userRole     = "/apis/rbac.authorization.k8s.io/v1/namespaces/ml/roles/kinetic-user"
	lwsNamespace = "/api/v1/namespaces/lws-system"
)

func serve(t *testing.T) (*apiservertest.Server, *Cluster) {
	t.Helper()
	server := apiservertest.Start()
	t.Cleanup(server.Close)
	return server, &Cluster{Project: "acme", Connect: func(context.Context) (*rest.Config, error) {
		return &rest.Config{Host: server.URL, BearerToken: "token", TLSClientConfig: rest.TLSClientConfig{CAData: server.Authority()}}, nil
	}}
}

// actors are all objects, in the order in which they are created.
func actors(c *Cluster) []Actor {
	return []Actor{
		LeaderWorkerSet{c}, Namespace{c, "ml"}, ServiceAccount{c, "ml", jobsAccount, []string{nodesAccount}}, Roles{c, "ml"},
		Queue{c, "ml", "kinetic", map[string]string{"cpu": "100", "nvidia.com/gpu": "16"}},
	}
}

// withKueue installs Kueue, v0.15 unless it serves other versions of its API.
func withKueue(s *apiservertest.Server, served ...string) {
	if len(served) == 0 {
		served = []string{"v1beta1", "v1beta2"}
	}
	var versions []any
	for _, name := range []string{"v1beta1", "v1beta2", "v2"} {
		versions = append(versions, map[string]any{"name": name, "served": slices.Contains(served, name)})
	}
	s.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues.kueue.x-k8s.io",
		map[string]any{"kind": "CustomResourceDefinition", "spec": map[string]any{"versions": versions}})
}

// install does what `up` does with what a Get found.
func install(ctx context.Context, all []Actor) error {
	for _, a := range all {
		have, err := a.Get(ctx)
		if err != nil {
			return err
		}
		if have.Exists && len(have.Missing) == 0 {
			continue
		}
		have.Differences = nil
		if err := a.Ensure(ctx, have); err != nil {
			return err
		}
	}
	return nil
}

func fine(t *testing.T, all []Actor) {
	t.Helper()
	for i, a := range all {
		s, err := a.Get(t.Context())
		if err != nil || !s.Exists || s.Missing != nil || s.Differences != nil {
			t.Errorf("%T (%d) is not fine: %+v, %v", a, i, s, err)
		}
	}
}

func TestInstall(t *testing.T) {
	server, c := serve(t)
	withKueue(server)
	if err := install(t.Context(), actors(c)); err != nil {
		t.Fatal(err)
	}
	fine(t, actors(c))
	for path, want := range map[string]string{
		account: jobsAccount, lwsNamespace: leaderworkerset.Version,
		"/apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager": "", userRole: "",
		"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/kinetic": "", "/apis/kueue.x-k8s.io/v1beta2/namespaces/ml/localqueues/kinetic": "",
	} {
		object := server.Object(path)
		if object == nil {
			t.Errorf("there is no %s", path)
			continue
		}
		annotations, _ := object["metadata"].(map[string]any)["annotations"].(map[string]any)
		if want != "" && annotations[WorkloadIdentity] != want && annotations[installed] != want {
			t.Errorf("%s has the annotations %v, want %s", path, annotations, want)
		}
	}
	writes := countWrites(server)
	if err := install(t.Context(), actors(c)); err != nil {
		t.Fatal(err)
	}
	if again := countWrites(server); again != writes {
		t.Errorf("a second time, %d objects were written", again-writes)
	}
}

func countWrites(s *apiservertest.Server) int {
	n := 0
	for _, call := range s.Calls() {
		if strings.HasPrefix(call, http.MethodPatch) {
			n++
		}
	}
	return n
}

// It is cut off before each single write, and repeated.
func TestInstallCanBeCutOffAnywhere(t *testing.T) {
	whole := func() int {
		server, c := serve(t)
		withKueue(server)
		if err := install(t.Context(), actors(c)); err != nil {
			t.Fatal(err)
		}
		return countWrites(server)
	}()
	for n := range whole {
		server, c := serve(t)
		withKueue(server)
		ctx, stop := context.WithCancel(t.Context())
		var writes atomic.Int64
		server.Before(func(method, _ string) (int, string) {
			if method == http.MethodPatch && int(writes.Add(1)) == n+1 {
				stop()
				return http.StatusServiceUnavailable, "the client has gone"
			}
			return 0, ""
		})
		if err := install(ctx, actors(c)); !errors.Is(err, context.Canceled) {
			t.Fatalf("before write %d: got %v", n, err)
		}
		server.Before(nil)
		if err := install(t.Context(), actors(c)); err != nil {
			t.Fatalf("before write %d, again: %v", n, err)
		}
		fine(t, actors(c))
	}
}

// Each request fails once, in each of these ways.
func TestInstallSurvivesFaults(t *testing.T) {
	for name, status := range map[string]int{"429": http.StatusTooManyRequests, "503": http.StatusServiceUnavailable, "401": http.StatusUnauthorized, "reset": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, c := serve(t)
			withKueue(server)
			var mu sync.Mutex
			seen := map[string]bool{}
			server.Before(func(method, path string) (int, string) {
				mu.Lock()
				defer mu.Unlock()
				call := method + " " + path
				if seen[call] {
					return 0, ""
				}
				seen[call] = true
				if status < 0 {
					panic(http.ErrAbortHandler)
				}
				return status, "try again"
			})
			if err := install(t.Context(), actors(c)); err != nil {
				t.Fatal(err)
			}
			fine(t, actors(c))
		})
	}
}

func TestForbiddenNamesTheRole(t *testing.T) {
	server, c := serve(t)
	server.Before(func(method, _ string) (int, string) {
		if method == http.MethodPatch {
			return http.StatusForbidden, `namespaces "ml" is forbidden: User "me@example.com" cannot patch resource "namespaces"`
		}
		return 0, ""
	})
	err := Namespace{c, "ml"}.Ensure(t.Context(), State{})
	var explained *transport.Explained
	if !errors.As(err, &explained) || explained.Of != api.KindForbidden || !strings.Contains(explained.Text, "writing Namespace ml: ") || !strings.Contains(explained.Do, "roles/container.admin") {
		t.Errorf("got %v", err)
	}
}

// What is refused several times has one reason, and an answer of several lines is told in one.
func TestForbiddenIsToldInOneLine(t *testing.T) {
	server, c := serve(t)
	server.Before(func(string, string) (int, string) {
		return http.StatusForbidden, "no:\n{APIGroups:[\"\"]}"
	})
	for _, a := range actors(c) {
		_, err := a.Get(t.Context())
		if err == nil || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "reading ") != 1 {
			t.Errorf("%T: %v", a, err)
		}
	}
}

func TestLeaderWorkerSetOfOthersIsLeftAlone(t *testing.T) {
	server, c := serve(t)
	server.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/leaderworkersets.leaderworkerset.x-k8s.io", map[string]any{"kind": "CustomResourceDefinition"})
	s, err := LeaderWorkerSet{c}.Get(t.Context())
	if err != nil || !s.Exists || s.Missing != nil || s.Detail != "installed by someone else" {
		t.Errorf("got %+v, %v", s, err)
	}
	server.Put("/apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager", map[string]any{"kind": "Deployment", "spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "manager", "image": "registry.k8s.io:443/lws/lws:v0.5.1@sha256:00"}}}}}})
	if s, err := (LeaderWorkerSet{c}).Get(t.Context()); err != nil || s.Detail != "installed by someone else, v0.5.1; `up` installs v0.9.0 where there is none" {
		t.Errorf("got %+v, %v", s, err)
	}
	// Where the plan could not look, because there was no cluster yet.
	if err := (LeaderWorkerSet{c}).Ensure(t.Context(), State{}); err != nil || server.Object(lwsNamespace) != nil {
		t.Errorf("it was installed once more: %v, %v", server.Object(lwsNamespace), err)
	}
}

func TestOlderLeaderWorkerSetDiffers(t *testing.T) {
	server, c := serve(t)
	server.Put(lwsNamespace, map[string]any{"metadata": map[string]any{"name": "lws-system", "labels": map[string]any{managedBy: manager}, "annotations": map[string]any{installed: "v0.7.0"}}})
	s, err := LeaderWorkerSet{c}.Get(t.Context())
	if err != nil || len(s.Differences) != 1 || s.Differences[0].Have != "v0.7.0" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestServiceAccount(t *testing.T) {
	for have, want := range map[string]State{
		"":           {Exists: true, Missing: []string{"the annotation iam.gke.io/gcp-service-account"}},
		jobsAccount:  {Exists: true},
		nodesAccount: {Exists: true}, // as the Python package binds it
		"other@acme": {Exists: true, Differences: []Difference{{Setting: "annotation iam.gke.io/gcp-service-account", Have: "other@acme", Want: jobsAccount}}},
	} {
		server, c := serve(t)
		annotations := map[string]any{}
		if have != "" {
			annotations[WorkloadIdentity] = have
		}
		server.Put(account, map[string]any{"metadata": map[string]any{"name": "kinetic", "annotations": annotations}})
		s, err := ServiceAccount{c, "ml", jobsAccount, []string{nodesAccount}}.Get(t.Context())
		if err != nil || s.Exists != want.Exists || !slices.Equal(s.Missing, want.Missing) || !slices.Equal(s.Differences, want.Differences) {
			t.Errorf("%s: got %+v, %v, want %+v", have, s, err, want)
		}
	}
}

func TestOtherRulesAreOnlyChangedIfTold(t *testing.T) {
	server, c := serve(t)
	server.Put("/api/v1/namespaces/ml", map[string]any{"metadata": map[string]any{"name": "ml"}})
	own := map[string]any{"metadata": map[string]any{"name": "kinetic-user"}, "rules": []any{}}
	server.Put(userRole, own)
	s, err := Roles{c, "ml"}.Get(t.Context())
	if err != nil || len(s.Missing) != 3 || len(s.Differences) != 1 {
		t.Fatalf("got %+v, %v", s, err)
	}
	if err := (Roles{c, "ml"}).Ensure(t.Context(), State{Exists: true, Missing: s.Missing}); err != nil {
		t.Fatal(err)
	}
	if rules := server.Object(userRole)["rules"].([]any); len(rules) > 0 {
		t.Error("other rules were changed")
	}
	if err := (Roles{c, "ml"}).Ensure(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	fine(t, []Actor{Roles{c, "ml"}})
}

func TestQueueSaysHowToInstallKueue(t *testing.T) {
	_, c := serve(t)
	err := Queue{Cluster: c, Namespace: "default", Name: "kinetic"}.Ensure(t.Context(), State{})
	if err == nil || !strings.Contains(err.Error(), "kubectl apply --server-side -f https://") {
		t.Errorf("got %v", err)
	}
}

// The objects of a queue are written in a version of Kueue's API that the cluster serves.
func TestQueueInTheVersionsOfKueue(t *testing.T) {
	for name, tt := range map[string]struct {
		served  []string
		version string
	}{
		"v0.14":           {[]string{"v1beta1"}, "v1beta1"},
		"v0.15 to v0.19":  {[]string{"v1beta1", "v1beta2"}, "v1beta2"},
		"v0.20":           {[]string{"v1beta2"}, "v1beta2"},
		"one that is new": {[]string{"v2"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server, c := serve(t)
			withKueue(server, tt.served...)
			queue := Queue{Cluster: c, Namespace: "default", Name: "kinetic", Quota: map[string]string{"cpu": "100"}}
			err := install(t.Context(), []Actor{queue})
			if tt.version == "" {
				if want := "queue kinetic: the cluster's Kueue serves its API as v2, not v1beta1 or v1beta2: try a newer kubectl kinetic"; err == nil || err.Error() != want {
					t.Errorf("got %v, want %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"resourceflavors/kinetic", "clusterqueues/kinetic", "namespaces/default/localqueues/kinetic"} {
				if o := server.Object("/apis/kueue.x-k8s.io/" + tt.version + "/" + path); o == nil || o["apiVersion"] != "kueue.x-k8s.io/"+tt.version {
					t.Errorf("%s is %v", path, o)
				}
			}
			fine(t, []Actor{queue})
		})
	}
}
