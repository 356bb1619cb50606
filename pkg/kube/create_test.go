package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// The job's own objects are removed with the Job; the runner isn't.
func TestStartOwnsWhatIsTheJobs(t *testing.T) {
	s, w := start(t, claimOf("1Gi"), object("networking.k8s.io/v1", "NetworkPolicy", "closed", nil))
	if err := w.Start(t.Context(), a1, map[string]string{"TOKEN": "hush"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		runnerPath:                              false,
		core + "persistentvolumeclaims/scratch": true,
		core + "secrets/kinetic-a1-env":         true,
		"/apis/networking.k8s.io/v1/namespaces/ml/networkpolicies/closed": true,
		jobPath: false,
	} {
		if s.at(name) == nil {
			t.Errorf("%s was not made", name)
		} else if got := slices.Contains(s.ownersOf(name), "uid-of-kinetic-a1"); got != want {
			t.Errorf("%s is the job's: %v, want %v", name, got, want)
		}
	}
	if i, j := s.index("POST "+path.Dir(jobPath)), s.index("POST "+core+"secrets"); i > j {
		t.Errorf("the Secret came before the Job: %q", s.asked)
	}
}

// An object that exists already is shared with other jobs, left to its creator, or causes
// an error.
func TestStartFindsObjects(t *testing.T) {
	const claim, secret = "persistentvolumeclaims/scratch", "secrets/token"
	for name, tt := range map[string]struct {
		found, want  *unstructured.Unstructured
		owner, where string
		owners       []string
		fails        string
	}{
		"another job's":            {claimOf("1Gi"), claimOf("1Gi"), "kinetic-b2", claim, []string{"another", "uid-of-kinetic-a1"}, ""},
		"the same in other words":  {claimOf("1Gi"), claimOf("1024Mi"), "kinetic-b2", claim, []string{"another", "uid-of-kinetic-a1"}, ""},
		"a Secret's text":          {textOf("hush"), textOf("hush"), "kinetic-b2", secret, []string{"another", "uid-of-kinetic-a1"}, ""},
		"a Secret of another text": {textOf("hush"), textOf("loud"), "kinetic-b2", secret, []string{"another"}, "namespace ml with different content"},
		"made by hand":             {claimOf("1Gi"), claimOf("1Gi"), "", claim, nil, ""},
		"one that says otherwise":  {claimOf("2Gi"), claimOf("1Gi"), "kinetic-b2", claim, []string{"another"}, "namespace ml with different content"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := start(t, tt.want)
			s.put(tt.found, tt.owner)
			err := w.Start(t.Context(), a1, nil)
			if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Fatalf("got %v, want %q in it", err, tt.fails)
			}
			if got := s.ownersOf(core + tt.where); !slices.Equal(got, tt.owners) {
				t.Errorf("got owners %q, want %q", got, tt.owners)
			}
			if there := s.at(jobPath) != nil; there != (err == nil) {
				t.Errorf("the Job is there: %v, after %v", there, err)
			}
		})
	}
}

// A Job of the same name is left alone. If it runs our call, the records belong to both,
// and a Secret that an interrupted submit did not create is created.
func TestStartLeavesAnotherJob(t *testing.T) {
	for name, tt := range map[string]struct {
		call   string
		mayRun bool
	}{"with our call": {"1", true}, "with another call": {"2", false}} {
		t.Run(name, func(t *testing.T) {
			s, w := start(t)
			s.objects[jobPath] = theJob("--call", tt.call).Object
			err := w.Start(t.Context(), a1, map[string]string{"TOKEN": "hush"})
			if !errors.Is(err, fs.ErrExist) || errors.Is(err, api.ErrMayRun) != tt.mayRun {
				t.Errorf("got %v", err)
			}
			if made := s.at(core+"secrets/kinetic-a1-env") != nil; made != tt.mayRun {
				t.Errorf("the Secret was made: %v", made)
			}
			if s.at(jobPath) == nil {
				t.Error("the other Job was removed")
			}
		})
	}
}

// Submits of the same job may replace a leftover Secret at the same time. None of them
// fails because of that.
func TestStartsThatMakeTheSameSecret(t *testing.T) {
	const secrets = core + "secrets"
	s, w := start(t)
	left := object("v1", "Secret", "kinetic-a1-env", nil).Object
	s.objects[secrets+"/kinetic-a1-env"] = left
	rivals := 3
	s.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.URL.Path == secrets && rivals > 0 {
			rivals--
			s.objects[secrets+"/kinetic-a1-env"] = left
		}
		return false
	}
	if err := w.Start(t.Context(), a1, map[string]string{"TOKEN": "hush"}); err != nil {
		t.Fatal(err)
	}
	if got := s.ownersOf(secrets + "/kinetic-a1-env"); !slices.Contains(got, "uid-of-kinetic-a1") {
		t.Errorf("the Secret has owners %q", got)
	}
}

// In a namespace that doesn't exist, no Job is found either. Creating one reports that.
func TestPrepareMissesTheNamespace(t *testing.T) {
	s, w := start(t)
	s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		answerWith(w, http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{Kind: "namespaces", Name: "ml"}})
		return true
	}
	err := w.Prepare(t.Context(), a1, nil)
	if err == nil || !strings.Contains(err.Error(), "there is no namespace ml") {
		t.Errorf("got %v", err)
	}
	if !isUsage(err) {
		t.Error("a namespace that is not there is an error of the command line")
	}
}

// After a refusal there is nothing to remove, least of all someone else's Job of that
// name.
func TestStartRemovesNothingAfterARefusal(t *testing.T) {
	s, w := start(t)
	s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.URL.Path == path.Dir(jobPath) {
			fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
			return true
		}
		return false
	}
	if err := w.Start(t.Context(), a1, nil); err == nil {
		t.Fatal("no error")
	}
	if i := slices.IndexFunc(s.asked, func(r string) bool { return strings.HasPrefix(r, "DELETE ") }); i >= 0 {
		t.Errorf("it asked to %s", s.asked[i])
	}
}

// Submits at the same time get into each other's way where a quota counts objects. Then nothing was created, and
// another try may succeed. Any other conflict is final.
func TestStartWhileAQuotaIsUsedByOthers(t *testing.T) {
	for resource, starts := range map[string]bool{"resourcequotas": true, "jobs": false} {
		t.Run(resource, func(t *testing.T) {
			s, w := start(t, claimOf("1Gi"))
			conflicts := map[string]int{}
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if conflicts[r.URL.Path]++; r.Method != http.MethodPost || conflicts[r.URL.Path] > 1 {
					return false
				}
				conflict := apierrors.NewConflict(schema.GroupResource{Resource: resource}, "gke-resource-quotas", errors.New("it has been modified")).ErrStatus
				conflict.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
				answerWith(w, http.StatusConflict, conflict)
				return true
			}
			_, dry := w.DryRun(t.Context())
			clear(conflicts)
			err := w.Start(t.Context(), a1, nil)
			if made := s.at(jobPath) != nil; made != starts || starts != (err == nil) || starts != (dry == nil) {
				t.Errorf("the Job is there: %v, %v; dry run: %v", made, err, dry)
			}
		})
	}
}

// Kinds that are not in the table cost one request for their group.
func TestRareKindsAreDiscovered(t *testing.T) {
	resources := `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[
		{"name":"things","kind":"Thing","namespaced":true},{"name":"things/status","kind":"Thing","namespaced":true},
		{"name":"others","kind":"Other","namespaced":true},{"name":"worlds","kind":"World","namespaced":false}]}`
	for name, tt := range map[string]struct{ kind, fails string }{
		"known":           {"Thing", ""},
		"cluster-wide":    {"World", "cluster-scoped objects can't be deleted with the job"},
		"not in the list": {"Nothing", "no such kind in example.com/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := start(t, object("example.com/v1", tt.kind, "x", nil), object("example.com/v1", "Other", "y", nil))
			var group map[string]any
			if err := json.Unmarshal([]byte(resources), &group); err != nil {
				t.Fatal(err)
			}
			s.objects["/apis/example.com/v1"] = group
			err := w.Start(t.Context(), a1, nil)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || s.at(jobPath) != nil {
					t.Errorf("got %v, want %q in it and no Job", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			asked := slices.DeleteFunc(slices.Clone(s.asked), func(r string) bool { return r != "GET /apis/example.com/v1" })
			if len(asked) != 1 || s.at("/apis/example.com/v1/namespaces/ml/things/x") == nil {
				t.Errorf("asked %q", s.asked)
			}
		})
	}
}

// A dry-run creates nothing, and shows the existing runner.
func TestDryRun(t *testing.T) {
	s, w := start(t, claimOf("1Gi"))
	s.objects[runnerPath] = runnerMap().Object
	made, err := w.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range made {
		names = append(names, fmt.Sprint(o.GetKind(), " ", o.GetName(), " ", o.GetUID(), len(o.GetManagedFields())))
	}
	want := []string{"ConfigMap kinetic-runner-12 0", "Job kinetic-a1 uid-of-kinetic-a10", "PersistentVolumeClaim scratch uid-of-scratch0"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if len(s.all()) != 1 {
		t.Errorf("it left %d objects, want 1", len(s.all()))
	}
}

// A submit makes few requests: for the runner's ConfigMap, which usually exists and then is not
// charged to a quota, the quotas, and the Job.
func TestStartAsksLittle(t *testing.T) {
	s, w := start(t)
	there := runnerMap()
	there.SetCreationTimestamp(metav1.Now()) // so that no cleanup removes it yet
	s.objects[runnerPath] = there.Object
	if err := w.Start(t.Context(), a1, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"GET " + runnerPath, "GET " + core + "resourcequotas", "POST " + core + "configmaps?All", "POST " + path.Dir(jobPath)}
	slices.Sort(s.asked)
	if !slices.Equal(s.asked, want) {
		t.Errorf("asked %q, want %q", s.asked, want)
	}
}

// Prepare creates a Secret without an owner. A repeated Prepare creates it again, a start
// takes it over, and it can be removed on its own.
func TestPrepare(t *testing.T) {
	const secret = core + "secrets/kinetic-a1-env"
	s, w := start(t)
	value := func() any { return s.at(secret)["data"].(map[string]any)["TOKEN"] }
	for _, hush := range []string{"old", "new"} {
		if err := w.Prepare(t.Context(), a1, map[string]string{"TOKEN": hush}); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.all()) != 2 || s.at(runnerPath) == nil || len(s.ownersOf(secret)) != 0 || value() != "bmV3" {
		t.Fatalf("got %v", s.all())
	}
	if err := w.Start(t.Context(), a1, map[string]string{"TOKEN": "newer"}); err != nil {
		t.Fatal(err)
	}
	if len(s.ownersOf(secret)) != 1 || value() != "bmV3ZXI=" {
		t.Errorf("after a start the Secret is %v", s.at(secret))
	}
	if err := w.Prepare(t.Context(), a1, map[string]string{"TOKEN": "late"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("with a Job of that name: %v", err)
	}
	for range 2 {
		if err := w.removeSecret(t.Context(), api.Handle{JobID: "a1", SecretEnv: []string{"TOKEN"}}); err != nil {
			t.Error(err)
		}
	}
	if s.at(secret) != nil {
		t.Error("the Secret is still there")
	}
}
