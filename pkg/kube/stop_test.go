package kube

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// What is removed is the Job that was looked at: one that has its name meanwhile
// is another's.
func TestStopRemovesTheJobItSaw(t *testing.T) {
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", UID: "the-one-it-saw", Labels: map[string]string{api.LabelJobID: "a1"}}}
	var removed []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete && r.URL.Path == jobPath:
			removed, _ = io.ReadAll(r.Body)
			fail(w, http.StatusConflict, metav1.StatusReasonConflict)
		case r.URL.Path == "/apis/batch/v1/namespaces/ml/jobs":
			answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}, Items: []batchv1.Job{job}})
		case r.URL.Path == core+"pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}})
		default:
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		}
	}))
	defer server.Close()
	client, err := NewClient(&rest.Config{Host: server.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := New(client, nil).Stop(t.Context(), "a1", 0, nil); err != nil {
		t.Errorf("got %v", err)
	}
	if !bytes.Contains(removed, []byte("the-one-it-saw")) {
		t.Errorf("the removal is of any Job: %q", removed)
	}
}

func TestPatience(t *testing.T) {
	slow := indexed(0, running(2))
	slow.Spec.TerminationGracePeriodSeconds = new(int64(60))
	many := groupJob()
	many.Spec.Completions = new(int32(256))
	tests := map[string]struct {
		owner owner
		pods  []corev1.Pod
		want  time.Duration
	}{
		"one pod":                     {owner{job: job()}, []corev1.Pod{pod("a", 1, running(2))}, 30*time.Second + noticeTime + podTime},
		"the pod's own grace":         {owner{job: job()}, []corev1.Pod{slow}, 60*time.Second + noticeTime + podTime},
		"hosts that are still made":   {owner{job: many}, []corev1.Pod{slow}, 60*time.Second + noticeTime + 256*podTime},
		"all pods of a map, not one":  {owner{job: aMap(0)}, []corev1.Pod{indexed(0, running(2)), indexed(1, running(2))}, 30*time.Second + noticeTime + 2*podTime},
		"a set tells its size itself": {owner{set: set()}, []corev1.Pod{member(0, 1, running(2))}, 30*time.Second + noticeTime + 2*podTime},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot{owner: tt.owner, pods: map[types.UID]corev1.Pod{}}
			for _, p := range tt.pods {
				s.pods[p.UID] = p
			}
			if got := patience(s, 30*time.Second); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
