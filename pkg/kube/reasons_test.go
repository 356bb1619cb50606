package kube

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// If a job is gone, no request is made that needs its object.
func TestDisruptionsOfAJobThatIsGone(t *testing.T) {
	w := New(clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "jobs":
			answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}})
		case "pods":
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}})
		case "events":
			t.Error("it asks for events")
		default: // there are no LeaderWorkerSets
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		}
	}))
	if found, err := w.Inspect(t.Context(), handleOf("a1"), true); len(found.Disruptions) > 0 || err != nil {
		t.Errorf("%v, %v; want none", found, err)
	}
}

// selective is the cluster of a Job that waits in some way. It notes which events it was asked
// for, by the name of their object.
type selective struct {
	job    batchv1.Job
	pods   []corev1.Pod
	events []corev1.Event
	kueue  []kueue.Workload // nil where they can't be read
	mu     sync.Mutex
	asked  []string
}

func (s *selective) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource, query := path.Base(r.URL.Path), r.URL.Query()
	what := strings.TrimSpace(resource + " " + strings.TrimPrefix(query.Get("fieldSelector"), "involvedObject.name="))
	if query.Get("watch") != "" {
		what = "watch " + what
	}
	s.mu.Lock()
	s.asked = append(s.asked, what)
	s.mu.Unlock()
	list := func(kind, version string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: version} }
	switch {
	case query.Get("watch") != "":
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case resource == "jobs":
		answerWith(w, http.StatusOK, batchv1.JobList{TypeMeta: list("JobList", "batch/v1"), Items: []batchv1.Job{s.job}})
	case resource == "pods":
		answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: list("PodList", "v1"), Items: s.pods})
	case resource == "events":
		answerWith(w, http.StatusOK, corev1.EventList{TypeMeta: list("EventList", "v1"), Items: s.events})
	case resource == "workloads" && s.kueue != nil:
		answerWith(w, http.StatusOK, kueue.WorkloadList{TypeMeta: list("WorkloadList", kueue.Version.String()), Items: s.kueue})
	default:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

// Status reads each kind once. For a job that waits, only the events that can say why are read
// or followed.
func TestReasonsThatAreRead(t *testing.T) {
	own := func(change func(*batchv1.Job)) batchv1.Job {
		j := listOfOneJob().Items[0]
		change(&j)
		return j
	}
	plain := own(func(*batchv1.Job) {})
	queued := own(func(j *batchv1.Job) {
		j.Labels[api.LabelQueue], j.Spec.Suspend = "mine", new(true)
	})
	chunks := own(func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = new(int32(0)) })
	made := func(second int, state corev1.ContainerState) []corev1.Pod {
		p := theirPod(state)
		p.CreationTimestamp = at(second)
		return []corev1.Pod{p}
	}
	tests := map[string]struct {
		cluster *selective
		want    string
	}{
		"it runs":                   {&selective{job: plain, pods: made(1, running(2))}, ""},
		"it has no pod":             {&selective{job: plain}, "events kinetic-a1"},
		"its first pod waits":       {&selective{job: plain, pods: made(1, waiting("ContainerCreating"))}, "events kinetic-a1-x"},
		"its first pod has ended":   {&selective{job: plain, pods: made(1, terminated(137, "OOMKilled", ""))}, "events"},
		"others may have been":      {&selective{job: plain, pods: made(30, waiting("ContainerCreating"))}, "events"},
		"a map":                     {&selective{job: chunks}, "events"},
		"in a queue":                {&selective{job: queued, kueue: []kueue.Workload{*kueueWorkloadOf("kinetic-a1", "")}}, "workloads"},
		"in one that can't be read": {&selective{job: queued}, "workloads workloads events"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := New(clientOf(t, "ml", tt.cluster.ServeHTTP))
			if _, err := w.Status(t.Context(), handleOf("a1")); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(slices.DeleteFunc(tt.cluster.asked, func(what string) bool {
				return slices.Contains([]string{"jobs", "leaderworkersets", "pods"}, what)
			}), " ")
			if got != tt.want {
				t.Errorf("a status asked for %q, want %q", got, tt.want)
			}
		})
	}
}

// The events about the claims of a pod say why it has no node; those about other claims don't.
func TestEventsOfClaimsAreRead(t *testing.T) {
	p := theirPod(corev1.ContainerState{})
	p.CreationTimestamp, p.Status.ContainerStatuses = at(1), nil
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."}}
	p.Spec.Volumes = []corev1.Volume{{Name: "data-0", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "datasets"}}}}
	about := func(claim, message string) corev1.Event {
		return corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: claim, Namespace: "ml", UID: types.UID(claim)}, Reason: "ProvisioningFailed", Message: message,
			InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "ml", Name: claim}, LastTimestamp: at(2)}
	}
	s := &selective{job: listOfOneJob().Items[0], pods: []corev1.Pod{p}, events: []corev1.Event{about("datasets", "no quota"), about("other", "no driver")}}
	got, err := New(clientOf(t, "ml", s.ServeHTTP)).Status(t.Context(), handleOf("a1"))
	if want := "no volume can be made for persistentvolumeclaim datasets: no quota"; err != nil || got.Message != want {
		t.Errorf("%q, %v, want %q", got.Message, err, want)
	}
	if !slices.Contains(s.asked, "events") {
		t.Errorf("asked for %q, want all events", s.asked)
	}
}

// The events of a pod are its job's where the pod's name has no room for the whole name of the job.
func TestEventsOfPodsOfJobsWithLongNames(t *testing.T) {
	const id = "cpu-a-function-with-a-name-3f9a-20260101-000000-ab" // 50 characters
	for name, tt := range map[string]struct {
		hosts int32
		pod   string // its end
	}{"one pod": {0, "kinetic-" + id + "x7k2p"}, "hosts": {2, "kinetic-" + id[:47] + "-0-x7k2p"}} {
		t.Run(name, func(t *testing.T) {
			j := listOfOneJob().Items[0]
			j.Name, j.Labels = "kinetic-"+id, map[string]string{api.LabelJobID: id}
			p := theirPod(waiting("ContainerCreating"))
			p.Name, p.Labels, p.CreationTimestamp, p.Spec.NodeName = tt.pod, j.Labels, at(1), "n1"
			if tt.hosts > 0 {
				j.Spec.CompletionMode, j.Spec.Completions = new(batchv1.IndexedCompletion), &tt.hosts
				p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "0"}
			}
			e := eventAbout(p.Name)
			e.Reason, e.Message, e.LastTimestamp = "FailedCreatePodSandBox", "no address", at(2)
			s := &selective{job: j, pods: []corev1.Pod{p}, events: []corev1.Event{e}}
			w := New(clientOf(t, "ml", s.ServeHTTP))
			const want = "node n1 can't set up the pod: no address"
			if got, err := w.Status(t.Context(), handleOf(id)); err != nil || !strings.Contains(got.Message, want) {
				t.Errorf("%q, %v, want %q", got.Message, err, want)
			}
			if all, err := w.List(t.Context(), api.ListReasons); err != nil || len(all) != 1 || !strings.Contains(all[0].Status.Message, want) {
				t.Errorf("a list has %+v, %v, want %q", all, err, want)
			}
		})
	}
}
