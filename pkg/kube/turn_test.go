package kube

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A Workload of Kueue is found by its owner's UID: names come back.
func TestInventoryFindsTheJobOfATurn(t *testing.T) {
	s := recorded(t, "testdata/why/queue-set-waits.yaml")
	its := s.Turns[0]
	n := newInventory(api.TellReasons, time.Now)
	want := n.putOwner(owner{set: s.Set})
	if got, ok := n.put(&its); !ok || got != want || len(n.situation(want).Turns) != 1 {
		t.Errorf("it is of %v, %d of the job; want %v, 1", got, len(n.situation(want).Turns), want)
	}
	older := *its.DeepCopyObject().(*turn)
	older.UID, older.OwnerReferences[0].UID = "2", "of-yesterday"
	if got, ok := n.put(&older); ok || len(n.situation(want).Turns) != 1 {
		t.Errorf("that of yesterday's namesake is of %v, and there are %d; want none and 1", got, len(n.situation(want).Turns))
	}
	if got, ok := n.drop(&its); !ok || got != want || len(n.situation(want).Turns) != 0 {
		t.Errorf("dropped, it was of %v, %d of the job; want %v, 0", got, len(n.situation(want).Turns), want)
	}
	n.put(&its)
	if n.forget((&Client{}).turns()); len(n.situation(want).Turns) != 0 {
		t.Error("forgotten, and still there")
	}
}

func TestTheNewestTurnTells(t *testing.T) {
	older := recorded(t, "testdata/why/queue-turn-waits.yaml")
	s := recorded(t, "testdata/why/queue-turn-taken-back.yaml")
	want := why(s)
	older.Turns[0].CreationTimestamp = metav1.NewTime(s.Turns[0].CreationTimestamp.Add(-time.Second))
	s.Turns = append(s.Turns, older.Turns...)
	if got := why(s); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	slices.Reverse(s.Turns)
	if got := why(s); got != want {
		t.Errorf("the other way round: %+v, want %+v", got, want)
	}
}

func TestAListKeepsTheTurnsOfJobsAlone(t *testing.T) {
	turn := recorded(t, "testdata/why/queue-set-waits.yaml").Turns[0]
	if trimmed(&turn) == nil {
		t.Error("that of a set is dropped")
	}
	for i := range turn.OwnerReferences {
		turn.OwnerReferences[i].Name = "web"
	}
	if trimmed(&turn) != nil {
		t.Error("that of other work is kept")
	}
}

func TestOnlyATurnOfTheWorkloadIsAboutIt(t *testing.T) {
	s := recorded(t, "testdata/why/queue-set-waits.yaml")
	keep := about(&s.Set.ObjectMeta)
	if keep(&s.Turns[0]) == nil {
		t.Error("its own is dropped")
	}
	s.Turns[0].OwnerReferences[0].UID = "of-yesterday"
	if keep(&s.Turns[0]) != nil {
		t.Error("another's is kept")
	}
}

// queueServer has one Job, which is suspended, and Kueue's Workload of it.
type queueServer struct {
	queue   string
	forbid  bool
	version string // of Kueue's API
	asked   []string
	mu      sync.Mutex
}

func (s *queueServer) wasAsked(resource string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.asked, resource)
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
	its := turn{ObjectMeta: metav1.ObjectMeta{Name: "job-kinetic-a1-f00", Namespace: "ml", UID: "2", OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "kinetic-a1", UID: "1"}}},
		Status: turnStatus{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: metav1.ConditionFalse, Message: "no room"}}}}
	list := func(kind, version string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: version} }
	switch {
	case resource == "jobs":
		answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: list("JobList", "batch/v1"), Items: []batchv1.Job{job}})
	case resource == "pods":
		answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: list("PodList", "v1")})
	case resource == "events":
		answerWith(w, http.StatusOK, corev1.EventList{TypeMeta: list("EventList", "v1")})
	case resource == "workloads" && s.forbid:
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case r.URL.Path == "/apis/kueue.x-k8s.io/"+s.version+"/namespaces/ml/workloads":
		answerWith(w, http.StatusOK, turnList{TypeMeta: list("WorkloadList", "kueue.x-k8s.io/"+s.version), Items: []turn{its}})
	default: // there are no LeaderWorkerSets, and no other versions
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

func TestTurnsAreReadForJobsInQueues(t *testing.T) {
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
			records, err := New(c, nil).List(t.Context(), api.TellReasons)
			if err != nil || len(records) != 1 || records[0].Status.Message != tt.want {
				t.Errorf("a list tells %+v, %v; want %q", records, err, tt.want)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err = c.observe(ctx, c.ofJob("a1"), func(now snapshot) bool { return len(now.turns) > 0 || tt.want != "waiting in queue mine: no room" })
			if err != nil {
				t.Errorf("following it: %v", err)
			}
			if asked := s.wasAsked("workloads"); asked != tt.asks {
				t.Errorf("it asked for Workloads: %v, want %v", asked, tt.asks)
			}
			status, err := New(c, nil).Explain(t.Context(), "a1")
			if err != nil || status.Message != tt.want {
				t.Errorf("one job: %q, %v; want %q", status.Message, err, tt.want)
			}
		})
	}
}
