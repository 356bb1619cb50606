package kube

import (
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Objects that a workload owns are removed with it. An object of its name that has no
// owner is removed if it is the job's.
func TestRemovePrepared(t *testing.T) {
	const service = core + "services/kinetic-a1"
	role, binding := rbacPath+"roles/"+setName, rbacPath+"rolebindings/"+setName
	set := api.Handle{JobID: "a1", Backend: api.BackendLWS, K8sName: setName, Hosts: 2}
	job := api.Handle{JobID: "a1", Backend: api.BackendGKE, K8sName: "kinetic-a1", Hosts: 2}
	one := job
	one.Hosts = 1
	of := func(id, owner string) map[string]any {
		metadata := map[string]any{"uid": "u", "labels": map[string]any{api.LabelJobID: id}}
		if owner != "" {
			metadata["ownerReferences"] = []any{map[string]any{"uid": owner}}
		}
		return map[string]any{"kind": "Any", "apiVersion": "v1", "metadata": metadata}
	}
	for name, c := range map[string]struct {
		handle  api.Handle
		objects map[string]map[string]any
		forbid  string // a method
		left    []string
		told    string
	}{
		"of a set":           {set, map[string]map[string]any{role: of("a1", ""), binding: of("a1", "")}, "", nil, ""},
		"of several hosts":   {job, map[string]map[string]any{service: of("a1", "")}, "", nil, ""},
		"owned":              {set, map[string]map[string]any{role: of("a1", "set"), binding: of("a1", "set")}, "", []string{binding, role}, ""},
		"of somebody else":   {job, map[string]map[string]any{service: of("b2", "")}, "", []string{service}, ""},
		"gone already":       {set, map[string]map[string]any{binding: of("a1", "")}, "", nil, ""},
		"of one host":        {one, map[string]map[string]any{service: of("a1", "")}, http.MethodGet, []string{service}, ""},
		"no right to look":   {job, map[string]map[string]any{service: of("a1", "")}, http.MethodGet, []string{service}, "services kinetic-a1 can't be read, so it remains if kubectl created it: getting services kinetic-a1 in namespace ml"},
		"no right to remove": {job, map[string]map[string]any{service: of("a1", "")}, http.MethodDelete, []string{service}, "services kinetic-a1 was not deleted: deleting services kinetic-a1 in namespace ml"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &objectServer{objects: c.objects}
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != c.forbid {
					return false
				}
				fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
				return true
			}
			web := httptest.NewServer(s)
			defer web.Close()
			told := ""
			client, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", func(line string) { told += line })
			if err != nil {
				t.Fatal(err)
			}
			if err := New(client).removePrepared(t.Context(), c.handle); err != nil {
				t.Error(err)
			}
			var left []string
			for name := range s.all() {
				left = append(left, name)
			}
			slices.Sort(left)
			if !slices.Equal(left, c.left) || !strings.HasPrefix(told, c.told) || (c.told == "") != (told == "") {
				t.Errorf("left %q, told %q; want %q, %q", left, told, c.left, c.told)
			}
			if c.handle.Hosts == 1 && len(s.asked) > 0 {
				t.Errorf("asked %q", s.asked)
			}
		})
	}
}

// The objects with which hosts find each other and end exist as long as the hosts. The Secret is
// only removed on request, and only if the job may have one.
func TestDeleteRemovesWhatCameWithAJobOnceThatIsStopped(t *testing.T) {
	set := api.Handle{JobID: "x", Backend: api.BackendLWS, K8sName: "keras-pathways-x", Hosts: 2}
	one := api.Handle{JobID: "x", Hosts: 1}
	for name, tt := range map[string]struct {
		handle  api.Handle
		options api.DeleteOptions
		refuse  bool
		want    []string // resources whose objects are asked for
	}{
		"refused":             {set, api.DeleteOptions{Secret: true}, true, []string{"leaderworkersets"}},
		"accepted":            {set, api.DeleteOptions{}, false, []string{"leaderworkersets", "rolebindings", "roles"}},
		"with its Secret":     {set, api.DeleteOptions{Secret: true}, false, []string{"leaderworkersets", "rolebindings", "roles", "secrets"}},
		"which it can't have": {one, api.DeleteOptions{Secret: true}, false, []string{"leaderworkersets"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &oneSet{}
			var asked sync.Map
			w := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
				resource := path.Base(path.Dir(r.URL.Path))
				if path.Base(r.URL.Path) != "x" && !strings.HasSuffix(r.URL.Path, "-x") && !strings.HasSuffix(r.URL.Path, "-x-env") {
					s.ServeHTTP(w, r) // a list
					return
				}
				asked.Store(resource, true)
				switch {
				case resource != "leaderworkersets":
					fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
				case tt.refuse:
					fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
				default:
					s.ServeHTTP(w, r)
				}
			}))
			if err := w.Delete(t.Context(), tt.handle, tt.options); (err != nil) != tt.refuse {
				t.Errorf("got %v", err)
			}
			var got []string
			asked.Range(func(resource, _ any) bool { got = append(got, resource.(string)); return true })
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("asked for %q, want %q", got, tt.want)
			}
		})
	}
}
