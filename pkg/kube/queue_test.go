package kube

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// kueueWorkloadOf is a Workload of Kueue that an object with the name and UID owns.
func kueueWorkloadOf(name string, uid types.UID) *kueue.Workload {
	return &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "job-kinetic-a1-f00", Namespace: "ml", UID: "2",
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: name, UID: uid}}}}
}

func TestAListKeepsTheKueueWorkloadsOfJobsAlone(t *testing.T) {
	if trimmed(kueueWorkloadOf("keras-pathways-a1", "1")) == nil {
		t.Error("that of a job is dropped")
	}
	if trimmed(kueueWorkloadOf("web", "1")) != nil {
		t.Error("that of other work is kept")
	}
}

func TestOnlyAKueueWorkloadOfTheWorkloadIsAboutIt(t *testing.T) {
	keep := about(&metav1.ObjectMeta{Name: "kinetic-a1", UID: "1"})
	if keep(kueueWorkloadOf("kinetic-a1", "1")) == nil {
		t.Error("its own is dropped")
	}
	if keep(kueueWorkloadOf("kinetic-a1", "of-yesterday")) != nil {
		t.Error("another's is kept")
	}
}

// queueServer has one Job, which is suspended, and Kueue's Workload of it.
type queueServer struct {
	queue   string
	forbid  bool
	broken  string // the resource that answers 500
	hidden  string // the resource that answers 403
	version string // of Kueue's API
	asked   []string
	mu      sync.Mutex
}

func (s *queueServer) wasAsked(resource string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.asked, resource)
}

func (s *queueServer) count(resource string) (times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, asked := range s.asked {
		if asked == resource {
			times++
		}
	}
	return times
}

func (s *queueServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	s.mu.Lock()
	s.asked = append(s.asked, resource)
	s.mu.Unlock()
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", UID: "1", Annotations: map[string]string{api.AnnotationStore: "gs://team"},
		Labels: map[string]string{api.LabelJobID: "a1"}}}
	if job.Spec.Suspend = new(true); s.queue != "" {
		job.Labels[api.LabelQueue] = s.queue
	}
	its := kueueWorkloadOf("kinetic-a1", "1")
	its.Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: metav1.ConditionFalse, Message: "no room"}}
	list := func(kind, version string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: version} }
	switch {
	case resource == s.broken:
		fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	case resource == s.hidden:
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case r.Method == http.MethodDelete:
		answerWith(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	case resource == "jobs":
		answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: list("JobList", "batch/v1"), Items: []batchv1.Job{job}})
	case resource == "pods":
		answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: list("PodList", "v1")})
	case resource == "events":
		answerWith(w, http.StatusOK, corev1.EventList{TypeMeta: list("EventList", "v1")})
	case resource == "workloads" && s.forbid:
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case r.URL.Path == "/apis/kueue.x-k8s.io/"+s.version+"/namespaces/ml/workloads":
		answerWith(w, http.StatusOK, kueue.WorkloadList{TypeMeta: list("WorkloadList", "kueue.x-k8s.io/"+s.version), Items: []kueue.Workload{*its}})
	default: // there are no LeaderWorkerSets, and no other versions
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

// Events and Kueue only say why a job waits: without them, its state is known, and at once.
func TestReasonsThatCannotBeReadAreLeftOut(t *testing.T) {
	for _, s := range []*queueServer{{broken: "events"}, {broken: "workloads", queue: "mine"}} {
		t.Run(s.broken, func(t *testing.T) {
			web := httptest.NewServer(s)
			defer web.Close()
			var said []string
			c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", func(line string) { said = append(said, line) })
			if err != nil {
				t.Fatal(err)
			}
			records, err := New(c).List(t.Context(), api.ListReasons)
			if err != nil || len(records) != 1 || records[0].Status.State != api.Pending {
				t.Errorf("a list tells %+v, %v", records, err)
			}
			if now, err := New(c).Status(t.Context(), handleOf("a1")); err != nil || now.State != api.Pending {
				t.Errorf("one job: %+v, %v", now, err)
			}
			if asked := s.count(s.broken); asked != 2 {
				t.Errorf("it asked %d times for what is broken, want once each", asked)
			}
			if len(said) != 1 || !strings.HasPrefix(said[0], "can't show why jobs are waiting: ") {
				t.Errorf("it said %q", said)
			}
		})
	}
}

// What a job is not may be broken without delay, and what is missing does not keep its workload from being deleted.
func TestDeleteWhateverElseFails(t *testing.T) {
	tests := map[string]struct {
		server    *queueServer
		confirmed bool
	}{
		"no LeaderWorkerSets":      {&queueServer{broken: "leaderworkersets"}, true},
		"pods that nobody may see": {&queueServer{hidden: "pods"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(tt.server)
			defer web.Close()
			c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			ended := false
			h := api.Handle{JobID: "a1", Namespace: "ml", K8sName: "kinetic-a1"}
			err = New(c).Delete(t.Context(), h, api.DeleteOptions{Ending: func() error { ended = true; return nil }})
			if (err == nil) != tt.confirmed || !ended || !tt.server.wasAsked("kinetic-a1") {
				t.Errorf("ended: %t, asked for %q: %v", ended, tt.server.asked, err)
			}
			if asked := tt.server.count("leaderworkersets"); asked > 1 {
				t.Errorf("it asked %d times for what is not needed", asked)
			}
		})
	}
}

// A handle that names another job's workload, which its pods can't show, deletes nothing.
func TestDeleteOfAForgedName(t *testing.T) {
	s := &queueServer{hidden: "pods"}
	web := httptest.NewServer(s)
	defer web.Close()
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	h := api.Handle{JobID: "a1", Namespace: "ml", K8sName: "kinetic-b2"}
	if err := New(c).Delete(t.Context(), h, api.DeleteOptions{}); err == nil || s.wasAsked("kinetic-b2") {
		t.Errorf("asked for %q: %v", s.asked, err)
	}
}

func TestListWithoutLeaderWorkerSets(t *testing.T) {
	s := &queueServer{broken: "leaderworkersets"}
	web := httptest.NewServer(s)
	defer web.Close()
	var said []string
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", func(line string) { said = append(said, line) })
	if err != nil {
		t.Fatal(err)
	}
	records, err := New(c).List(t.Context(), api.ListReasons)
	if err != nil || len(records) != 1 || len(said) != 1 || s.count("leaderworkersets") != 1 {
		t.Errorf("%d jobs, %q, asked %d times, %v", len(records), said, s.count("leaderworkersets"), err)
	}
}

func TestKueueWorkloadsAreReadForJobsInQueues(t *testing.T) {
	tests := map[string]struct {
		queue   string
		forbid  bool
		version string
		asks    bool
		want    string
	}{
		"in a queue":              {"mine", false, "v1beta1", true, "waiting in queue mine: no room"},
		"of a newer Kueue":        {"mine", false, "v1beta2", true, "waiting in queue mine: no room"},
		"of one that is unknown":  {"mine", false, "v3", true, "waiting in queue mine"},
		"who may not read it":     {"mine", true, "v1beta1", true, "waiting in queue mine"},
		"suspended by hand, only": {"", false, "v1beta1", false, "the job is suspended"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &queueServer{queue: tt.queue, forbid: tt.forbid, version: tt.version}
			web := httptest.NewServer(s)
			defer web.Close()
			c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
			if err != nil {
				t.Fatal(err)
			}
			records, err := New(c).List(t.Context(), api.ListReasons)
			if err != nil || len(records) != 1 || records[0].Status.Message != tt.want {
				t.Errorf("a list tells %+v, %v; want %q", records, err, tt.want)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err = c.observe(ctx, handleOf("a1"), c.ofJob(handleOf("a1")), func(now snapshot) bool {
				return len(now.kueueWorkloads) > 0 || tt.want != "waiting in queue mine: no room"
			})
			if err != nil {
				t.Errorf("following it: %v", err)
			}
			if asked := s.wasAsked("workloads"); asked != tt.asks {
				t.Errorf("it asked for Workloads: %v, want %v", asked, tt.asks)
			}
			status, err := New(c).Status(t.Context(), handleOf("a1"))
			if err != nil || status.Message != tt.want {
				t.Errorf("one job: %q, %v; want %q", status.Message, err, tt.want)
			}
		})
	}
}
