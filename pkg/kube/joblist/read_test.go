package joblist

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// server has jobs, one on a page.
type server struct {
	refuse map[string]int // codes by resource
	mu     sync.Mutex
	// expire is how often the second page of a list is no longer there.
	expire int
	asked  []string
}

func metaOf(name, id, more string) string {
	return fmt.Sprintf(`{"name":%q,"namespace":"ml","uid":%q,"creationTimestamp":"2026-04-17T12:00:00Z","labels":{"app":"kinetic","job-id":%q%s},`+
		`"annotations":{"kubectl-kinetic.github.io/store":"gs://s","kubectl-kinetic.github.io/accelerator":"l4"}}`, name, name, id, more)
}

func pod(id string) string {
	return `{"metadata":` + metaOf("kinetic-"+id+"-x", id, "") + `,"spec":{"nodeName":"n","containers":[{"name":"kinetic-worker"}]},"status":{"phase":"Running",` +
		`"containerStatuses":[{"name":"kinetic-worker","state":{"running":{"startedAt":"2026-04-17T12:01:00Z"}}}]}}`
}

var pages = map[string][]string{
	"jobs": {`{"metadata":` + metaOf("kinetic-a", "a", `,"kubectl-kinetic.github.io/capacity":"spot"`) + `,"spec":{"completions":1}}`,
		`{"metadata":` + metaOf("kinetic-b", "b", "") + `,"spec":{"completions":1}}`},
	"leaderworkersets": {`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":` + metaOf("keras-pathways-c", "c", "") + `}`},
	"pods":             {pod("a"), pod("c")},
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource, query := path.Base(r.URL.Path), r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf("%s %s limit=%s", resource, query.Get("labelSelector"), query.Get("limit")))
	w.Header().Set("Content-Type", "application/json")
	page, code := 0, s.refuse[resource]
	_, _ = fmt.Sscan(query.Get("continue"), &page)
	if page > 0 && s.expire > 0 {
		s.expire--
		code = http.StatusGone
	}
	if code != 0 {
		w.WriteHeader(code)
		reason := map[int]string{http.StatusForbidden: "Forbidden", http.StatusNotFound: "NotFound", http.StatusGone: "Expired"}[code]
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"no %s"}`, reason, code, resource)
		return
	}
	kind := map[string]string{"jobs": `"JobList","apiVersion":"batch/v1"`, "pods": `"PodList","apiVersion":"v1"`,
		"leaderworkersets": `"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`}[resource]
	next := ""
	if page+1 < len(pages[resource]) {
		next = fmt.Sprint(page + 1)
	}
	_, _ = fmt.Fprintf(w, `{"kind":%s,"metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`, kind, next, pages[resource][page])
}

func read(t *testing.T, s *server) (All, error) {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return Read(t.Context(), &rest.Config{Host: web.URL, QPS: -1}, nil)
}

func TestRead(t *testing.T) {
	for name, s := range map[string]*server{"pages": {}, "a page that has expired": {expire: 3}} {
		t.Run(name, func(t *testing.T) {
			all, err := read(t, s)
			if err != nil || all.LeftOut != nil {
				t.Fatalf("%v, %v", err, all.LeftOut)
			}
			var got []string
			for _, e := range all.Jobs {
				got = append(got, strings.TrimSpace(fmt.Sprint(e.ID, " ", e.State, " ", e.Status.Started.Format("15:04"), " ", e.Accelerator, " ", e.Capacity)))
			}
			if want := []string{"a RUNNING 12:01 l4 spot", "b PENDING 00:00 l4", "c RUNNING 12:01 l4"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			for _, asked := range s.asked {
				if !strings.HasSuffix(asked, " app in (kinetic,kinetic-pathways),job-id limit=2500") {
					t.Errorf("asked for %s", asked)
				}
			}
		})
	}
}

// A Job that was deleted leaves its pods until they have ended. A new one may have its ID by then.
func TestPodsOfAnOlderJobAreNotThoseOfTheNew(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "kinetic-a", Namespace: "ml", UID: "new", Labels: map[string]string{api.LabelJobID: "a"}}
	for uid, want := range map[types.UID]api.State{"old": api.Pending, "new": api.Running} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a-x", Namespace: "ml", UID: "x", Labels: meta.Labels,
			OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "kinetic-a", UID: uid, Controller: new(true)}}}}
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kinetic-worker", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		jobs := join([]runtime.Object{&batchv1.Job{ObjectMeta: meta}}, nil, []runtime.Object{p})
		if len(jobs) != 1 || jobs[0].State != want {
			t.Errorf("a pod of the %s Job: %+v, want %s", uid, jobs, want)
		}
	}
}

func TestReadWithoutSets(t *testing.T) {
	all, err := read(t, &server{refuse: map[string]int{"leaderworkersets": http.StatusNotFound}})
	if err != nil || all.LeftOut != nil || len(all.Jobs) != 2 {
		t.Errorf("without the kind: %d jobs, %v, %v", len(all.Jobs), all.LeftOut, err)
	}
	all, err = read(t, &server{refuse: map[string]int{"leaderworkersets": http.StatusForbidden}})
	if err != nil || all.LeftOut == nil || !strings.Contains(all.LeftOut.Error(), "listing leaderworkersets") || len(all.Jobs) != 2 {
		t.Errorf("without the right: %d jobs, %v, %v", len(all.Jobs), all.LeftOut, err)
	}
}

func TestReadFails(t *testing.T) {
	_, err := read(t, &server{refuse: map[string]int{"pods": http.StatusForbidden}})
	if err == nil || !strings.Contains(err.Error(), "listing pods in the whole cluster: ") {
		t.Errorf("got %v", err)
	}
	if _, err := read(t, &server{expire: 100}); err == nil || !strings.Contains(err.Error(), "listing ") {
		t.Errorf("got %v", err)
	}
}
