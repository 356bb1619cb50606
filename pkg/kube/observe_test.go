package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// oneJob is the cluster of a job whose pod waits, among the events of others. The
// pod changes when a test says so.
type oneJob struct {
	pods         chan corev1.Pod
	begun, ended chan string // the resources of watches

	mu     sync.Mutex
	lists  map[string]int
	fields []string // by which events were chosen
}

func (s *oneJob) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	if r.URL.Query().Get("watch") != "" {
		s.watch(w, r, resource)
		return
	}
	s.mu.Lock()
	if s.lists[resource]++; resource == "events" {
		s.fields = append(s.fields, r.URL.Query().Get("fieldSelector"))
	}
	s.mu.Unlock()
	list := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "v1"} }
	switch resource {
	case "jobs":
		answerWith(w, http.StatusOK, listOfOneJob())
	case "pods":
		answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: list("PodList"), Items: []corev1.Pod{theirPod(waiting("ContainerCreating"))}})
	case "events":
		answerWith(w, http.StatusOK, corev1.EventList{TypeMeta: list("EventList"), Items: []corev1.Event{eventAbout("kinetic-a1-x"), eventAbout("kinetic-a2-x")}})
	default: // there are no LeaderWorkerSets
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

func listOfOneJob() batchv1.JobList {
	meta := metav1.ObjectMeta{Name: "kinetic-a1", Namespace: "ml", CreationTimestamp: at(0),
		Labels: map[string]string{api.LabelJobID: "a1"}, Annotations: map[string]string{api.AnnotationStore: "gs://team"}}
	kind := metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}
	return batchv1.JobList{TypeMeta: kind, Items: []batchv1.Job{{ObjectMeta: meta}}}
}

func (s *oneJob) watch(w http.ResponseWriter, r *http.Request, resource string) {
	w.Header().Set("Content-Type", "application/json")
	_ = http.NewResponseController(w).Flush()
	s.begun <- resource
	changes := s.pods
	if resource != "pods" {
		changes = nil
	}
	for {
		select {
		case p := <-changes:
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": p})
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			s.ended <- resource
			return
		}
	}
}

func (s *oneJob) listed(resource string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[resource]
}

func theirPod(state corev1.ContainerState) corev1.Pod {
	p := pod("kinetic-a1-x", 1, state)
	p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	p.Namespace, p.ResourceVersion, p.Labels = "ml", "5", map[string]string{api.LabelJobID: "a1"}
	return p
}

func eventAbout(pod string) corev1.Event {
	return corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: "ml", UID: types.UID(pod)}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod}}
}

func clusterOfOneJob(t *testing.T) (*oneJob, *Cluster) {
	t.Helper()
	s := &oneJob{pods: make(chan corev1.Pod), begun: make(chan string, 100), ended: make(chan string, 100), lists: map[string]int{}}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, New(c)
}

// await reads words until all of some have come.
func await(words <-chan string, all ...string) {
	come := map[string]bool{}
	for slices.ContainsFunc(all, func(word string) bool { return !come[word] }) {
		come[<-words] = true
	}
}

// until reads snapshots until one is as wanted.
func until(seen <-chan snapshot, wanted func(snapshot) bool) snapshot {
	for {
		if s := <-seen; wanted(s) {
			return s
		}
	}
}

// observed returns what an observer of the job gets until ctx is done, and how that ended.
func observed(ctx context.Context, w *Cluster) (seen <-chan snapshot, over <-chan error) {
	snapshots, end := make(chan snapshot), make(chan error, 1)
	go func() {
		end <- w.observe(ctx, handleOf("a1"), func(now snapshot) bool {
			select {
			case snapshots <- now:
			case <-ctx.Done():
			}
			return false
		})
	}()
	return snapshots, end
}

func stateIn(s snapshot) api.State { return s.State(s.list()).State }

func TestEventsAreWatchedWhileAJobWaits(t *testing.T) {
	s, w := clusterOfOneJob(t)
	seen, _ := observed(t.Context(), w)
	waits := until(seen, func(s snapshot) bool { return stateIn(s) == api.Pending && len(s.events) > 0 })
	if _, own := waits.events["kinetic-a1-x"]; !own || len(waits.events) != 1 {
		t.Errorf("got the events %v, want the one about the job's pod", waits.events)
	}
	await(s.begun, "events")
	go func() { s.pods <- theirPod(running(2)) }()
	until(seen, func(s snapshot) bool { return stateIn(s) == api.Running })
	if ended := <-s.ended; ended != "events" {
		t.Errorf("the watch of %s was left, want that of events", ended)
	}
	go func() { s.pods <- theirPod(waiting("ContainerCreating")) }()
	until(seen, func(s snapshot) bool { return stateIn(s) == api.Pending && len(s.events) > 0 })
	if n := s.listed("events"); n != 2 {
		t.Errorf("a job that waited twice had its events listed %d times", n)
	}
}

// The events of the only pod say why a job starts late; those of pods that are gone, why it
// starts again.
func TestOtherEventsAreWatchedWhenAJobWaitsForSomethingElse(t *testing.T) {
	s, w := clusterOfOneJob(t)
	seen, _ := observed(t.Context(), w)
	until(seen, func(s snapshot) bool { return stateIn(s) == api.Pending })
	await(s.begun, "events")
	go func() { s.pods <- theirPod(terminated(137, "OOMKilled", "")) }()
	until(seen, func(snapshot) bool { return s.listed("events") == 2 })
	await(s.begun, "events")
	if ended := <-s.ended; ended != "events" {
		t.Errorf("the watch of %s was left, want that of events", ended)
	}
	want := []string{"involvedObject.name=kinetic-a1-x", ""}
	if s.mu.Lock(); !slices.Equal(s.fields, want) {
		t.Errorf("events were chosen by %q, want %q", s.fields, want)
	}
	s.mu.Unlock()
}

func TestObserversOfAJobShareItsWatches(t *testing.T) {
	s, w := clusterOfOneJob(t)
	waiter, stopWaiting := context.WithCancel(t.Context())
	reader, stopReading := context.WithCancel(t.Context())
	defer stopWaiting()
	defer stopReading()
	anything := func(snapshot) bool { return true }
	first, waited := observed(waiter, w)
	until(first, anything)
	second, read := observed(reader, w)
	until(second, anything)
	stopWaiting() // the first reader leaves first
	<-waited
	go func() { s.pods <- theirPod(running(2)) }()
	until(second, func(s snapshot) bool { return stateIn(s) == api.Running })
	if n := s.listed("jobs"); n != 1 {
		t.Errorf("the Job was listed %d times", n)
	}
	await(s.begun, "jobs", "pods")
	stopReading()
	<-read
	await(s.ended, "jobs", "pods")
	if err := w.observe(t.Context(), handleOf("a1"), anything); err != nil || s.listed("jobs") != 2 {
		t.Errorf("after all have left the Job was listed %d times, %v", s.listed("jobs"), err)
	}
}

// A watch may fail right after a change, before its readers have seen that change.
func TestTheLastChangeBeforeAWatchFailsIsSeen(t *testing.T) {
	w, h, failure := New(&Client{namespace: "ml"}), handleOf("a1"), errors.New("forbidden")
	for _, enough := range []bool{true, false} {
		shared := &sharedWatch{snapshots: parallel.NewValue(snapshot{}), stop: func() {}}
		w.watches[watchedAs(h)] = shared
		shared.post(snapshot{})
		var seen []int
		err := w.observe(t.Context(), h, func(s snapshot) bool {
			if seen = append(seen, len(s.pods)); len(seen) > 1 {
				return enough
			}
			posted := make(chan struct{})
			go func() { // while this one is looked at
				defer close(posted)
				shared.post(snapshot{pods: map[types.UID]*corev1.Pod{"p": {}}})
				shared.snapshots.Close(failure)
			}()
			<-posted
			return false
		})
		if !slices.Equal(seen, []int{0, 1}) || errors.Is(err, failure) == enough {
			t.Errorf("saw %v pods, %v", seen, err)
		}
	}
}

// A snapshot is read while the next one is made.
func TestASnapshotThatWasPostedStaysAsItWas(t *testing.T) {
	shared := &sharedWatch{snapshots: parallel.NewValue(snapshot{})}
	c := &Client{}
	known, job := newCache(), listOfOneJob().Items[0]
	pod, event := theirPod(running(1)), eventAbout("kinetic-a1-x")
	its := kueue.Workload{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Name: job.Name}}}}
	known.apply(change{kind: c.jobs(), object: &job})
	for _, o := range []runtime.Object{&pod, &event, &its} {
		known.apply(change{object: o})
	}
	shared.post(known.snapshot(key{"ml", "a1"}))
	for _, k := range []kind{c.pods(), c.events(), c.kueueWorkloads()} {
		known.forget(k)
	}
	for _, o := range []runtime.Object{&pod, &event, &its} {
		known.apply(change{object: o, deleted: true})
	}
	posted, _ := shared.snapshots.Get()
	if s := posted.Value; len(s.pods) != 1 || len(s.events) != 1 || len(s.kueueWorkloads) != 1 {
		t.Errorf("left: %d pods, %d events, %d Kueue Workloads; want one of each", len(s.pods), len(s.events), len(s.kueueWorkloads))
	}
}

// With thousands of pods there is no time to evaluate the job after every change.
func TestChangesOfAJobOfManyPodsAreLookedAtTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const number, changes = 1000, 100
		chunks := aMap(0)
		chunks.Namespace, chunks.Labels = "ml", map[string]string{api.LabelJobID: "a1"}
		c := clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
			pods := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
			for i := range number {
				p := pod(fmt.Sprint("p", i), 1, waiting(""))
				p.Namespace, p.Labels = "ml", map[string]string{api.LabelJobID: "a1"}
				p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
				pods.Items = append(pods.Items, p)
			}
			watched := r.URL.Query().Get("watch") != ""
			w.Header().Set("Content-Type", "application/json")
			switch resource := path.Base(r.URL.Path); {
			case resource == "pods" && watched:
				for i := range changes {
					p := pods.Items[i]
					p.Status.ContainerStatuses[1].State = running(2)
					_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": p})
				}
			case resource == "pods":
				answerWith(w, http.StatusOK, pods)
			case resource == "jobs" && !watched:
				answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}, Items: []batchv1.Job{*chunks}})
			case resource == "events" && !watched:
				answerWith(w, http.StatusOK, corev1.EventList{TypeMeta: metav1.TypeMeta{Kind: "EventList", APIVersion: "v1"}})
			case !watched:
				fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			}
		})
		looks, run := 0, 0
		err := c.observe(t.Context(), handleOf("a1"), c.ofJob(handleOf("a1")), func(s snapshot) bool {
			looks, run = looks+1, 0
			for _, p := range s.list() {
				if !diagnose.StartOf(diagnose.WorkerOf(p)).IsZero() {
					run++
				}
			}
			return run == changes
		})
		if err != nil || looks > 5 {
			t.Errorf("%d looks at %d changes, %v", looks, changes, err)
		}
	})
}

// Watch reports at once that waiting does not help, even if the reason has the same text as
// before.
func TestWatchTellsWhenWaitingNoLongerHelps(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	refused := func(last int) corev1.Event {
		return corev1.Event{TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: "v1"},
			ObjectMeta:     metav1.ObjectMeta{Name: "refused", Namespace: "ml", UID: "1", ResourceVersion: fmt.Sprint(last)},
			InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: "kinetic-a1"}, Reason: "FailedCreate",
			Message: `Error creating: admission webhook "gatekeeper" denied the request: no`, FirstTimestamp: at(1), LastTimestamp: at(last)}
	}
	events := make(chan corev1.Event, 1)
	list := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "v1"} }
	cluster := func(w http.ResponseWriter, r *http.Request) {
		resource := path.Base(r.URL.Path)
		switch watched := r.URL.Query().Get("watch") != ""; {
		case watched:
			w.Header().Set("Content-Type", "application/json")
			_ = http.NewResponseController(w).Flush()
			if resource == "events" {
				_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": <-events})
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		case resource == "jobs":
			answerWith(w, http.StatusOK, listOfOneJob())
		case resource == "pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: list("PodList")})
		case resource == "events":
			answerWith(w, http.StatusOK, corev1.EventList{TypeMeta: list("EventList"), Items: []corev1.Event{refused(2)}})
		default:
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		}
	}
	web := httptest.NewServer(http.HandlerFunc(cluster))
	defer web.Close()
	defer cancel()
	c, err := NewClient(&rest.Config{Host: web.URL, QPS: -1}, "ml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []api.WorkloadStatus
	_, _ = New(c).Watch(ctx, handleOf("a1"), func(s api.WorkloadStatus) {
		switch {
		case s.Unrecoverable:
			cancel()
		case s.Message != "":
			events <- refused(20)
		}
		told = append(told, s)
	})
	if last := told[len(told)-1]; !last.Unrecoverable || len(told) < 2 || told[len(told)-2].Message != last.Message {
		t.Errorf("told %+v", told)
	}
}
