package kube

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

const (
	setName  = "keras-pathways-a1"
	setGroup = "/apis/leaderworkerset.x-k8s.io/v1"
	setPath  = setGroup + "/namespaces/ml/leaderworkersets/" + setName
	rbacPath = "/apis/rbac.authorization.k8s.io/v1/namespaces/ml/"
)

func theSet(args ...any) *unstructured.Unstructured {
	pod := func() map[string]any {
		worker := map[string]any{"name": api.ContainerName, "args": args, "env": []any{keyFrom("kinetic-a1-env")}}
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "first"}, worker}}}
	}
	template := map[string]any{"leaderTemplate": pod(), "workerTemplate": pod()}
	set := object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", setName, map[string]any{"spec": map[string]any{"leaderWorkerTemplate": template}})
	set.SetLabels(map[string]string{api.LabelJobID: "a1"})
	return set
}

// keyFrom returns how the manifests take the key of the hosts from a Secret.
func keyFrom(secret string) map[string]any {
	ref := map[string]any{"name": secret, "key": api.Contract.Names.GroupKey, "optional": true}
	return map[string]any{"name": api.Contract.Names.GroupKey, "valueFrom": map[string]any{"secretKeyRef": ref}}
}

// optionalKeys counts the pods of a workload that start without the key of the hosts, too.
func optionalKeys(t *testing.T, workload map[string]any) int {
	t.Helper()
	text, err := json.Marshal(workload)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), `"optional":true`)
}

// startSet makes a server that has LeaderWorkerSets, and a Submission of one; told are
// the messages to the user.
func startSet(t *testing.T, more ...*unstructured.Unstructured) (s *objectServer, w *Submission, told *[]string) {
	t.Helper()
	s, told = &objectServer{objects: map[string]map[string]any{}}, new([]string)
	var group map[string]any
	if err := json.Unmarshal([]byte(`{"kind":"APIResourceList","resources":[{"name":"leaderworkersets","kind":"LeaderWorkerSet","namespaced":true}]}`), &group); err != nil {
		t.Fatal(err)
	}
	s.objects[setGroup] = group
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client, err := NewClient(&rest.Config{Host: server.URL, QPS: -1}, "ml", func(line string) { *told = append(*told, line) })
	if err != nil {
		t.Fatal(err)
	}
	const version = "rbac.authorization.k8s.io/v1"
	objects := []*unstructured.Unstructured{object(version, "Role", setName, nil), object(version, "RoleBinding", setName, nil), runnerMap(), theSet("--call", "1")}
	return s, New(client).Submission(append(objects, more...)), told
}

// The objects that allow the leader to end the set are removed with the set.
func TestStartOfASet(t *testing.T) {
	s, w, told := startSet(t)
	if err := w.Start(t.Context(), a1, map[string]string{"TOKEN": "hush"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{rbacPath + "roles/" + setName, rbacPath + "rolebindings/" + setName, core + "secrets/kinetic-a1-env"} {
		if got := s.ownersOf(name); !slices.Equal(got, []string{"uid-of-" + setName}) {
			t.Errorf("%s has the owners %q", name, got)
		}
	}
	if s.at(setPath) == nil || len(*told) > 0 {
		t.Errorf("objects %v, told %q", s.all(), *told)
	}
}

// A set that Kueue has put into the queue of its namespace, and would keep there because
// of its long name, is not left there.
func TestSetsInAQueueThatTheyDidNotName(t *testing.T) {
	const longest = "keras-pathways-20260417-153012-abc12345"
	for name, c := range map[string]struct {
		name, queue string
		refused     bool
	}{
		"a name that fits":            {longest, "default", false},
		"one that is too long":        {longest + "6", "default", true},
		"too long, without any queue": {longest + "6", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, _ := startSet(t)
			set := theSet()
			set.SetName(c.name)
			if c.queue != "" {
				set.SetLabels(map[string]string{api.LabelJobID: "a1", api.LabelQueue: c.queue})
			}
			w.objects = []*unstructured.Unstructured{runnerMap(), set}
			_, dry := w.DryRun(t.Context())
			err := w.Start(t.Context(), a1, nil)
			for _, err := range []error{dry, err} {
				if (err != nil) != c.refused || c.refused && (!strings.HasPrefix(err.Error(), "job a1: ") || !strings.HasSuffix(err.Error(), "submit it with --queue default, which shortens the name")) {
					t.Errorf("got %v", err)
				}
			}
			if left := s.at(path.Dir(setPath)+"/"+c.name) != nil; left == c.refused {
				t.Errorf("the set is there: %t", left)
			}
		})
	}
}

// A host that starts before the Secret exists waits for it: without the key, the hosts that
// have it would refuse it. If the Secret can't be created, or it is not known whether it
// can, no host waits.
func TestHostsWaitForTheirKey(t *testing.T) {
	type refusal func(w http.ResponseWriter, r *http.Request) bool
	const invalid = http.StatusUnprocessableEntity
	answering := func(dryRun bool, code int, reason metav1.StatusReason) refusal {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/secrets") || (r.URL.Query().Get("dryRun") != "") != dryRun {
				return false
			}
			fail(w, code, reason)
			return true
		}
	}
	forbidden := func(dryRun bool) refusal {
		return answering(dryRun, http.StatusForbidden, metav1.StatusReasonForbidden)
	}
	badRequest := answering(true, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	key := map[string]string{api.Contract.Names.GroupKey: "k"}
	foreign := theSet("--call", "1")
	for _, template := range []string{"leaderTemplate", "workerTemplate"} {
		path := []string{"spec", "leaderWorkerTemplate", template, "spec", "containers"}
		worker := map[string]any{"name": api.ContainerName, "env": []any{keyFrom("mine")}}
		if err := unstructured.SetNestedSlice(foreign.Object, []any{worker}, path...); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		set      *unstructured.Unstructured
		secrets  map[string]string
		left     bool
		refuse   refusal
		optional int
		fails    bool
	}{
		"they may have it":             {secrets: key},
		"with values of the user's":    {secrets: map[string]string{api.Contract.Names.GroupKey: "k", "TOKEN": "hush"}},
		"an older Secret is there":     {secrets: key, left: true},
		"nobody may make it":           {secrets: key, refuse: forbidden(true), optional: 2},
		"a webhook takes no dry-run":   {secrets: key, refuse: badRequest, optional: 2},
		"nobody makes one":             {optional: 2},
		"it comes from another Secret": {set: foreign, secrets: key, optional: 2},
		"the right is lost in between": {secrets: key, refuse: forbidden(false), fails: true},
		"it can't be made after all":   {secrets: key, refuse: answering(false, invalid, metav1.StatusReasonInvalid), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, _ := startSet(t)
			if c.set != nil {
				w.objects[len(w.objects)-1] = c.set
			}
			if c.left {
				s.objects[core+"secrets/kinetic-a1-env"] = object("v1", "Secret", "kinetic-a1-env", nil).Object
			}
			s.refuse = c.refuse
			shown := w.objects[len(w.objects)-1].DeepCopy()
			err := w.Start(t.Context(), a1, c.secrets)
			if c.fails {
				if err == nil || s.at(setPath) != nil {
					t.Errorf("got %v and objects %v", err, s.all())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := optionalKeys(t, s.at(setPath)); got != c.optional {
				t.Errorf("%d pods start without the key, want %d", got, c.optional)
			}
			if diff := cmp.Diff(shown.Object, w.objects[len(w.objects)-1].Object); diff != "" {
				t.Errorf("what a dry-run shows has changed (-was +is)\n%s", diff)
			}
		})
	}
}

// The hosts of an Indexed Job wait as well: the Job would fail with the first host that leaves.
func TestHostsOfAJobWaitForTheirKey(t *testing.T) {
	s, w := start(t)
	worker := map[string]any{"name": api.ContainerName, "env": []any{keyFrom("kinetic-a1-env")}}
	pod := map[string]any{"containers": []any{worker}}
	if err := unstructured.SetNestedMap(w.objects[1].Object, pod, "spec", "template", "spec"); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context(), a1, map[string]string{api.Contract.Names.GroupKey: "k"}); err != nil {
		t.Fatal(err)
	}
	if got := optionalKeys(t, s.at(jobPath)); got != 0 {
		t.Errorf("%d pods start without the key", got)
	}
	if s.at(core+"secrets/kinetic-a1-env") == nil {
		t.Error("there is no Secret")
	}
}

// The hosts of an existing job may have its key already, and its values are the user's, so a repeated submit,
// which is refused, keeps them.
func TestStartLeavesTheSecretOfAJob(t *testing.T) {
	const secret = core + "secrets/kinetic-a1-env"
	for _, name := range []string{api.Contract.Names.GroupKey, "TOKEN"} {
		s, w, _ := startSet(t)
		s.objects[setPath] = theSet("--call", "1").Object
		s.objects[secret] = object("v1", "Secret", "kinetic-a1-env", map[string]any{"data": map[string]any{name: "first"}}).Object
		if err := w.Start(t.Context(), a1, map[string]string{name: "second"}); !errors.Is(err, api.ErrMayRun) {
			t.Errorf("%s: got %v", name, err)
		}
		if got := s.at(secret)["data"].(map[string]any)[name]; got != "first" {
			t.Errorf("%s is %v", name, got)
		}
	}
}

// Every operation that would create a LeaderWorkerSet finds out before it creates
// anything that the cluster has none.
func TestSetsAreMissing(t *testing.T) {
	for name, do := range map[string]func(*testing.T, *Submission) error{
		"ready": func(t *testing.T, w *Submission) error { return w.Ready(t.Context()) },
		"start": func(t *testing.T, w *Submission) error { return w.Start(t.Context(), a1, nil) },
		"prepare": func(t *testing.T, w *Submission) error {
			return w.Prepare(t.Context(), a1, map[string]string{"TOKEN": "hush"})
		},
		"dry run": func(t *testing.T, w *Submission) error { _, err := w.DryRun(t.Context()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s, w, _ := startSet(t)
			delete(s.objects, setGroup)
			err := do(t, w)
			if !errors.As(err, new(*apiserver.MissingError)) || !isUsage(err) {
				t.Errorf("got %v, want that a kind is missing", err)
			}
			for _, want := range []string{"kubectl apply --server-side -f https://github.com/kubernetes-sigs/lws/", "--backend gke"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
			}
			if len(s.all()) != 0 {
				t.Errorf("it made %v", s.all())
			}
		})
	}
}

// A set that exists already belongs to the same job, or to another.
func TestStartFindsASet(t *testing.T) {
	for name, c := range map[string]struct {
		args   []any
		mayRun bool
	}{
		"the same call": {[]any{"--call", "1"}, true},
		"another call":  {[]any{"--call", "2"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, _ := startSet(t)
			s.objects[setPath] = theSet(c.args...).Object
			err := w.Start(t.Context(), a1, nil)
			if !errors.Is(err, fs.ErrExist) || errors.Is(err, api.ErrMayRun) != c.mayRun {
				t.Errorf("got %v", err)
			}
		})
	}
}
