package kube

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Only the Job that was read is removed: another one may have its name by then.
func TestDeleteRemovesTheJobItSaw(t *testing.T) {
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
	if err := New(client).Delete(t.Context(), handleOf("a1"), api.DeleteOptions{}); err != nil {
		t.Errorf("got %v", err)
	}
	if !bytes.Contains(removed, []byte("the-one-it-saw")) {
		t.Errorf("the removal is of any Job: %q", removed)
	}
}

// Of a Job that was deleted without its pods, the pods are: not those that a controller has, or that end.
func TestDeleteRemovesPodsThatAJobLeft(t *testing.T) {
	podOf := func(name string, change func(*corev1.Pod)) corev1.Pod {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ml", UID: types.UID("uid-of-" + name), Labels: map[string]string{api.LabelJobID: "a1"}}}
		change(&pod)
		return pod
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{
		podOf("left", func(*corev1.Pod) {}),
		podOf("owned", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "s", UID: "s", Controller: new(true)}}
		}),
		podOf("ending", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now()} }),
	}}
	for name, tt := range map[string]struct {
		code   int
		reason metav1.StatusReason
		want   string
	}{
		"deleted":         {code: http.StatusOK},
		"another by then": {code: http.StatusConflict, reason: metav1.StatusReasonConflict},
		"not allowed":     {code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, want: "delete them with kubectl delete pods -n ml -l job-id=a1"},
	} {
		t.Run(name, func(t *testing.T) {
			var removed []string
			w := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodDelete:
					body, _ := io.ReadAll(r.Body)
					removed = append(removed, path.Base(r.URL.Path)+" "+string(body))
					if tt.reason != "" {
						fail(w, tt.code, tt.reason)
						return
					}
					answerWith(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
				case path.Base(r.URL.Path) == "jobs":
					answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}})
				case path.Base(r.URL.Path) == "pods":
					answerWith(w, http.StatusOK, list)
				default:
					fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
				}
			}))
			err := w.Delete(t.Context(), handleOf("a1"), api.DeleteOptions{})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v", err)
			}
			if len(removed) != 1 || !strings.HasPrefix(removed[0], "left ") || !strings.Contains(removed[0], "uid-of-left") {
				t.Errorf("removed %q", removed)
			}
		})
	}
}

func TestDeleteTimeout(t *testing.T) {
	slow := indexed(0, running(2))
	slow.Spec.TerminationGracePeriodSeconds = new(int64(60))
	many := groupJob()
	many.Spec.Completions = new(int32(256))
	tests := map[string]struct {
		workload diagnose.Workload
		pods     []corev1.Pod
		want     time.Duration
	}{
		"one pod":                     {asWorkload(job()), []corev1.Pod{pod("a", 1, running(2))}, 30*time.Second + noticeTime + podTime},
		"the pod's own grace":         {asWorkload(job()), []corev1.Pod{slow}, 60*time.Second + noticeTime + podTime},
		"hosts that are still made":   {asWorkload(many), []corev1.Pod{slow}, 60*time.Second + noticeTime + 256*podTime},
		"all pods of a map, not one":  {asWorkload(aMap(0)), []corev1.Pod{indexed(0, running(2)), indexed(1, running(2))}, 30*time.Second + noticeTime + 2*podTime},
		"a set tells its size itself": {asWorkload(lws()), []corev1.Pod{member(0, 1, running(2))}, 30*time.Second + noticeTime + 2*podTime},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot{Workload: tt.workload, pods: map[types.UID]*corev1.Pod{}}
			for _, p := range tt.pods {
				s.pods[p.UID] = &p
			}
			if got := deleteTimeout(s, 30*time.Second); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// clusterWithoutSets has a pod of a job, and denies permission to see LeaderWorkerSets.
func clusterWithoutSets(t *testing.T, jobs ...batchv1.Job) *Cluster {
	t.Helper()
	p := theirPod(running(1))
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "a1", UID: "s", Controller: new(true)}}
	return New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "jobs":
			answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}, Items: jobs})
		case "pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{p}})
		default:
			answerWith(w, http.StatusForbidden, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
				Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: `User "ann" cannot list resource`})
		}
	}))
}

// Without permission to see LeaderWorkerSets, it is not known that there are none.
func TestAJobThatMayBeASetNobodyLetsUsSeeIsNotMissing(t *testing.T) {
	w := clusterWithoutSets(t)
	_, watched := w.Watch(t.Context(), handleOf("a1"), func(s api.WorkloadStatus) { t.Errorf("it was told: %+v", s) })
	_, inspected := w.Inspect(t.Context(), handleOf("a1"), false)
	for name, err := range map[string]error{
		"Delete": w.Delete(t.Context(), handleOf("a1"), api.DeleteOptions{}), "Watch": watched, "Inspect": inspected,
		"Release": w.Release(t.Context(), handleOf("a1"), api.End{}), "Logs": w.Logs(t.Context(), handleOf("a1"), &logs.Archive{JobID: "a1", WithoutLog: true}, logs.Options{}, display.Both(io.Discard)),
	} {
		if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "you need the verb list on leaderworkersets") {
			t.Errorf("%s: %v, want the right that is missing", name, err)
		}
	}
}

// Without that permission, a job that is known to be a Job can still be missing.
func TestAJobIsMissingForThoseWhoMayNotSeeSets(t *testing.T) {
	w := clusterWithoutSets(t)
	h := api.Handle{JobID: "a1", K8sName: api.JobNamePrefix + "a1"}
	last, watched := w.Watch(t.Context(), h, func(api.WorkloadStatus) {})
	_, inspected := w.Inspect(t.Context(), h, true)
	if err := errors.Join(watched, inspected); err != nil || last.State != api.NotFound {
		t.Errorf("%s, %v; want that it is not found", last.State, err)
	}
	if err := w.Delete(t.Context(), h, api.DeleteOptions{}); err != nil {
		t.Errorf("Delete: %v, want nothing to do", err)
	}
}

// A Job is seen without that permission.
func TestAJobIsSeenByThoseWhoMayNotSeeSets(t *testing.T) {
	w := clusterWithoutSets(t, listOfOneJob().Items[0])
	if s, err := w.Status(t.Context(), handleOf("a1")); err != nil || s.State != api.Running {
		t.Errorf("%+v, %v; want it to run", s, err)
	}
}

// A Job is deleted without that permission, even if it disappears before it can be read.
func TestDeleteOfAJobByThoseWhoMayNotSeeSets(t *testing.T) {
	gone := false
	w := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		jobs := listOfOneJob().Items
		switch {
		case r.Method == http.MethodDelete:
			gone = true
			answerWith(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
		case path.Base(r.URL.Path) == "jobs" && gone:
			answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}})
		case path.Base(r.URL.Path) == "jobs":
			answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}, Items: jobs})
		case path.Base(r.URL.Path) == "pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}})
		default:
			fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		}
	}))
	if err := w.Delete(t.Context(), handleOf("a1"), api.DeleteOptions{Grace: time.Second}); err != nil {
		t.Error(err)
	}
}

// A set has not been deleted because the permission to see it was lost.
func TestASetIsNotGoneBecauseTheRightToSeeItIs(t *testing.T) {
	s := &oneSet{}
	var others sync.WaitGroup // that have been read, and are watched
	others.Add(2)
	watched := map[string]func(){"jobs": sync.OnceFunc(others.Done), "pods": sync.OnceFunc(others.Done), "events": func() {}}
	w := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		resource := path.Base(r.URL.Path)
		switch {
		case r.URL.Query().Get("watch") == "":
			s.ServeHTTP(w, r)
		case resource == "leaderworkersets":
			others.Wait()
			fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		default:
			watched[resource]()
		}
	}))
	if last, err := w.Watch(t.Context(), handleOf("x"), func(api.WorkloadStatus) {}); !apierrors.IsForbidden(err) {
		t.Errorf("%s, %v; want that it is forbidden to watch it", last.State, err)
	}
}
